"""What a kernel asks of fused products; dense products stand in for them."""

from dataclasses import dataclass

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators import kernel as module
from landmarks.operators.base import faster_squares
from landmarks.operators.kernel import KernelOperator

RNG = np.random.default_rng(0)
POINTS = RNG.standard_normal((30, 2))
H = lm.rbf(sigma=1.5)
K = H(POINTS, POINTS)
ROWS, COLS = np.array([4, 0, 7]), np.array([1, 29, 3, 4])


@dataclass
class Packed:
    """Points as an engine packs them."""

    points: np.ndarray

    def take(self, indices):
        return Packed(self.points[indices])


class Fused:
    """The functions of the fused engine by dense arithmetic, for a kernel of this width."""

    ERRORS, DOUBLE_ERROR = module.fused.ERRORS, module.fused.DOUBLE_ERROR

    def __init__(self):
        self.precisions = []

    def prepare(self, points, h):
        assert h is H
        return Packed(points)

    def product(self, h, x, y, block, *, precision="high"):
        self.precisions.append(precision)
        return h(x.points, y.points) @ block

    def squared_row_sums(self, h, x, y):
        return np.sum(h(x.points, y.points) ** 2, axis=1)


@pytest.fixture
def fused(monkeypatch):
    engine = Fused()
    monkeypatch.setattr(module, "fused", engine)
    return engine


def operator(engine, memory=1000, points=POINTS):
    return KernelOperator(points, H, engine=engine, precision="fast", memory=memory)


@pytest.mark.parametrize("rows", [None, ROWS])
@pytest.mark.parametrize("cols", [None, COLS])
def test_an_engine_multiplies_the_rows_and_columns_that_are_asked_for(fused, rows, cols):
    part = K[np.ix_(range(30) if rows is None else rows, range(30) if cols is None else cols)]
    block = RNG.standard_normal((part.shape[1], 2))
    asked = operator("fused")
    np.testing.assert_allclose(asked.matmul(block, rows, cols), part @ block, rtol=1e-12)
    assert asked.ledger.snapshot() == {"products": 2, "columns": 0, "entries": part.size}
    assert fused.precisions == ["fast"]


def test_a_fused_engine_squares_the_rows_of_a_kernel_that_is_not_stored(fused):
    large, small = operator("fused"), operator("fused", memory=2**20)
    np.testing.assert_allclose(faster_squares(large), np.diag(K @ K), rtol=1e-12)
    assert large.ledger.entries == 900
    assert faster_squares(small) is None
    assert faster_squares(operator("chunked")) is None


def test_the_error_of_a_product_is_that_of_the_engine(fused):
    single = POINTS.astype(np.float32)
    assert operator("fused").product_error == fused.DOUBLE_ERROR
    assert operator("fused", points=single).product_error == fused.ERRORS["fast"]
    stored = operator("fused", memory=2**20)
    assert stored.product_error == operator("chunked").product_error
