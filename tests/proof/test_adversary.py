"""Problems that are hard for rounding, against rationals, and some on which proofs failed."""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np
import pytest
from contract.cells import barely_reached, gram, grid
from contract.reference import Reference

import landmarks as lm
from landmarks.errors import UnsupportedError
from landmarks.proof import counting

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("first", [0, pytest.param(1000, marks=pytest.mark.thorough)])
def test_nothing_is_wrong_in_problems_that_are_hard_for_rounding(first):
    paths = os.pathsep.join([str(ROOT / "src"), str(ROOT / "tests")])
    ended = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "adversary"), "90", str(first)],
        env=dict(os.environ, PYTHONPATH=paths),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
@pytest.mark.parametrize("seed", [6, 9, 11])
def test_noise_below_the_rounding_of_the_data_raises_no_bound(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((11, 4))
    X[:, 3] = X[:, 0] - X[:, 1] + 1e-11 * X[:, 3]
    B, noise = barely_reached(X), 1e-21
    s = lm.select(X, 4, target=B, noise=noise, method="greedy", scale=False)
    exact = float(Reference(X=X, target=B, noise=noise).error(range(4)))
    assert s.lower_bound() <= exact * (1 + 1e-12)


@pytest.mark.parametrize("compiled", [True, False])
def test_a_column_may_be_repeated_to_the_end(compiled, monkeypatch):
    if not compiled:
        monkeypatch.setattr(counting, "library", lambda: None)
    rng = np.random.default_rng(3)
    X = grid(rng, 10, 5) * 2.0 ** np.array([0, 4, 9, -7, 2])
    s = lm.select(X, 4, target=grid(rng, 10, 2), noise=3e-18, repeats=True, scale=False)
    found = s.alternatives(within=1e9)
    every = set(combinations_with_replacement(range(5), 4))
    assert {tuple(sorted(row)) for row in found.choices.tolist()} == every


@pytest.mark.parametrize("seed", range(6))
def test_a_determinant_that_rounding_hides_is_not_left_out(seed):
    rng = np.random.default_rng(seed)
    X = grid(rng, 3, 3)[:, rng.integers(0, 3, 6)]
    noise = 10.0 ** rng.uniform(-15, -11, 6)
    s = lm.select(lm.psd(gram(X)), 4, criterion="logdet", noise=noise, repeats=True)
    exact = Reference(K=gram(X), noise=noise, criterion="logdet").error
    best = min(exact(S) for S in combinations_with_replacement(range(6), 4))
    assert not s.proved or exact(s.indices) <= best + 1e-6
    try:
        found = s.alternatives(within=0.2)
    except UnsupportedError:
        return
    assert exact(found.choices[0]) <= best + 1e-6


@pytest.mark.filterwarnings("ignore::landmarks.errors.RankWarning")
def test_where_every_determinant_is_zero_there_are_no_alternatives():
    s = lm.select(np.eye(3)[:, [0, 1, 0, 1]], 3, criterion="logdet")
    with pytest.raises(UnsupportedError, match="determinant 0"):
        s.alternatives()


def test_the_same_error_at_twice_the_columns_is_no_alternative_to_nothing_lost():
    X = np.array([[1.0, 1.0, 0.0], [0.0, 2.0**-34, 0.0], [0.0, 0.0, 1.0]])
    s = lm.select(X, costs=[1, 1, 1], budget_cost=3, scale=False)
    assert [sorted(row) for row in s.alternatives(within=0.5).choices.tolist()] == [[0, 1, 2]]


def test_a_target_that_single_precision_would_round_is_taken_as_it_is():
    rng = np.random.default_rng(0)
    X, B = rng.standard_normal((12, 6)).astype(np.float32), rng.standard_normal((12, 2))
    s = lm.select(X, 3, target=B, method="exact", scale=False)
    exact = Reference(X=X, target=B).error
    assert s.proved
    assert s.lower_bound() <= float(exact(s.indices)) * (1 + 1e-12)
    assert s.error() == pytest.approx(float(exact(s.indices)), rel=1e-12)
