"""Fused products: against float64 on a GPU, or in Triton's interpreter on the CPU."""

import importlib.util
import os

import numpy as np
import pytest

import landmarks as lm
from landmarks.operators.gpu import fused

torch = pytest.importorskip("torch", reason="fused products need torch")
if importlib.util.find_spec("triton") is None:
    pytest.skip("fused products need triton", allow_module_level=True)
if not torch.cuda.is_available() and os.environ.get("TRITON_INTERPRET") != "1":
    pytest.skip("fused products need a GPU, or TRITON_INTERPRET=1", allow_module_level=True)

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
HIGH = 1e-5  # the promise; float16 parts, products and sums of a few hundred terms stay near 1e-6
FAST = 1e-3  # one rounding to float16 of each factor, 2e-4 each, against sums that partly cancel


def draw(*shape, seed=0, offset=0.0):
    values = np.random.default_rng(seed).standard_normal(shape) + offset
    return torch.asarray(values, dtype=torch.float32, device=DEVICE)


def exact(h, x, y):
    x, y = (z.double().cpu().numpy() for z in (x, y))
    centre = y.mean(0) if h.stationary else 0.0
    return h(x - centre, y - centre)


def error(result, reference):
    return np.linalg.norm(result.double().cpu().numpy() - reference) / np.linalg.norm(reference)


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
@pytest.mark.parametrize("width", [1, 3, 10])
def test_product_equals_the_product_in_float64(h, width):
    x, y, V = draw(70, 9), draw(301, 9, seed=1), draw(301, width, seed=2)
    assert error(fused.product(h, x, y, V), exact(h, x, y) @ V.double().cpu().numpy()) < HIGH
    assert (
        error(
            fused.product(h, x, y, V, precision="fast"), exact(h, x, y) @ V.double().cpu().numpy()
        )
        < FAST
    )


@pytest.mark.parametrize("d, sigma", [(1, 1.0), (2, 1.0), (4, 2.0), (30, 8.0), (90, 14.0)])
def test_every_number_of_coordinates_is_served(d, sigma):
    x, y, V = draw(40, d), draw(130, d, seed=1), draw(130, 2, seed=2)
    assert (
        error(
            fused.product(lm.rbf(sigma), x, y, V),
            exact(lm.rbf(sigma), x, y) @ V.double().cpu().numpy(),
        )
        < HIGH
    )


@pytest.mark.parametrize("sigma", [0.01, 0.1, 1.0, 100.0])
def test_every_length_scale_is_served(sigma):
    y, V = draw(200, 5), draw(200, 4, seed=1)
    assert (
        error(
            fused.product(lm.rbf(sigma), y[:50], y, V),
            exact(lm.rbf(sigma), y[:50], y) @ V.double().cpu().numpy(),
        )
        < HIGH
    )


def test_points_far_from_the_origin_lose_no_digits():
    y, V = draw(200, 5, offset=1e4), draw(200, 4, seed=1)
    assert (
        error(
            fused.product(lm.rbf(2.0), y, y, V), exact(lm.rbf(2.0), y, y) @ V.double().cpu().numpy()
        )
        < HIGH
    )


def test_columns_of_very_different_size_are_equally_accurate():
    y, V = (
        draw(200, 5),
        draw(200, 4, seed=1) * torch.asarray([1e-20, 1.0, 1e20, 0.0], device=DEVICE),
    )
    result, reference = (
        fused.product(lm.rbf(2.0), y, y, V),
        exact(lm.rbf(2.0), y, y) @ V.double().cpu().numpy(),
    )
    assert all(error(result[:, i], reference[:, i]) < HIGH for i in range(3))
    assert not result[:, 3].any()


def test_more_right_hand_sides_than_one_pass_holds():
    y, V = draw(90, 3), draw(90, 69, seed=1)
    assert (
        error(
            fused.product(lm.rbf(1.0), y, y, V), exact(lm.rbf(1.0), y, y) @ V.double().cpu().numpy()
        )
        < HIGH
    )


@pytest.mark.parametrize("h", KERNELS, ids=repr)
def test_squared_row_sums_are_the_diagonal_of_the_square(h):
    x, y = draw(30, 4), draw(150, 4, seed=1)
    assert error(fused.squared_row_sums(h, x, y), np.sum(exact(h, x, y) ** 2, axis=1)) < HIGH


def test_prepared_points_give_the_same_product():
    h, y, V = lm.rbf(2.0), draw(150, 4), draw(150, 3, seed=1)
    prepared = fused.SinglePoints(y, h)
    torch.testing.assert_close(
        fused.product(h, prepared, prepared, V), fused.product(h, y, y, V), rtol=0, atol=0
    )
    rows = [5, 3, 149]
    torch.testing.assert_close(
        fused.product(h, prepared.take(rows), prepared, V), fused.product(h, y, y, V)[rows]
    )


def test_rows_beyond_the_reach_of_the_columns_are_served():
    h, y, V = lm.rbf(1.0), draw(150, 4), draw(150, 3, seed=1)
    x = torch.cat([y[:20], y[:5] + 1e4, y[:5] * 1e15])
    for result in (fused.product(h, x, y, V), fused.product(h, x, fused.SinglePoints(y, h), V)):
        assert error(result[:20], exact(h, y[:20], y) @ V.double().cpu().numpy()) < HIGH
        assert not result[20:].any()


def test_products_repeat_bit_for_bit():
    h, y, V = lm.rbf(2.0), draw(500, 4), draw(500, 3, seed=1)
    torch.testing.assert_close(fused.product(h, y, y, V), fused.product(h, y, y, V), rtol=0, atol=0)


def test_empty_blocks_give_empty_products():
    y = draw(20, 3)
    assert fused.product(lm.rbf(1.0), y, y, y[:, :0]).shape == (20, 0)
    assert fused.product(lm.rbf(1.0), y[:0], y, y).shape == (0, 3)


def test_only_floats_on_a_gpu_are_available():
    assert not fused.available(np.zeros((3, 2), dtype=np.float32))
    assert not fused.available(torch.zeros((3, 2), dtype=torch.float64))
    assert not fused.available(torch.zeros((3, 2), dtype=torch.float16, device=DEVICE))
    assert fused.available(draw(3, 2)) == (DEVICE == "cuda")
    assert fused.available(draw(3, 2).double()) == (DEVICE == "cuda")
