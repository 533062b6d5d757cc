"""Which choice may not be worse than which: an improved one than its start, a proved than any."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from contract.reference import Reference
from hypothesis import given
from hypothesis import strategies as st
from properties.measure import chosen
from properties.strategies import FORMS, samples, tried

import landmarks as lm

# samples are raw: some of their columns are far larger than others
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore::landmarks.errors.ScaleWarning"),
]
LOSS = 1e-12  # of the total: the rounding of two errors that are compared
criteria = st.sampled_from(["trace", "frobenius"])
starts = st.sampled_from(["greedy", "uniform", "rpcholesky", "pivoted_qr", "nuclear", "kdpp"])


@pytest.mark.parametrize(
    "improve",
    [lambda start: lm.Swap(start=start), lambda start: lm.Iterated(start=start, rounds=2)],
    ids=["swap", "iterated"],
)
@tried(25)
@given(samples(single=False), st.sampled_from(FORMS), starts, criteria, st.data())
def test_an_improved_choice_is_never_worse_than_its_start(
    improve, sample, form, start, criterion, data
):
    k = data.draw(st.integers(1, sample.X.shape[1]))
    first = chosen(form.make(sample), k, start, criterion=criterion)
    better = chosen(form.make(sample), k, improve(first.indices), criterion=criterion)
    assert better.relative_error() <= first.relative_error() * (1 + 1e-9) + LOSS


@tried(25)
@given(samples(single=False), st.sampled_from(FORMS), starts, criteria, st.data())
def test_auto_is_never_worse_than_another_method(sample, form, other, criterion, data):
    k = data.draw(st.integers(1, sample.X.shape[1]))
    auto, first = (
        chosen(form.make(sample), k, method, criterion=criterion) for method in ("auto", other)
    )
    assert auto.relative_error() <= first.relative_error() * (1 + 1e-9) + LOSS


@tried(25)
@given(samples(single=False), criteria, st.integers(1, 4))
def test_fault_41_a_proved_choice_is_the_best_of_all_in_whole_numbers(sample, criterion, k):
    k = min(k, sample.X.shape[1])
    exact = chosen(sample.scaled, k, "exact", criterion=criterion)
    reference = Reference(X=sample.X, criterion=criterion)
    best = reference.best(combinations(range(sample.X.shape[1]), k)) / (reference.total() or 1)
    assert exact.relative_error() == pytest.approx(
        float(best), rel=1e-7, abs=1e-9 if sample.kind == "collinear" else LOSS
    )


@tried(25)
@given(samples(), st.sampled_from(FORMS), starts, criteria, st.data())
def test_bounds_lie_below_errors_and_errors_below_the_total(sample, form, method, criterion, data):
    plain, k = replace(sample, power=0), data.draw(st.integers(1, sample.X.shape[1]))
    s = chosen(form.make(plain), k, method, criterion=criterion)
    rounding = 100 * float(np.finfo(sample.X.dtype).eps) * s.total()
    assert 0 <= s.error() <= s.total() + rounding
    assert s.lower_bound() <= s.error() + rounding


@tried(25)
@given(
    samples(single=False),
    st.sampled_from(["auto", "greedy", "swap", "annealed", "iterated", "exact"]),
    criteria,
    st.data(),
)
def test_included_candidates_are_chosen_and_excluded_ones_never(sample, method, criterion, data):
    n = sample.X.shape[1]
    part = data.draw(
        st.lists(st.sampled_from(["in", "out", "free"]), min_size=n, max_size=n).filter(
            lambda part: set(part) != {"out"}
        )
    )
    include, exclude = ([j for j in range(n) if part[j] == side] for side in ("in", "out"))
    k = data.draw(st.integers(max(1, len(include)), n - len(exclude)))
    found = set(
        chosen(
            sample.scaled, k, method, criterion=criterion, include=include, exclude=exclude
        ).indices.tolist()
    )
    assert set(include) <= found
    assert not set(exclude) & found
