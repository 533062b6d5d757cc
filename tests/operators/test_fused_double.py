"""Fused products in float64: against NumPy with more digits; on a GPU, or in the interpreter."""

import importlib.util
import os

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators.base import faster_squares
from landmarks.operators.gpu import fused
from landmarks.operators.gpu.double import DoublePoints

torch = pytest.importorskip("torch", reason="fused products need torch")
if importlib.util.find_spec("triton") is None:
    pytest.skip("fused products need triton", allow_module_level=True)
if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("fused products need a GPU, or TRITON_INTERPRET=1", allow_module_level=True)

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
# The promise. The polynomial of the exponential is off by 1.4e-14, an exponent by up to 6e-14
# where the shift is largest, and sums of a few hundred terms by some 1e-15.
BOUND = 1e-13


def draw(*shape, seed=0, offset=0.0):
    values = np.random.default_rng(seed).standard_normal(shape) + offset
    return torch.asarray(values, dtype=torch.float64, device=DEVICE)


def longer(array):
    return array.cpu().numpy().astype(np.longdouble)


def exact(h, x, y):
    """The kernel values by differences, in the longest floats that NumPy has."""
    x, y = longer(x), longer(y)
    if isinstance(h, lm.polynomial):
        return (h.gamma * (x @ y.T) + h.coef0) ** h.degree
    if isinstance(h, lm.linear):
        return x @ y.T
    differences = x[:, None, :] - y[None, :, :]
    if isinstance(h, lm.laplacian):
        return np.exp(-np.abs(differences).sum(-1) / h.sigma)
    squares = (differences**2).sum(-1) / np.longdouble(h.sigma) ** 2
    if isinstance(h, lm.rbf):
        return np.exp(-squares)
    r = np.sqrt(2 * h.nu * squares)
    return {0.5: 1, 1.5: 1 + r, 2.5: 1 + r + r * r / 3}[h.nu] * np.exp(-r)


def error(result, reference):
    difference = longer(result) - reference
    return float(np.linalg.norm(difference.astype(float)) / np.linalg.norm(reference.astype(float)))


KERNELS = [
    lm.rbf(3.0),
    lm.rbf(0.7),
    lm.laplacian(5.0),
    lm.matern(0.5, 3.0),
    lm.matern(1.5, 3.0),
    lm.matern(2.5, 3.0),
    lm.polynomial(3, 0.1, 1.0),
    lm.polynomial(2, 1.0, 0.0),
    lm.linear(),
]


@pytest.mark.parametrize("h", KERNELS, ids=repr)
@pytest.mark.parametrize("width", [1, 3, 10, 40])
def test_product_of_a_rectangle_equals_numpy(h, width):
    x, y, V = draw(70, 9), draw(301, 9, seed=1), draw(301, width, seed=2)
    assert error(fused.product(h, x, y, V), exact(h, x, y) @ longer(V)) < BOUND


@pytest.mark.parametrize("d", [1, 2, 14, 15, 30, 31, 70])
@pytest.mark.parametrize("h", [lm.rbf(5.0), lm.matern(0.5, 5.0), lm.laplacian(20.0)], ids=repr)
def test_every_number_of_coordinates_is_served(h, d):
    x, y, V = draw(40, d), draw(130, d, seed=1), draw(130, 2, seed=2)
    assert error(fused.product(h, x, y, V), exact(h, x, y) @ longer(V)) < BOUND


@pytest.mark.parametrize("sigma", [0.001, 0.01, 0.1, 0.5, 1.0, 100.0])
@pytest.mark.parametrize("kind", [lm.rbf, lm.laplacian, lambda s: lm.matern(1.5, s)])
def test_every_length_scale_is_served(kind, sigma):
    y, V = draw(200, 5), draw(200, 4, seed=1)
    h = kind(sigma)
    assert error(fused.product(h, y[:50], y, V), exact(h, y[:50], y) @ longer(V)) < BOUND


@pytest.mark.parametrize("gap", [0.0, 1e-12, 1e-8, 1e-4])
@pytest.mark.parametrize("d", [2, 40])
def test_points_close_together_lose_no_digits(d, gap):
    """The root in the Matérn kernel magnifies the rounding of small distances."""
    x = draw(60, d)
    y = torch.cat([x + gap, x, draw(30, d, seed=1)])
    h, V = lm.matern(0.5, float(d)), draw(150, 3, seed=2)
    assert error(fused.product(h, x, y, V), exact(h, x, y) @ longer(V)) < BOUND


def test_points_far_from_the_origin_lose_no_digits():
    y, V = draw(200, 5, offset=1e4), draw(200, 4, seed=1)
    h = lm.rbf(2.0)
    assert error(fused.product(h, y, y, V), exact(h, y, y) @ longer(V)) < BOUND


