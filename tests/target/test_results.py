"""What a selection with a target or noise answers, and what it saves."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF

import landmarks as lm
from landmarks.errors import UnsupportedError

RNG = np.random.default_rng(0)
A = RNG.standard_normal((40, 10))
B = A[:, :4] @ RNG.standard_normal((4, 3)) + 0.1 * RNG.standard_normal((40, 3))


def test_the_posterior_variance_is_that_of_a_gaussian_process() -> None:
    points = RNG.uniform(size=(60, 2))
    s = lm.select(lm.kernel(points, lm.rbf(sigma=0.5)), 8, noise=0.05)
    model = GaussianProcessRegressor(RBF(0.5 / np.sqrt(2)), alpha=0.05, optimizer=None)
    model.fit(points[s.indices], np.zeros(8))
    deviation = model.predict(points, return_std=True)[1]
    np.testing.assert_allclose(s.posterior_variance(), deviation**2, rtol=1e-7)
    assert s.error() == pytest.approx(np.sum(deviation**2))


def test_with_noise_alone_the_columns_are_rebuilt_under_their_own_names() -> None:
    names = [f"c{j}" for j in range(10)]
    s = lm.select(pd.DataFrame(A, columns=names), 3, noise=0.2, scale=False)
    found = s.reconstruction()
    assert list(found.names) == names
    assert list(found.chosen_names) == [names[j] for j in s.indices]


def test_without_noise_the_posterior_variance_is_what_is_left_of_each_column() -> None:
    s = lm.select(A, 4)
    assert np.sum(s.posterior_variance()) == pytest.approx(s.error())
    assert np.all(s.posterior_variance()[s.indices] < 1e-20)


@pytest.mark.parametrize("measured", ["trace", "frobenius"])
@pytest.mark.parametrize("given", [A, lm.psd(A.T @ A)], ids=["data", "psd"])
def test_a_choice_by_another_objective_has_the_errors_of_the_noise_as_given(given, measured):
    s = lm.select(given, 3, criterion="logdet", noise=2.0, scale=False)
    same = lm.select(given, 3, criterion=measured, noise=2.0, include=s.indices, scale=False)
    assert s.error(measured) == pytest.approx(same.error())
    assert s.relative_error(measured) == pytest.approx(same.relative_error())


def test_what_measurements_tell_about_one_column_is_most_by_the_trace_and_logdet_says_so():
    b, noise = B[:, 0], 0.5
    with pytest.raises(UnsupportedError, match="if the target is one column"):
        lm.select(A, 3, criterion="logdet", target=b, noise=noise)

    def told(S: tuple[int, ...]) -> float:
        """log det (K + N)_SS less that of the same given b."""
        X = A[:, S]
        rest = X - np.outer(b, b @ X) / (b @ b)
        N = noise * np.eye(len(S))
        return np.linalg.slogdet(X.T @ X + N)[1] - np.linalg.slogdet(rest.T @ rest + N)[1]

    best = max(itertools.combinations(range(A.shape[1]), 3), key=told)
    s = lm.select(A, 3, target=b, noise=noise, scale=False)
    assert sorted(s.indices.tolist()) == list(best)
    assert s.proved
    assert told(best) == pytest.approx(np.log(b @ b / s.error()))


def test_a_saved_selection_answers_for_its_target_and_takes_no_other(tmp_path: Path) -> None:
    path = tmp_path / "run.npz"
    s = lm.select(A, 3, target=B, noise=0.2, repeats=True)
    s.save(path)
    read = lm.load(path)
    for ask in ("error", "total", "relative_error", "lower_bound", "gap"):
        assert getattr(read, ask)() == getattr(s, ask)()
    again = lm.load(path, data=A, target=B)
    np.testing.assert_array_equal(again.posterior_variance(), s.posterior_variance())
    with pytest.raises(ValueError, match=r"give it again, load\(path, data=…, target=…\)"):
        lm.load(path, data=A)
    with pytest.raises(ValueError, match="is not the one that the selection was made for"):
        lm.load(path, data=A, target=B + 1)
    lm.select(A, 3).save(path)
    with pytest.raises(ValueError, match="made without a target"):
        lm.load(path, data=A, target=B)


def test_the_summary_of_a_target_that_nothing_reaches(tmp_path: Path) -> None:
    with pytest.warns(lm.errors.RankWarning, match="0 candidates"):
        s = lm.select(np.zeros((6, 4)), 2, target=np.ones(6))
    assert "keep 0.0% of the sum of squares of the target" in str(s.summary())
    s.report(tmp_path / "report.html")


def test_the_summary_the_reasons_and_the_report_speak_of_the_target(tmp_path: Path) -> None:
    s = lm.select(A, 3, target=B, method="greedy")
    assert "of the sum of squares of the target" in str(s.summary())
    reasons = s.why(each=2)
    assert [row["index"] for row in reasons.chosen.rows] == s.indices.tolist()
    without = lm.select(A, 2, target=B, method=lm.Swap(start=s.indices[1:], max_swaps=0))
    adds = (without.error() - s.error()) / s.total()
    assert reasons.chosen.rows[0]["adds"] == pytest.approx(adds)
    assert sorted(row["index"] for row in reasons.dropped.rows) == [0, 1, 2]
    page = tmp_path / "page.html"
    s.report(page)
    text = page.read_text("utf-8")
    assert "The target and what rebuilds it" in text
    assert "the squared error of rebuilding the target" in text


def test_substitutes_cost_what_choosing_them_would() -> None:
    s = lm.select(A, 3, target=B, noise=0.3, method="greedy")
    row = s.why(each=1).chosen.rows[1]
    other = [s.indices[0], row["substitute_1"], s.indices[2]]
    swapped = lm.select(A, 3, target=B, noise=0.3, method=lm.Swap(start=other, max_swaps=0))
    assert row["cost_1"] == pytest.approx((swapped.error() - s.error()) / s.total(), abs=1e-12)


def test_the_error_of_the_curve_is_that_of_the_choices() -> None:
    s = lm.select(A, lm.MaxError(0.2), target=B)
    assert s.relative_error() <= 0.2
    assert lm.select(A, s.k - 1, target=B).relative_error() > 0.2 or s.k == 1
    assert 1 <= lm.select(A, lm.Knee(), target=B).k <= 5


def test_a_choice_that_rebuilds_all_is_proved_by_its_tail() -> None:
    s = lm.select(np.eye(4), 2, target=np.eye(4)[:, :2] * 3.0, method="greedy", scale=False)
    found = s.certificate(budget=5)
    assert (s.error(), found.bound, found.source) == (0.0, 0.0, "tail")


def test_the_weights_of_the_reasons_are_for_columns_of_length_one() -> None:
    s = lm.select(A, 2, target=B, method="greedy", scale=False)
    fitted = np.linalg.lstsq(A[:, s.indices], B, rcond=None)[0]
    lengths = np.linalg.norm(A[:, s.indices], axis=0)[:, None] / np.linalg.norm(B, axis=0)
    for row in s.why(each=2).dropped.rows:
        expected = (fitted * lengths)[:, row["index"]]
        order = np.argsort(-np.abs(expected))
        assert [row["source_1"], row["source_2"]] == s.indices[order].tolist()
        found = [row["weight_1"], row["weight_2"]]
        np.testing.assert_allclose(found, expected[order], rtol=1e-9)


@pytest.mark.parametrize("size", [1e-8, 1.0, 1e8])
def test_the_reasons_do_not_depend_on_the_units(size: float) -> None:
    expected = lm.select(A, 3, target=B, method="greedy").why(each=2).chosen
    found = lm.select(size * A, 3, target=size * B, method="greedy").why(each=2).chosen
    for column in ("adds", "cost_1", "cost_2"):
        np.testing.assert_allclose(found[column], expected[column], rtol=1e-6)
        assert min(map(abs, found[column])) > 0
