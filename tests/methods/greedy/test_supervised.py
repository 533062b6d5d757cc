"""Landmarks for a target: each pick is the best by brute force; unusable targets are refused."""

import warnings

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning

FAINT = 1e-8  # where less of the target is left, the trace alone decides
RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((40, 2))
K = np.exp(-np.sum((POINTS[:, None] - POINTS) ** 2, axis=2))
Y = np.column_stack([np.sin(3 * POINTS[:, 0]), 1.0 * (POINTS[:, 1] > 0)])
TARGETS = {"a number": Y[:, 0], "a class": Y[:, 1].astype(int), "both": Y}


def left(S, target, noise):
    """tr C and yᵀ(αI + K̂)⁻¹y, from their definitions."""
    n, alpha = len(K), noise * np.trace(K) / len(K)
    K_hat = (
        K[:, S] @ np.linalg.pinv(K[np.ix_(S, S)], hermitian=True) @ K[S] if S else np.zeros((n, n))
    )
    centred = (target - target.mean(axis=0)).reshape(n, -1)
    return np.trace(K - K_hat), np.trace(
        centred.T @ np.linalg.solve(alpha * np.eye(n) + K_hat, centred)
    )


def worth(S, j, target, noise):
    (trace, loss), (next_trace, next_loss) = left(S, target, noise), left([*S, j], target, noise)
    return (1 - next_trace / trace) * (1 - next_loss / loss + FAINT)


def brute_force(k, target, noise):
    S = []
    for _ in range(k):
        S.append(
            max((j for j in range(len(K)) if j not in S), key=lambda j: worth(S, j, target, noise))
        )
    return S


@pytest.mark.parametrize("noise", [1.0, 0.01])
@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_every_pick_is_the_best_single_step(target, noise):
    assert lm.select(
        lm.psd(K), 9, method=lm.Supervised(target, noise=noise)
    ).indices.tolist() == brute_force(9, target, noise)


def test_units_and_origin_of_the_target_do_not_matter():
    plain = lm.select(lm.psd(K), 9, method=lm.Supervised(Y[:, 0])).indices.tolist()
    for target in (5 - 3 * Y[:, 0], np.ldexp(Y[:, 0], 900), np.ldexp(Y[:, 0], -900)):
        assert lm.select(lm.psd(K), 9, method=lm.Supervised(target)).indices.tolist() == plain


@pytest.mark.parametrize("power", [-600, 600])
def test_the_unit_of_the_kernel_does_not_matter(power):
    plain = lm.select(lm.psd(K), 9, method=lm.Supervised(Y)).indices.tolist()
    assert (
        lm.select(lm.psd(np.ldexp(K, power)), 9, method=lm.Supervised(Y)).indices.tolist() == plain
    )


def test_landmarks_go_where_the_target_varies():
    x = np.linspace(0, 1, 200)[:, None]
    y = np.where(x[:, 0] < 0.5, 0.0, np.sin(60 * x[:, 0]))
    operator = lm.kernel(x, lm.rbf(sigma=0.03))
    wanted, plain = (
        lm.select(operator, 20, method=method).indices for method in (lm.Supervised(y), "greedy")
    )
    assert np.sum(wanted >= 100) >= 14 > np.sum(plain >= 100)


def test_where_the_target_says_nothing_the_kernel_decides():
    """A block in which the target is zero still gets its landmarks, without a rank warning."""
    blocks = np.kron(np.eye(2), K[:6, :6])
    target = np.r_[Y[:6, 0] - Y[:6, 0].mean(), np.zeros(6)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RankWarning)
        chosen = lm.select(lm.psd(blocks), 12, method=lm.Supervised(target)).indices
    assert sorted(chosen.tolist()) == list(range(12))
    assert set(chosen[:6].tolist()) == set(range(6))


def test_included_and_excluded_points_are_honoured():
    chosen = lm.select(
        lm.psd(K), 6, method=lm.Supervised(Y), include=[7, 3], exclude=[0, 1]
    ).indices
    assert chosen[:2].tolist() == [7, 3] and not {0, 1} & set(chosen.tolist())
    assert chosen[2] == max(
        (j for j in range(2, 40) if j not in (7, 3)), key=lambda j: worth([7, 3], j, Y, 1.0)
    )


def test_a_run_cut_off_and_resumed_gives_the_same_choice(tmp_path):
    method, whole = lm.Supervised(Y), lm.select(lm.psd(K), 9, method=lm.Supervised(Y))
    keep = lm.Checkpoint(tmp_path / "run.npz", interval=0)

    def crash(progress):
        if progress.done == 5:
            raise InterruptedError

    with pytest.raises(InterruptedError):
        lm.select(lm.psd(K), 9, method=method, checkpoint=keep, callback=crash)
    again = lm.select(lm.psd(K), 9, method=method, checkpoint=keep)
    assert (
        again.indices.tolist() == whole.indices.tolist()
        and again.ledger.products == whole.ledger.products
    )
    with pytest.raises(ValueError, match="method = "):
        lm.select(lm.psd(K), 9, method=lm.Supervised(Y[::-1]), checkpoint=keep)


@pytest.mark.parametrize(
    ("target", "message"),
    [
        (np.ones(40), "target is constant"),
        (np.ones(39), r"each of the 40 points, got shape \(39,\)"),
        (np.ones((40, 2, 2)), "each of the 40 points"),
        (["a", "b"] * 20, "target must hold numbers, got text"),
        (np.r_[Y[:39, 0], np.nan], "Input target contains NaN"),
        (1j * Y[:, 0], "Complex data not supported"),
    ],
)
def test_a_target_that_cannot_be_used_is_reported(target, message):
    with pytest.raises(ValueError, match=message):
        lm.select(lm.psd(K), 3, method=lm.Supervised(target))


@pytest.mark.parametrize("noise", [0, -1.0, np.inf, np.nan, "1", True])
def test_noise_must_be_a_positive_number(noise):
    with pytest.raises(ValueError, match="noise must be a positive number"):
        lm.Supervised(Y, noise=noise)