def test_rows_beyond_the_reach_of_the_columns_are_served():
    h, y, V = lm.rbf(1.0), draw(150, 4), draw(150, 3, seed=1)
    x = torch.cat([y[:20], y[:5] + 1e4, y[:5] * 1e15])
    for result in (fused.product(h, x, y, V), fused.product(h, x, fused.prepare(y, h), V)):
        assert error(result[:20], exact(h, y[:20], y) @ longer(V)) < BOUND
        assert result[20:].abs().max() < 1e-290


@pytest.mark.parametrize("h", KERNELS, ids=repr)
def test_squared_row_sums_are_the_diagonal_of_the_square(h):
    x, y = draw(30, 4), draw(150, 4, seed=1)
    assert error(fused.squared_row_sums(h, x, y), (exact(h, x, y) ** 2).sum(1)) < BOUND


def test_prepared_points_and_restrictions_give_the_same_product():
    h, y, V = lm.rbf(2.0), draw(150, 4), draw(150, 3, seed=1)
    prepared = fused.prepare(y, h)
    assert isinstance(prepared, DoublePoints)
    whole = fused.product(h, y, y, V)
    torch.testing.assert_close(fused.product(h, prepared, prepared, V), whole, rtol=0, atol=0)
    rows, cols = [5, 3, 149], [7, 100]
    part = fused.product(h, prepared.take(rows), prepared.take(cols), V[cols])
    assert error(part, exact(h, y[rows], y[cols]) @ longer(V[cols])) < BOUND


def test_more_vectors_than_one_pass_takes():
    h, y, V = lm.rbf(2.0), draw(100, 3), draw(100, 70, seed=1)
    assert error(fused.product(h, y, y, V), exact(h, y, y) @ longer(V)) < BOUND


def test_columns_of_very_different_size_are_equally_accurate():
    h, y = lm.rbf(2.0), draw(200, 5)
    sizes = torch.asarray([1e-200, 1.0, 1e200, 0.0], dtype=torch.float64, device=DEVICE)
    V = draw(200, 4, seed=1) * sizes
    result, reference = fused.product(h, y, y, V), exact(h, y, y) @ longer(V)
    for i, size in enumerate([1e-200, 1.0, 1e200]):
        assert error(result[:, i] / size, reference[:, i] / size) < BOUND
    assert not result[:, 3].any()


def test_products_repeat_bit_for_bit():
    h, y, V = lm.rbf(2.0), draw(500, 4), draw(500, 3, seed=1)
    torch.testing.assert_close(fused.product(h, y, y, V), fused.product(h, y, y, V), rtol=0, atol=0)


def test_empty_blocks_give_empty_products():
    y = draw(20, 3)
    assert fused.product(lm.rbf(1.0), y, y, y[:, :0]).shape == (20, 0)
    assert fused.product(lm.rbf(1.0), y[:0], y, y).shape == (0, 3)


@pytest.mark.skipif(DEVICE == "cpu", reason="the choice of the engine needs a GPU")
def test_kernel_of_float64_points_on_a_gpu_is_fused():
    K = lm.kernel(draw(3000, 4), lm.rbf(2.0), memory=2**20)
    V = draw(3000, 3, seed=1)
    assert K.engine == "fused" and K.product_error == 1e-13
    assert error(K.matmul(V)[:50], exact(K.h, K.points[:50], K.points) @ longer(V)) < BOUND
    squares = (exact(K.h, K.points[:50], K.points) ** 2).sum(1)
    assert error(faster_squares(K)[:50], squares) < BOUND


def with_a_few_far_out(n):
    """Points around the origin, of which three are a hundred times as far."""
    x = draw(n, 9)
    x[[2, n // 2, n - 1]] *= 100.0
    return x


@pytest.mark.parametrize("h", [lm.rbf(2.0), lm.matern(0.5, 2.0), lm.matern(2.5, 2.0)], ids=repr)
@pytest.mark.parametrize("width", [1, 3])
def test_a_few_points_far_out_are_multiplied_apart(h, width):
    x, V = with_a_few_far_out(150), draw(150, width, seed=2)
    prepared = fused.prepare(x, h)
    assert prepared.parts.outer.tolist() == [2, 75, 149]
    assert prepared.parts.tight.layout.near <= prepared.parts.wide.layout.near
    assert error(fused.product(h, prepared, prepared, V), exact(h, x, x) @ longer(V)) < BOUND


def test_squared_row_sums_of_points_far_out():
    x = with_a_few_far_out(90)
    prepared = fused.prepare(x, lm.rbf(2.0))
    expected = (exact(lm.rbf(2.0), x, x) ** 2).sum(1)
    assert error(fused.squared_row_sums(lm.rbf(2.0), prepared, prepared), expected) < BOUND


@pytest.mark.parametrize("h", [lm.rbf(9.0), lm.rbf(0.05), lm.laplacian(1.0)], ids=repr)
def test_points_are_one_part_where_all_are_near_or_most_far_out(h):
    assert fused.prepare(draw(60, 9), h).parts is None
