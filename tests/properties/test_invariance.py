"""What must not change the choice: order and units of columns, rotations, chunks, libraries."""

from __future__ import annotations

import numpy as np
import pytest
from contracts.methods import CONTRACT
from hypothesis import given
from hypothesis import strategies as st
from libraries import library
from properties.measure import chosen
from properties.strategies import (
    DETERMINISTIC,
    FORMS,
    KINDS,
    Sample,
    in_chunks,
    rbf,
    samples,
    tried,
)

pytestmark = pytest.mark.thorough

GENERIC = ("normal",)  # without ties, which an order decides
ON_DATA = [entry for entry in CONTRACT if entry.serves is None]
criteria = st.sampled_from(["trace", "frobenius"])


@st.composite
def generic(draw):
    """A matrix without ties, and a k below its rank."""
    sample = draw(samples(GENERIC, wide=False, single=False))
    return sample, draw(st.integers(1, sample.X.shape[1] - 1))


@pytest.mark.parametrize("entry", DETERMINISTIC, ids=repr)
@tried(6)
@given(generic(), st.randoms(use_true_random=False), criteria)
def test_a_permutation_of_the_columns_permutes_the_choice(entry, drawn, random, criterion):
    (sample, k), order = drawn, list(range(drawn[0].X.shape[1]))
    random.shuffle(order)
    expected = chosen(sample.scaled, k, entry.method, criterion=criterion).indices
    found = chosen(sample.scaled[:, order], k, entry.method, criterion=criterion).indices
    assert set(np.array(order)[found]) == set(expected)


@pytest.mark.parametrize("entry", DETERMINISTIC, ids=repr)
@tried(6)
@given(generic(), st.integers(0, 2**32 - 1), criteria)
def test_fault_39_a_rotation_and_a_permutation_of_the_rows_change_nothing(
    entry, drawn, seed, criterion
):
    (sample, k), rng = drawn, np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((len(sample.X), len(sample.X))))[0]
    expected = set(chosen(sample.X, k, entry.method, criterion=criterion, scale=False).indices)
    assert (
        set(chosen(Q @ sample.X, k, entry.method, criterion=criterion, scale=False).indices)
        == expected
    )
    assert (
        set(
            chosen(
                rng.permutation(sample.X), k, entry.method, criterion=criterion, scale=False
            ).indices
        )
        == expected
    )


@pytest.mark.parametrize("entry", CONTRACT, ids=repr)
@tried(5)
@given(st.data())
def test_powers_of_two_change_no_choice_and_no_digit_of_the_relative_error(entry, data):
    exact = tuple(kind for kind in KINDS if kind != "collinear")  # whose digits go below the grid
    sample = data.draw(samples(exact, single=False))
    form = data.draw(
        st.sampled_from([form for form in FORMS if entry.serves is None or form.name == "rbf"])
    )
    k, criterion = data.draw(st.integers(1, sample.X.shape[1])), data.draw(criteria)
    plain = chosen(
        form.make(Sample(sample.kind, sample.X, 0)), k, entry.method, criterion=criterion
    )
    scaled = chosen(form.make(sample), k, entry.method, criterion=criterion)
    assert plain.indices.tolist() == scaled.indices.tolist()
    assert plain.relative_error(criterion) == pytest.approx(
        scaled.relative_error(criterion), rel=1e-12, abs=1e-13
    )


@pytest.mark.parametrize("entry", CONTRACT, ids=repr)
@tried(4)
@given(samples(GENERIC, wide=False, single=False), criteria)
def test_chunks_change_no_choice(entry, sample, criterion):
    k = (sample.X.shape[1] + 1) // 2
    whole, chunked = (
        chosen(make(sample), k, entry.method, criterion=criterion).indices.tolist()
        for make in (rbf, in_chunks)
    )
    assert whole == chunked


@pytest.mark.parametrize("name", ["torch", "strict"])
@pytest.mark.parametrize("entry", ON_DATA, ids=repr)
@tried(3)
@given(drawn=generic(), criterion=criteria)
def test_every_array_library_chooses_alike(entry, name, drawn, criterion):
    (sample, k), xp = drawn, library(name)
    expected = chosen(sample.scaled, k, entry.method, criterion=criterion).indices.tolist()
    assert (
        chosen(xp.asarray(sample.scaled), k, entry.method, criterion=criterion).indices.tolist()
        == expected
    )
