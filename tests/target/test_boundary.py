"""What may be given as target and noise, what is refused and in which words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import landmarks as lm
from landmarks.errors import UnsupportedError

RNG = np.random.default_rng(0)
A = RNG.standard_normal((20, 8))
B = RNG.standard_normal((20, 3))
K = A.T @ A


def test_a_target_equal_to_the_data_and_zero_noise_change_nothing() -> None:
    for X in (A, A.astype(np.float32)):
        plain = lm.select(X, 3)
        for given in (lm.select(X, 3, target=X.copy()), lm.select(X, 3, noise=0.0)):
            assert given.objective.plain
            assert given.indices.tolist() == plain.indices.tolist()
            assert given.error() == plain.error()
    for target in (np.ones(8), np.eye(8), lm.psd(np.eye(8))):
        same = lm.select(lm.psd(K), 3, target=target)
        assert same.indices.tolist() == lm.select(lm.psd(K), 3).indices.tolist()


def test_a_data_frame_names_the_target_and_the_chosen() -> None:
    X, Y = pd.DataFrame(A, columns=list("abcdefgh")), pd.DataFrame(B, columns=["u", "v", "w"])
    s = lm.select(X, 3, target=Y, center=True)
    frame = s.reconstruction().to_frame()
    assert frame.columns.tolist() == ["u", "v", "w"]
    assert frame.index.tolist() == s.chosen_names
    rest = Y - Y.mean() - (X - X.mean())[s.chosen_names] @ frame
    assert np.sum(rest.to_numpy() ** 2) == pytest.approx(s.error())
    assert lm.select(X, 2, target=Y["u"]).k == 2


def test_names_of_columns_are_the_target_and_are_not_chosen() -> None:
    X = pd.DataFrame(A, columns=list("abcdefgh"))
    s = lm.select(X, 3, target=["a", "c"], center=True, scale=True)
    rest = X.drop(columns=["a", "c"])
    other = lm.select(rest, 3, target=X[["a", "c"]], center=True, scale=True)
    assert s.chosen_names == other.chosen_names
    assert s.error() == pytest.approx(other.error())
    with pytest.raises(ValueError, match=r"target: the data have no column named 'aa'"):
        lm.select(X, 3, target=["aa"])


def test_very_large_and_very_small_targets_keep_their_error() -> None:
    wanted = lm.select(A, 3, target=B)
    for scale in (1e-150, 1e150):
        s = lm.select(A * 1e100, 3, target=B * scale, scale=False)
        assert s.indices.tolist() == wanted.indices.tolist()
        assert s.relative_error() == pytest.approx(wanted.relative_error())
    noisy = lm.select(A * 1e60, 3, noise=0.5 * 1e120, scale=False)
    assert noisy.error() == pytest.approx(1e120 * lm.select(A, 3, noise=0.5).error())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"target": B[:5]}, r"target must have the m = 20 rows of the data .* got shape \(5, 3\)"),
        ({"target": np.ones(8)}, r"to weigh the columns by w, give target = X \* np.sqrt\(w\)"),
        ({"target": np.where(B > 1, np.nan, B)}, "Input target contains NaN"),
        ({"target": np.ones((20, 2, 2))}, r"got shape \(20, 2, 2\)"),
        ({"target": [["a", "b"]] * 20}, "target must hold numbers, got text"),
        ({"target": ["a"]}, "target holds names, but the data have none"),
        ({"noise": -0.1}, "noise is a variance: it must be finite and not negative, got -0.1"),
        ({"noise": np.nan}, "noise is a variance: it must be finite"),
        ({"noise": np.ones(3)}, r"one for each of the n = 8 candidates, got shape \(3,\)"),
        ({"noise": "much"}, "noise must hold numbers"),
        ({"repeats": True}, "repeats=True needs noise above 0"),
    ],
)
def test_wrong_input_is_answered_with_what_to_do(given: dict[str, Any], words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        lm.select(A, 3, **given)


@pytest.mark.parametrize(
    ("target", "words"),
    [
        (B, r"target must be n = 8 weights, .* got shape \(20, 3\)"),
        (np.ones((8, 8)) - 2 * np.eye(8), "an n × n target must be positive semidefinite"),
        (np.triu(np.ones((8, 8))), r"for n vectors V give V @ V.T"),
        (-np.ones(8), "weights of the candidates must not be negative"),
        ("a", "target names columns, which only data have"),
        (lm.data(A), r"or lm.psd\(M\)"),
    ],
)
def test_wrong_targets_of_a_kernel_are_answered_too(target: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        lm.select(lm.psd(K), 3, target=target)


@pytest.mark.parametrize("method", ["pivoted_qr", "rpcholesky", "kdpp"])
def test_methods_without_targets_say_so(method: str) -> None:
    with pytest.raises(UnsupportedError, match=r"does not support target; use auto, greedy, swap"):
        lm.select(A, 3, target=B, method=method)


def test_what_has_no_answer_for_a_target_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="choice with target"):
        lm.select(A, 3, target=B).estimated_error()
    volume = lm.select(A, 3, criterion="logdet")
    with pytest.raises(UnsupportedError, match='choice with criterion="logdet"'):
        volume.estimated_error()
    assert volume.estimated_error("trace", n_probes=400).low <= volume.error("trace")
    with pytest.raises(UnsupportedError, match="cannot be combined with groups or costs"):
        lm.select(A, 3, noise=0.1, repeats=True, groups=[0, 0, 1, 1, 2, 2, 3, 3])


def test_a_large_smooth_kernel_is_measured_with_noise() -> None:
    points = RNG.uniform(size=(6000, 1))
    s = lm.select(lm.kernel(points, lm.rbf(sigma=0.5)), 5, noise=0.01, method="greedy")
    x = points[s.indices]
    S = np.exp(-((x - x.T) ** 2) / 0.25) + 0.01 * np.eye(5)
    h = np.exp(-((points[:50] - x.T) ** 2) / 0.25)
    wanted = 1 - np.sum(h.T * np.linalg.solve(S, h.T), axis=0)
    np.testing.assert_allclose(s.posterior_variance()[:50], wanted, rtol=1e-6, atol=1e-9)
