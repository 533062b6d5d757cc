"""The factor of a growing choice, kept or made again from the columns of K."""

import numpy as np
import pytest
from errors_of import plain

import landmarks as lm
from landmarks.residual import residual as panels
from landmarks.residual.implicit_panel import ImplicitPanel
from landmarks.residual.residual import Residual
from landmarks.runs.state import capture, put_back

POINTS = np.random.default_rng(0).standard_normal((60, 3))
METHODS = ["greedy", "nuclear", "rpcholesky", "pivoted_qr", lm.RPCholesky(block=4)]


@pytest.fixture
def short_of_memory(monkeypatch):
    """No panel of numbers fits."""
    monkeypatch.setattr(panels, "free_memory", lambda like, otherwise: 0)


def operator():
    return lm.kernel(POINTS, lm.rbf(sigma=1.5))


def residual_after(picks):
    residual = Residual(plain(operator()), 8)
    for j in picks:
        residual.pick(j)
    return residual


def test_a_panel_that_fits_is_stored():
    assert isinstance(panels.panel(operator(), 8), panels.Panel)


def test_one_that_does_not_is_implicit(short_of_memory):
    assert isinstance(panels.panel(operator(), 8), ImplicitPanel)


def test_numbers_are_kept_where_columns_would_cost_products(short_of_memory):
    K = np.eye(5)
    assert isinstance(panels.panel(lm.function(lambda V: K @ V, n=5), 2), panels.Panel)


def test_implicit_products_equal_those_of_the_dense_residual(short_of_memory):
    picks, V = [3, 17, 40], np.random.default_rng(1).standard_normal((60, 4))
    residual = residual_after(picks)
    K = operator().columns(np.arange(60))
    C = K - K[:, picks] @ np.linalg.solve(K[np.ix_(picks, picks)], K[picks])
    np.testing.assert_allclose(residual.matmul(V), C @ V, atol=1e-12)
    np.testing.assert_allclose(residual.diagonal, np.diag(C), atol=1e-12)
    np.testing.assert_allclose(
        residual.principal(np.array([1, 5, 9])), C[np.ix_([1, 5, 9], [1, 5, 9])], atol=1e-12
    )


def test_a_pick_that_adds_nothing_changes_nothing(short_of_memory):
    twice = lm.kernel(np.concatenate([POINTS, POINTS]), lm.rbf(sigma=1.5))
    residual = Residual(plain(twice), 3)
    residual.pick(4)
    before = residual.matmul(np.ones((120, 1)))
    assert not np.any(residual.pick(64))
    np.testing.assert_allclose(residual.matmul(np.ones((120, 1))), before, atol=1e-12)


@pytest.mark.parametrize("method", METHODS, ids=str)
def test_the_selection_does_not_depend_on_how_the_factor_is_kept(method, monkeypatch):
    stored = lm.select(operator(), 12, method=method).indices
    monkeypatch.setattr(panels, "free_memory", lambda like, otherwise: 0)
    np.testing.assert_array_equal(lm.select(operator(), 12, method=method).indices, stored)


def test_implicit_panels_work_in_single_precision_with_torch(short_of_memory):
    torch = pytest.importorskip("torch")
    points = torch.as_tensor(POINTS, dtype=torch.float32)
    found = lm.select(lm.kernel(points, lm.rbf(sigma=1.5)), 12, method="greedy").indices
    np.testing.assert_array_equal(found, lm.select(operator(), 12, method="greedy").indices)


@pytest.mark.parametrize("kind", [panels.Panel, ImplicitPanel], ids=lambda kind: kind.__name__)
def test_what_is_kept_of_a_panel_makes_it_again(kind):
    operator = lm.psd(np.diag([4.0, 3.0, 2.0, 1.0]) + 0.5)
    one, other = kind(operator, 3), kind(operator, 3)
    K = operator.K
    L = np.linalg.cholesky(K[np.ix_([2, 0], [2, 0])])
    V = np.linalg.solve(L, K[[2, 0]]).T
    one.append(np.array([2, 0]), V, one.rows([2, 0]), L)
    put_back(other, capture(one))
    for made in (one, other):
        np.testing.assert_allclose(made.times(np.eye(2)), V, atol=1e-12)
        np.testing.assert_allclose(made.transposed_times(np.eye(4)), V.T, atol=1e-12)
        np.testing.assert_allclose(made.rows([3, 1]), V[[3, 1]], atol=1e-12)


@pytest.mark.parametrize(
    ("free", "kind"),
    [(2 * 8 * 5 * 3, panels.Panel), (2 * 8 * 5 * 3 - 1, ImplicitPanel)],
)
def test_a_panel_of_half_the_free_memory_is_stored(free, kind, monkeypatch):
    monkeypatch.setattr(panels, "free_memory", lambda like, otherwise: free)
    assert isinstance(panels.panel(lm.psd(np.eye(5)), 3), kind)
    assert isinstance(
        panels.panel(lm.function(lambda V: 2.0 * V, n=5), 3), panels.Panel
    )  # its columns cost a product each


def test_a_pick_reads_its_own_column_and_those_of_the_picks_before(short_of_memory):
    residual = residual_after([3, 1, 2])
    assert residual.operator.ledger.columns == 1 + 2 + 3
