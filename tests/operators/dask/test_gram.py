"""Tall tables whose XᵀX stays on the workers in strips: the choices of the table in memory."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators.dask import tall, wide
from landmarks.operators.dask.tall import DaskGram

from .arrays import da, each_scheduler

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(0)
X = RNG.standard_normal((5000, 9)) @ RNG.standard_normal((9, 150))
X = (X + 0.3 * RNG.standard_normal(X.shape)) * np.geomspace(1, 3, 150)
CHUNKS = [(1700, 77), (5000, -1), (999, 150)]


@pytest.fixture(autouse=True)
def large(monkeypatch):
    """As if 150 columns were too many for one place: strips of 32 rows."""
    monkeypatch.setattr(tall, "gram_memory", lambda: 0)
    monkeypatch.setattr(wide, "TILE_ENTRIES", 2**17)


def spread(chunks=CHUNKS[0], **how):
    return lm.select(da.from_array(X, chunks=chunks), 12, **how)


@pytest.mark.parametrize("method", ["rpcholesky", "nuclear", "uniform", "greedy", "swap"])
@pytest.mark.parametrize("prepared", [{}, {"center": True, "scale": True}], ids=["plain", "scaled"])
def test_the_picks_and_errors_are_those_in_memory(method, prepared):
    found, expected = spread(method=method, **prepared), lm.select(X, 12, method=method, **prepared)
    assert found.indices.tolist() == expected.indices.tolist()
    for criterion in ("trace", "frobenius"):
        assert found.error(criterion) == pytest.approx(expected.error(criterion), rel=1e-9)


def test_the_default_does_not_draw_from_scores_alone():
    assert spread().error() <= 1.01 * lm.select(X, 12).error()


@each_scheduler
@pytest.mark.parametrize("chunks", CHUNKS)
def test_the_gram_matrix_has_the_same_bits_for_all_chunks(chunks, scheduler):
    K, again = (lm.data(da.from_array(X, chunks=c)) for c in (chunks, CHUNKS[0]))
    assert isinstance(K, DaskGram)
    columns = K.columns(np.arange(150))
    np.testing.assert_array_equal(columns, again.columns(np.arange(150)))
    np.testing.assert_allclose(columns * 2.0**K.exponent, X.T @ X, rtol=0, atol=1e-8)


def test_it_answers_what_every_matrix_must():
    K = lm.data(da.from_array(X, chunks=CHUNKS[0]))
    whole, few, V = (
        K.columns(np.arange(150)),
        np.array([140, 3, 77, 4]),
        RNG.standard_normal((4, 2)),
    )
    np.testing.assert_allclose(K.matmul(V, rows=few[::-1], cols=few), whole[few[::-1]][:, few] @ V)
    np.testing.assert_array_equal(K.diagonal(), np.diag(whole))
    np.testing.assert_array_equal(K.restrict(few).columns(np.arange(4)), whole[few][:, few])


def test_the_factor_has_the_units_of_the_data():
    small, large = (
        lm.select(da.from_array(np.ldexp(X, power), chunks=CHUNKS[0]), 12, method="rpcholesky")
        for power in (0, 300)
    )
    expected, found = (np.asarray(s.nystrom().factor) for s in (small, large))
    np.testing.assert_array_equal(np.ldexp(found, -300), expected)
    s = lm.select(X, 12, method="rpcholesky").nystrom()
    np.testing.assert_allclose(np.sum(expected**2, axis=1), s.diagonal(), rtol=1e-9)


def test_a_missing_value_is_placed():
    flawed = X.copy()
    flawed[4321, 99] = np.nan
    with pytest.raises(ValueError, match="found in the chunk of rows 4096 to 4999"):
        lm.data(da.from_array(flawed, chunks=CHUNKS[0]))


def test_what_does_not_fit_on_the_workers_is_multiplied_by_tiles(monkeypatch):
    monkeypatch.setattr(tall, "memory", lambda: 0)
    K = lm.data(da.from_array(X, chunks=CHUNKS[0]))
    assert not isinstance(K, DaskGram)
    expected = lm.select(X, 12, method="rpcholesky").indices
    assert spread(method="rpcholesky").indices.tolist() == expected.tolist()


def test_methods_on_points_are_refused():
    with pytest.raises(lm.errors.UnsupportedError, match="KMeans needs the points of a kernel"):
        spread(method="kmeans")
