"""Kernels in parts on the workers: the picks, errors and factors of a kernel in memory.

The fixtures make parts of 64 points, so that small problems have many.
"""

import warnings
from contextlib import nullcontext

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.operators.dask import shard
from landmarks.operators.dask.kernel import DaskKernel
from landmarks.runs import runner

from .arrays import da, dask, each_scheduler

pytestmark = pytest.mark.thorough

RNG = np.random.default_rng(3)
CHUNKS = [(100, -1), (37, 2), (-1, -1)]
IN_PARTS = ["rpcholesky", "nuclear", "uniform", "kmeans"]


def cloud(n: int = 700) -> np.ndarray:
    """Points in clusters of many sizes."""
    centres = 3 * RNG.standard_normal((12, 3))
    sizes = RNG.choice(12, size=n, p=np.arange(1, 13) / 78)
    return centres[sizes] + 0.5 * RNG.standard_normal((n, 3))


def grid() -> np.ndarray:
    """Equal distances, so that many candidates tie."""
    return np.stack(np.meshgrid(np.arange(20.0), np.arange(20.0)), axis=-1).reshape(-1, 2)


def twice() -> np.ndarray:
    """Every point two times, far from each other."""
    return np.tile(cloud(250), (2, 1))


PROBLEMS = {
    "clusters": (cloud(), lm.rbf(sigma=2.0), 30),
    "rough": (cloud(), lm.laplacian(sigma=3.0), 30),
    "grid": (grid(), lm.matern(nu=1.5, sigma=4.0), 20),
    "twice": (twice(), lm.rbf(sigma=1.0), 30),
    "fast": (cloud(300)[:, :1], lm.rbf(sigma=6.0), 9),
    "graded": (cloud() * np.geomspace(1e-3, 1.0, 700)[:, None], lm.polynomial(degree=2), 8),
    "single": (cloud().astype(np.float32), lm.rbf(sigma=2.0), 30),
}


def parted(points, h, chunks=(100, -1)):
    operator = lm.kernel(da.from_array(points, chunks=chunks), h)
    assert isinstance(operator, DaskKernel)
    return operator


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", IN_PARTS)
def test_picks_errors_and_totals_are_those_in_memory_for_all_chunks(name, method):
    points, h, k = PROBLEMS[name]
    expected = lm.select(lm.kernel(points.astype(np.float64), h), k, method=method)
    found = [lm.select(parted(points, h, chunks), k, method=method) for chunks in CHUNKS]
    for selection in found:
        assert selection.indices.tolist() == found[0].indices.tolist()
        assert selection.error() == found[0].error()
        for criterion in ("trace", "frobenius"):
            total = expected.total(criterion)
            assert selection.total(criterion) == pytest.approx(total, rel=1e-6)
    if name != "twice":  # there, which of two equal points comes first is a matter of rounding
        assert found[0].indices.tolist() == expected.indices.tolist()
    for criterion in ("trace", "frobenius"):
        assert found[0].error(criterion) == pytest.approx(
            expected.error(criterion), rel=1e-6, abs=1e-9 * expected.total(criterion)
        )


def test_auto_takes_nuclear_scores_where_swaps_would_take_too_long():
    points, h, k = PROBLEMS["clusters"]
    expected = lm.select(parted(points, h), k, method="nuclear")
    s = lm.select(parted(points, h), k, method=lm.Auto(effort=1e-9))
    assert s.indices.tolist() == expected.indices.tolist()
    assert [trial.label for trial in s.trials] == ["nuclear"]


@pytest.mark.parametrize(("seconds", "answers"), [(180.0, "greedy"), (0.0, "nuclear")])
def test_greedy_estimates_its_gains_where_exact_ones_take_too_long(monkeypatch, seconds, answers):
    points, h, k = PROBLEMS["clusters"]
    expected = lm.select(lm.kernel(points, h), k, method=answers).indices
    monkeypatch.setattr("landmarks.methods.greedy.greedy.EXACT", seconds)
    told = pytest.warns(UserWarning, match="exact gains of 700 points would take .* 100 probes")
    with told if answers == "nuclear" else nullcontext():
        found = lm.select(parted(points, h), k, method="greedy").indices
    assert found.tolist() == expected.tolist()


@pytest.mark.parametrize("method", ["greedy", "swap", "leverage", "iterated"])
def test_other_methods_work_with_vectors_of_length_n(method):
    points, h = cloud(150), lm.rbf(sigma=2.0)
    expected = lm.select(lm.kernel(points, h), 6, method=method)
    actual = lm.select(parted(points, h), 6, method=method)
    assert actual.indices.tolist() == expected.indices.tolist()


def test_greedy_reads_the_columns_it_chooses_and_no_others():
    s = lm.select(parted(cloud(), lm.rbf(sigma=2.0)), 6, method="greedy")
    assert s.ledger.columns == 6


