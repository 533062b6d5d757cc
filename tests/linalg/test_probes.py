"""Probes satisfy E[ZZᵀ]/M = I: in expectation, or without any chance."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from landmarks.linalg.probes import Identity, Rademacher
from tests.hadamard import Hadamard


@pytest.mark.parametrize("probes", [Identity(), Hadamard()], ids=repr)
@pytest.mark.parametrize("n", [1, 2, 5, 8, 13])
def test_exact_probes_have_second_moment_one(probes, n):
    Z = probes.draw(n, np.random.default_rng(0), np.zeros(0))
    assert_allclose(Z @ Z.T / Z.shape[1], np.eye(n), atol=1e-12)


@pytest.mark.parametrize("probes", [Rademacher(7), Hadamard(7)], ids=repr)
def test_sign_probes_are_signs_of_the_wanted_shape(probes):
    Z = probes.draw(9, np.random.default_rng(0), np.zeros(0))
    assert Z.shape == (9, 7) and set(np.unique(Z)) == {-1.0, 1.0}


@pytest.mark.parametrize("probes", [Rademacher(1), Hadamard(1)], ids=repr)
def test_sign_probes_are_unbiased(probes):
    """Off-diagonal means of 4000 draws have standard deviation 1/√4000; 5 of them is 0.08."""
    rng = np.random.default_rng(0)
    draws = np.hstack([probes.draw(5, rng, np.zeros(0)) for _ in range(4000)])
    assert_allclose(draws @ draws.T / 4000, np.eye(5), atol=0.08)


@pytest.mark.parametrize("probes", [Rademacher(3), Hadamard(3), Identity()], ids=repr)
def test_one_seed_gives_one_block_on_every_library(probes, xp):
    here = probes.draw(6, np.random.default_rng(1), np.zeros(0))
    there = probes.draw(6, np.random.default_rng(1), xp.zeros(0, dtype=xp.float64))
    assert np.array_equal(here, np.asarray(there))


def test_the_dtype_is_that_of_the_reference():
    assert (
        Rademacher(2).draw(3, np.random.default_rng(0), np.zeros(0, dtype=np.float32)).dtype
        == np.float32
    )


@pytest.mark.parametrize("count", [1, 10, 256, 300])
def test_a_row_of_signs_depends_on_the_key_and_its_number_alone(count):
    probes = Rademacher(count)
    key = probes.key(np.random.default_rng(3))
    whole = probes.rows(key, 0, 1000)
    for start, stop in [(0, 1), (1, 400), (400, 1000), (999, 1000), (5, 5)]:
        assert np.array_equal(probes.rows(key, start, stop), whole[start:stop])
    assert np.array_equal(whole, probes.draw(1000, np.random.default_rng(3), np.zeros(0)))


def test_signs_of_rows_columns_and_keys_are_uncorrelated():
    """Means of 2.5 million products have standard deviation 6e-4; 5 of them is 0.0032."""
    probes, rng = Rademacher(50), np.random.default_rng(0)
    first, second = (probes.rows(probes.key(rng), 0, 50_000) for _ in range(2))
    pairs = [(first, second), (first[1:], first[:-1]), (first[:, 1:], first[:, :-1])]
    assert all(abs(np.mean(a * b)) < 0.0032 for a, b in [*pairs, (first, 1.0)])
