"""What large data must not cost, seen by counts."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm


@pytest.mark.thorough
def test_fault_77_the_error_of_sparse_columns_makes_nothing_dense():
    X = scipy.sparse.random_array(
        (20_000, 4000), density=1e-3, format="csc", rng=np.random.default_rng(0)
    )
    s = lm.select(X, 10, method="uniform", scale=False)
    tracemalloc.start()
    assert 0 < s.error() < s.total()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20_000 * 4000 * 8 / 2  # half of what X would take


@pytest.mark.parametrize("method", ["rpcholesky", "pivoted_qr", "nuclear", "greedy", "swap"])
def test_fault_95_no_wide_triangular_system_is_solved_from_the_left(method, monkeypatch):
    """On some cards these take seconds; there is none here, so the calls are counted."""
    torch = pytest.importorskip("torch")
    solve, wide = torch.linalg.solve_triangular, []

    def watched(A, B, **words):
        if words.get("left", True):
            wide.append(B.shape[-1])
        return solve(A, B, **words)

    monkeypatch.setattr(torch.linalg, "solve_triangular", watched)
    points = torch.asarray(np.random.default_rng(0).standard_normal((2000, 3)))
    s = lm.select(lm.kernel(points, lm.rbf(1.0)), 40, method=method)
    assert 0 < s.relative_error() < 1
    assert all(columns < 500 for columns in wide)


@pytest.mark.parametrize("words", [{"budget": 60.0}, {"method": "exact"}], ids=str)
def test_fault_100_few_of_many_columns_with_copies_are_proved(words):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 72))
    X = np.hstack([X, X[:, :44]])[:, rng.permutation(116)]
    s = lm.select(X, 4, **words)
    assert s.proved and s.lower_bound() == pytest.approx(s.error(), rel=1e-6)
    default = lm.select(X, 4)
    assert default.error() == pytest.approx(s.error()) and default.prove().proved
