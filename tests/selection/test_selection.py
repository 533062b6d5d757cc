"""A selection knows its figures, in the units of the data."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import RankWarning


def test_a_selection_knows_its_figures(X, selection):
    """Against projections and singular values; the factor is that of Section 4."""
    chosen = X[:, selection.indices]
    error = np.sum((X - chosen @ np.linalg.pinv(chosen) @ X) ** 2)
    tail = np.sum(np.linalg.svd(X, compute_uv=False)[3:] ** 2)
    assert_allclose(
        [selection.error("trace"), selection.lower_bound("trace")], [error, tail], rtol=1e-10
    )
    assert_allclose(
        [selection.factor("trace"), selection.relative_error("trace")],
        [error / tail, error / np.sum(X**2)],
        rtol=1e-10,
    )
    assert_allclose(selection.gap(), 1 - tail / error, rtol=1e-10)


def test_indices_are_distinct_host_integers_that_cannot_be_changed(selection):
    assert (
        selection.indices.dtype == np.int64 and len(set(selection.indices)) == len(selection) == 3
    )
    selection.indices[:] = 0  # of a copy: torch warns about indices that cannot be written
    assert len(set(selection.indices)) == 3


def test_the_ledger_says_what_was_used(selection):
    assert selection.ledger.products == 3 and selection.ledger.seconds > 0


def test_the_factor_is_undefined_at_the_numerical_rank():
    X = np.random.default_rng(0).standard_normal((20, 3)) @ np.ones((3, 8))
    with pytest.warns(RankWarning, match="factor is undefined"):
        assert np.isnan(lm.select(X, 1, method="greedy").factor())


def test_extreme_scales_give_the_same_indices_and_relative_figures(X, selection):
    for power in (-1000, 300, 1000):
        scaled = lm.select(np.ldexp(X, power), 3, method="greedy")
        assert np.array_equal(scaled.indices, selection.indices)
        assert_allclose(
            [scaled.factor(), scaled.relative_error()],
            [selection.factor(), selection.relative_error()],
            rtol=1e-12,
        )


def test_names_of_a_data_frame_are_kept(X):
    pandas = pytest.importorskip("pandas", reason="data frames need pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    selection = lm.select(frame, 3, method="greedy", include=["c"], exclude="a")
    assert selection.chosen_names[0] == "c" and "a" not in selection.chosen_names


def test_a_proof_holds_among_the_choices_that_are_allowed(X):
    free, bound = lm.select(X, 3), lm.select(X, 3, exclude=lm.select(X, 3).indices[:1])
    assert free.proved and bound.proved and bound.lower_bound() > free.error()


def test_an_estimate_is_of_the_criterion_of_the_selection_by_default(X):
    s = lm.select(X, 3, method="greedy", criterion="frobenius")
    assert s.estimated_error() == s.estimated_error("frobenius", n_probes=32, seed=0)
    assert abs(s.estimated_error(n_probes=400).value / s.error() - 1) < 0.2


def test_figures_of_the_frobenius_criterion_are_those_of_the_matrix(X):
    K, s = X.T @ X, lm.select(X, 3, method="greedy", criterion="frobenius")
    S = s.indices
    C = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    tail = np.sum(np.linalg.eigvalsh(K)[:-3] ** 2)
    assert_allclose(
        [s.error(), s.total(), s.best_rank_error(), s.lower_bound()],
        [np.sum(C**2), np.sum(K**2), tail, tail],
        rtol=1e-9,
    )
    assert_allclose(
        [s.gap(), s.factor(), s.relative_error()],
        [1 - tail / np.sum(C**2), np.sum(C**2) / tail, np.sum(C**2) / np.sum(K**2)],
        rtol=1e-9,
    )
    assert_allclose([s.error("trace"), s.total("trace")], [np.trace(C), np.trace(K)], rtol=1e-9)


def test_a_selection_writes_its_report(tmp_path, selection):
    pytest.importorskip("jinja2", reason="reports need jinja2")
    selection.report(tmp_path / "page.html")
    assert "Greedy" in (tmp_path / "page.html").read_text()
    selection.report(tmp_path / "page.html", overwrite=True)


def test_a_proof_without_time_promises_no_more_than_the_best_log_determinant():
    X = np.random.default_rng(0).standard_normal((20, 8))
    best = lm.select(X, 3, criterion="logdet", method="exact", scale=False)
    X = X * np.exp((best.error() + 0.1) / 6)  # now the best error is −0.1, and others are above 0
    worse = lm.select(X, 3, criterion="logdet", method="uniform", scale=False)
    assert worse.error() > 0
    assert worse.prove(1e-9).lower_bound() <= -0.1
