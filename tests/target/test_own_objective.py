"""An objective of one's own: what its class says is all that it needs."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

import landmarks as lm
from landmarks.objectives import OBJECTIVES, Trace
from landmarks.operators.forms import in_double

RNG = np.random.default_rng(0)
SIZES = 10.0 ** np.arange(8)
X = RNG.standard_normal((40, 4)) @ RNG.standard_normal((4, 8)) + 0.3 * RNG.standard_normal((40, 8))


@dataclass(frozen=True, eq=False)
class Relative(Trace):
    """The sum of the unexplained shares: every column counts alike, however long it is."""

    criterion: ClassVar[str] = "relative"
    needs: ClassVar[tuple[str, ...]] = ("target",)
    by_length: ClassVar[bool] = False

    def weights(self, K, counted):
        lengths = in_double(K).diagonal()
        shares = np.divide(1, lengths, out=np.zeros(K.n), where=lengths > 0)
        return shares if counted is None else shares * counted

    def in_units(self, figure, operator_exponent):
        return figure


@pytest.fixture(autouse=True)
def registered(monkeypatch):
    monkeypatch.setitem(OBJECTIVES, "relative", Relative)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("noise", [None, 0.1])
def test_weights_are_all_that_a_weighted_objective_sets(dtype, noise):
    data = (X * SIZES).astype(dtype)
    lengths = np.linalg.norm(data.astype(np.float64), axis=0)
    plain = lm.select(data / lengths, 3, method="exact", noise=noise and noise / lengths**2)
    s = lm.select(data, 3, method="exact", criterion="relative", noise=noise)  # and no warning
    assert sorted(s.indices) == sorted(plain.indices)
    assert s.error() == pytest.approx(plain.error(), rel=1e-6)
    assert s.lower_bound() <= s.error() and s.relative_error() == pytest.approx(s.error() / 8)


def test_the_errors_of_another_criterion_are_not_weighted():
    s = lm.select(X, 3, method="greedy", criterion="relative")
    assert s.error("trace") == pytest.approx(lm.select(X, 3, include=s.indices).error())


def test_the_columns_of_a_target_are_weighed_too():
    target = X[:, :2] * [1.0, 1e6]
    s = lm.select(X[:, 2:], 2, target=target, criterion="relative")
    alike = lm.select(X[:, 2:], 2, target=target / np.linalg.norm(target, axis=0))
    assert sorted(s.indices) == sorted(alike.indices)
    assert s.error() == pytest.approx(alike.error())