@each_scheduler
@pytest.mark.parametrize("method", IN_PARTS)
def test_what_is_included_and_excluded_is_honoured(method):
    points, h, k = PROBLEMS["clusters"]
    first = lm.select(parted(points, h), k, method=method).indices[:4].tolist()
    s = lm.select(parted(points, h), k, method=method, include=[650, 3], exclude=first)
    assert s.indices[:2].tolist() == [650, 3] and not set(first) & set(s.indices.tolist())
    expected = lm.select(
        lm.kernel(points, h), k, method=method, include=[650, 3], exclude=first
    ).indices
    assert s.indices.tolist() == expected.tolist()


@pytest.mark.parametrize("method", IN_PARTS)
def test_beyond_the_rank_the_choice_is_filled_with_a_warning(method):
    points = np.repeat(RNG.standard_normal((5, 2)), 40, axis=0)
    with pytest.warns(RankWarning) if method != "uniform" else warnings.catch_warnings():
        s = lm.select(parted(points, lm.rbf()), 9, method=method)
    assert len(set(s.indices.tolist())) == 9
    assert s.error() <= 200 and s.nystrom().factor.shape[1] <= 5


def test_the_factor_stays_a_dask_array_with_products_solves_and_features():
    points, h, k = PROBLEMS["clusters"]
    N = lm.select(parted(points, h), k, method="nuclear").nystrom()
    M = lm.select(lm.kernel(points, h), k, method="nuclear").nystrom()
    V, new = RNG.standard_normal((len(points), 2)), cloud(7)
    assert isinstance(N.factor, da.Array) and isinstance(N @ V, da.Array)
    np.testing.assert_allclose(N @ V, M @ V, atol=1e-9)
    np.testing.assert_allclose(N.diagonal(), M.diagonal(), atol=1e-11)
    np.testing.assert_allclose(N.solve(V, 1e-2), M.solve(V, 1e-2), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(N.matvec(V[:, 0]), M.matvec(V[:, 0]), atol=1e-9)
    assert N.log_determinant(1e-2) == pytest.approx(M.log_determinant(1e-2), rel=1e-9)
    np.testing.assert_allclose(N.features(points[:9]), np.asarray(N.factor[:9]), atol=1e-7)
    np.testing.assert_allclose(
        N.features(new) @ N.features(new).T, M.features(new) @ M.features(new).T, atol=1e-9
    )


def test_estimated_errors_use_the_probes_of_those_in_memory():
    points, h, k = PROBLEMS["clusters"]
    a, b = (lm.select(K, k, method="rpcholesky") for K in (lm.kernel(points, h), parted(points, h)))
    for criterion in ("trace", "frobenius"):
        expected, found = a.estimated_error(criterion), b.estimated_error(criterion)
        assert found.value == pytest.approx(expected.value, rel=1e-8)
        assert (found.low, found.high) == pytest.approx((expected.low, expected.high), rel=1e-6)


@pytest.mark.parametrize("name", ["clusters", "rough", "fast", "graded"])
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
def test_bounds_are_computed_in_parts_and_are_those_in_memory(monkeypatch, name, criterion):
    points, h, k = PROBLEMS[name]
    K = lm.kernel(points, h)
    eigenvalues = np.linalg.eigvalsh(K.matmul(np.eye(len(points))))[::-1]
    best = float(np.sum(np.maximum(eigenvalues[k:], 0.0) ** (1 if criterion == "trace" else 2)))
    monkeypatch.setattr("landmarks.linalg.error.FULL_SPECTRUM", 100)
    monkeypatch.setattr(DaskKernel, "matmul", None)  # no vectors of length n here
    found = [lm.select(parted(points, h, chunks), k, method="rpcholesky") for chunks in CHUNKS]
    bounds = [s.lower_bound(criterion) for s in found]
    assert bounds[0] == bounds[1] == bounds[2] <= best * (1 + 1e-9)
    assert bounds[0] >= best * (1 - 2e-6) - 1e-12 * found[0].total(criterion)
    assert found[0].gap(criterion) == 1 - bounds[0] / found[0].error(criterion)


@pytest.mark.parametrize(
    ("method", "after"), [("rpcholesky", 1), ("rpcholesky", 4), ("nuclear", 1)]
)
def test_a_checkpoint_is_the_picks_and_continues_to_the_same_choice(method, after, tmp_path):
    points, h, k = PROBLEMS["clusters"]
    k = 200
    expected = lm.select(parted(points, h), k, method=method).indices
    path = lm.Checkpoint(tmp_path / "run.npz", interval=0)
    steps = []

    def leave(progress):
        steps.append(progress)
        if len([step for step in steps if step.phase == method]) == after:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        lm.select(parted(points, h), k, method=method, checkpoint=path, callback=leave)
    size = (tmp_path / "run.npz").stat().st_size
    assert size < 8 * (k * k + k * 3) + 20_000
    reached, steps = steps[-1].done, []
    found = lm.select(
        parted(points, h, (64, -1)), k, method=method, checkpoint=path, callback=steps.append
    )
    assert found.indices.tolist() == expected.tolist()
    assert min(step.done for step in steps if step.phase == method) > reached


@pytest.mark.parametrize("method", ["rpcholesky", "nuclear"])
def test_a_run_that_is_stopped_gives_k_landmarks(method):
    points, h, k = PROBLEMS["clusters"]
    for phase in ("products", method):
        s = lm.select(
            parted(points, h), k, method=method, callback=lambda p, phase=phase: p.phase == phase
        )
        assert len(set(s.indices.tolist())) == k


def test_nuclear_computes_its_probes_again_when_their_digits_are_gone():
    points, h = PROBLEMS["fast"][0], lm.rbf(sigma=1.0)
    heard = []
    with runner.watching(lambda p: heard.append(p.phase)):
        s = lm.select(parted(points, h), 40, method="nuclear")
    expected = lm.select(lm.kernel(points, h), 40, method="nuclear")
    assert s.error() <= 1.5 * expected.error() + 1e-9 * s.total()


@pytest.mark.parametrize("chunk", [33, 100])
def test_empty_chunks_are_skipped(chunk):
    points, h, k = PROBLEMS["clusters"]
    X = da.concatenate(
        [
            da.from_array(points[:0], chunks=(1, -1)),
            da.from_array(points[:300], chunks=(chunk, -1)),
            da.from_array(points[:0], chunks=(1, -1)),
            da.from_array(points[300:], chunks=(chunk, -1)),
        ]
    )
    expected = lm.select(parted(points, h), k, method="rpcholesky").indices
    assert lm.select(lm.kernel(X, h), k, method="rpcholesky").indices.tolist() == expected.tolist()
    everything = da.from_array(np.zeros((40, 3)), chunks=10)
    with pytest.raises(ValueError, match="at least one row"):
        lm.kernel(everything[everything[:, 0] > 1], h)


def test_chunks_of_unknown_size_are_measured():
    points, h, k = PROBLEMS["clusters"]
    X = da.from_array(points, chunks=(100, -1))
    expected = lm.select(parted(points[points[:, 0] > 0], h), k, method="nuclear").indices
    assert lm.select(lm.kernel(X[X[:, 0] > 0], h), k, method="nuclear").indices.tolist() == (
        expected.tolist()
    )


@pytest.mark.parametrize("power", [-332, 250])
@pytest.mark.parametrize("method", IN_PARTS)
def test_values_of_any_size_give_the_choice_in_memory(power, method):
    """Of points of 1e-100 the squares of K underflow, of 1e75 those of C² overflow."""
    points = np.ldexp(cloud(), power)
    expected = lm.select(lm.kernel(points, lm.linear()), 2, method=method)
    found = lm.select(parted(points, lm.linear()), 2, method=method)
    assert found.indices.tolist() == expected.indices.tolist()
    assert found.error() == pytest.approx(expected.error(), rel=1e-9)
    assert found.lower_bound() == pytest.approx(expected.lower_bound(), rel=2e-6)
    new = np.ldexp(cloud(5), power)
    for rows in (lambda s: np.asarray(s.nystrom().factor[:9]), lambda s: s.nystrom().features(new)):
        a, b = (np.ldexp(rows(s), -power) for s in (found, expected))
        np.testing.assert_allclose(a @ a.T, b @ b.T, rtol=1e-9, atol=1e-12)


def test_a_kernel_that_is_not_semidefinite_is_named_with_its_point():
    points = cloud()

    def wrong(x, y):
        return np.cos(x[:, :1] * y[:, :1].T) - 0.5

    with pytest.raises(Exception, match="positive semidefinite, but what columns leave of K"):
        lm.select(parted(points, wrong), 20, method="rpcholesky")


def test_dask_counts_what_a_shard_takes_on_the_worker_and_not_on_its_card(monkeypatch):
    torch = pytest.importorskip("torch", reason="needs torch")
    monkeypatch.setattr(shard, "on_gpu", torch.is_tensor)  # the CPU stands for a card
    points = cloud(500)
    K = lm.kernel(da.from_array(points, chunks=100), lm.rbf(), device="cpu")
    K.residual(10)
    held = dask.compute(*K.last._held.shards)
    from dask.sizeof import sizeof

    assert points.nbytes <= sum(map(sizeof, held)) < points.nbytes + 400 * len(held)


def test_workers_with_torch_choose_the_same():
    torch = pytest.importorskip("torch", reason="needs torch")
    del torch
    points, h, k = PROBLEMS["clusters"]
    for method in ("rpcholesky", "nuclear"):
        expected = lm.select(parted(points, h), k, method=method)
        K = lm.kernel(da.from_array(points, chunks=100), h, device="cpu")
        s = lm.select(K, k, method=method)
        assert s.indices.tolist() == expected.indices.tolist()
        assert s.error() == pytest.approx(expected.error(), rel=1e-8)
        assert s.error("frobenius") == pytest.approx(expected.error("frobenius"), rel=1e-8)
