"""Every method on every operator: k distinct candidates, with the error that integers give."""

from __future__ import annotations

import pytest
from contracts.methods import CONTRACT
from hypothesis import given, target
from hypothesis import strategies as st
from properties.measure import THRESHOLD, chosen, ratio
from properties.strategies import forms_of, samples, tried

pytestmark = pytest.mark.thorough

every_method = pytest.mark.parametrize("entry", CONTRACT, ids=repr)


@every_method
@tried(6)
@given(st.data())
def test_the_choice_is_sound_and_its_error_exact_up_to_rounding(entry, data):
    sample, form = data.draw(samples()), data.draw(st.sampled_from(forms_of(entry)))
    n = sample.X.shape[1]
    k, criterion = data.draw(st.integers(1, n)), data.draw(st.sampled_from(["trace", "frobenius"]))
    s = chosen(form.make(sample), k, entry.method, criterion=criterion)
    assert len(set(s.indices.tolist())) == k == len(s.indices)
    assert s.indices.min() >= 0 and s.indices.max() < n
    found = ratio(form, sample, s, criterion)
    target(min(found, 1e6))
    assert found < THRESHOLD
