"""The kernel operator: chunks, memory, centring and what it refuses."""

import warnings

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import UnsupportedError
from landmarks.operators.base import new_rows
from landmarks.operators.dense import Dense
from landmarks.operators.forms import searchable

POINTS = np.random.default_rng(0).standard_normal((700, 3))


def test_chunking_changes_nothing_but_rounding(xp):
    points = xp.asarray(POINTS)
    V = xp.asarray(np.random.default_rng(1).standard_normal((700, 2)))
    small, large = lm.kernel(points, lm.rbf(2.0), memory=2**20), lm.kernel(points, lm.rbf(2.0))
    assert len(small._chunks(700, 700)) > 10 * len(large._chunks(700, 700))
    np.testing.assert_allclose(np.asarray(small.matmul(V)), np.asarray(large.matmul(V)), rtol=1e-12)
    np.testing.assert_allclose(
        np.asarray(small.columns([3, 600])), np.asarray(large.columns([3, 600])), rtol=1e-13
    )
    np.testing.assert_allclose(
        np.asarray(small.matmul(V, rows=range(699), cols=range(700))),
        np.asarray(large.matmul(V))[:699],
        rtol=1e-12,
    )


class Hungry:
    """A kernel that runs out of memory on blocks above a size."""

    def __init__(self, limit, error):
        self.limit, self.error, self.seen = limit, error, []

    def __call__(self, x, y):
        self.seen.append(len(x) * len(y))
        if len(x) * len(y) > self.limit:
            raise self.error
        return x @ y.T


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        RuntimeError("CUDA out of memory"),
        RuntimeError("DefaultCPUAllocator: can't allocate memory"),
    ],
)
def test_fault_49_lack_of_memory_halves_the_chunks_with_one_warning(error):
    operator = lm.kernel(
        POINTS, Hungry(100_000, error), memory=2**24
    )  # too little to store K, enough for one chunk
    with pytest.warns(UserWarning, match="chunks of half the size") as caught:
        product = operator.matmul(np.ones((700, 1)))
    assert len(caught) == 1
    np.testing.assert_allclose(product, POINTS @ (POINTS.T @ np.ones((700, 1))))
    operator.h.seen.clear()
    operator.matmul(np.ones((700, 1)))
    assert max(operator.h.seen) <= 150_000  # the smaller chunk is remembered


def test_fault_49_where_no_chunk_is_small_enough_the_error_comes_through():
    with warnings.catch_warnings(), pytest.raises(MemoryError, match="no room at all"):
        warnings.simplefilter("ignore")
        operator = lm.kernel(POINTS, Hungry(9, MemoryError("no room at all")), memory=2**20)
        operator.matmul(np.ones((700, 1)))


def test_other_errors_of_the_kernel_pass_through():
    def h(x, y):
        if len(x) > 3:
            raise RuntimeError("a bug of the user")
        return x @ y.T

    with pytest.raises(RuntimeError, match="a bug of the user"):
        lm.kernel(POINTS, h).matmul(np.ones((700, 1)))


@pytest.mark.parametrize("h", [lm.rbf(1.0), lm.matern(1.5, 1.0), lm.laplacian(1.0)])
def test_a_large_offset_in_single_precision_does_no_harm(h):
    grid = np.round(POINTS[:50] * 64) / 64  # exact in float32 also after the offset
    near = np.asarray(lm.kernel((grid + 1000).astype(np.float32), h).columns([0, 1]))
    np.testing.assert_allclose(near, lm.kernel(grid, h).columns([0, 1]), atol=2e-5)


def test_duplicate_points_have_equal_columns_and_a_unit_diagonal():
    operator = lm.kernel(np.repeat(POINTS[:20], 2, axis=0).astype(np.float32), lm.matern(0.5, 1.0))
    columns = operator.columns(range(40))
    np.testing.assert_array_equal(np.diag(columns), operator.diagonal())
    np.testing.assert_allclose(columns[:, ::2], columns[:, 1::2], atol=1e-6)


def test_kernel_says_what_is_wrong_with_its_arguments():
    with pytest.raises(TypeError, match="h must be a kernel such as rbf"):
        lm.kernel(POINTS, "rbf")
    with pytest.raises(ValueError, match=r"memory must be at least 2\*\*20 bytes, got 5"):
        lm.kernel(POINTS, lm.rbf(), memory=5)
    with pytest.raises(
        ValueError, match="must return the 2 × 3 block of values.*got a scalar; write it for blocks"
    ):
        lm.kernel(POINTS, lambda x, y: 1.0)
    with pytest.raises(ValueError, match=r"got shape \(3, 2\)"):
        lm.kernel(POINTS, lambda x, y: (x @ y.T).T)
    with pytest.raises(ValueError, match="returned NaN or infinity on the first points"):
        lm.kernel(POINTS, lambda x, y: x @ y.T * np.nan)
    with pytest.raises(ValueError, match="must be symmetric"):
        lm.kernel(POINTS, lambda x, y: x[:, :1] + 2 * y[:, :1].T)
    with pytest.raises(ValueError, match=r"points must have two dimensions, got shape \(3,\)"):
        lm.kernel(np.ones(3), lm.rbf())


def test_fused_products_that_cannot_be_had_are_reported():
    with pytest.raises(UnsupportedError, match="torch points on a GPU"):
        lm.kernel(POINTS, lm.rbf(), engine="fused")


@pytest.mark.parametrize("sigma", [0.01, 0.1, 1.0, 100.0])
def test_single_precision_keeps_its_digits_whatever_the_width(sigma):
    """The error of a value is a few eps of float32 times the exponent, which is at most 32."""
    points = np.random.default_rng(0).standard_normal((200, 9)) * 5
    nearby = points + 0.5 * sigma * np.random.default_rng(1).standard_normal((200, 9)) / 3
    single = lm.rbf(sigma)(points.astype(np.float32), nearby.astype(np.float32))
    double = lm.rbf(sigma)(
        points.astype(np.float32).astype(np.float64), nearby.astype(np.float32).astype(np.float64)
    )
    assert np.max(np.abs(single - double)) < 2e-4


@pytest.mark.parametrize("h", [lm.rbf(2.0), lm.matern(0.5, 2.0), lm.matern(2.5, 2.0)], ids=repr)
def test_a_point_far_away_costs_the_others_no_digit(h):
    near = np.random.default_rng(0).standard_normal((6, 2))
    alone, beside = (
        lm.kernel(near, h).columns(np.arange(6)),
        lm.kernel(np.concatenate([near, [[3e9, -1e9]]]), h).columns(np.arange(6)),
    )
    np.testing.assert_allclose(
        beside[:6], alone, rtol=1e-6
    )  # the points themselves, less their mean, keep ten digits


def test_points_that_represent_no_other_are_warned_of():
    far = 100.0 * np.arange(9.0)[:, None]
    with pytest.warns(
        UserWarning,
        match="the landmarks represent no other point: the kernel matrix is numerically the "
        "identity",
    ):
        lm.select(lm.kernel(far, lm.rbf()), 2, method="greedy")
    lm.select(lm.kernel(far, lm.rbf()), 9, method="greedy")  # all of them represent all
    near = np.concatenate([far, far[:1] + 1e-3])
    assert set(lm.select(lm.kernel(near, lm.rbf()), 1, method="greedy").indices) <= {0, 9}


@pytest.mark.filterwarnings("error:the landmarks represent no other point")
def test_short_points_among_long_ones_represent_each_other():
    points = np.array([[1e-5, 2e-5], [2e-5, -1e-5], [1e-5, 1e-5], [1e5, 1e5]])
    lm.select(lm.kernel(points, lm.linear()), 1, include=[0], exclude=[3])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("sigma", [0.05, 1.0, 30.0])
@pytest.mark.parametrize("kind", [lm.rbf, lm.laplacian])
def test_products_are_as_exact_as_the_operator_says(kind, sigma, dtype):
    rng = np.random.default_rng(0)
    K = lm.kernel(rng.standard_normal((300, 4)).astype(dtype), kind(sigma), memory=2**20)
    V = rng.standard_normal((300, 5)).astype(dtype)
    differences = (K.points[:, None, :] - K.points[None, :, :].astype(np.longdouble)) / sigma
    powers = np.abs(differences) ** (2 if kind is lm.rbf else 1)
    exact = np.exp(-powers.sum(-1)) @ V
    error = np.linalg.norm((K.matmul(V) - exact).astype(float)) / np.linalg.norm(
        exact.astype(float)
    )
    assert error <= K.product_error <= 1e3 * np.finfo(dtype).eps * max(1.0, sigma**-2)


@pytest.mark.parametrize(
    "kind", [lm.rbf, lm.laplacian, lambda s: lm.matern(2.5, s)], ids=["rbf", "laplacian", "matern"]
)
def test_a_width_for_each_coordinate_is_the_kernel_of_divided_points(kind, xp):
    widths = np.array([0.5, 1.0, 8.0])
    points, divided = xp.asarray(POINTS[:60]), xp.asarray(POINTS[:60] / widths)
    own, plain = lm.kernel(points, kind(list(widths))), lm.kernel(divided, kind(1.0))
    S = lm.select(own, 8, method="swap").indices
    assert S.tolist() == lm.select(plain, 8, method="swap").indices.tolist()
    np.testing.assert_allclose(
        np.asarray(new_rows(own.restrict([9, 3]), points, [0, 1])),
        np.asarray(kind(widths)(points, xp.asarray(POINTS[[9, 3]]))),
        atol=1e-12,
    )


def test_widths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 widths, but the points have 3 coordinates"):
        lm.kernel(POINTS, lm.rbf(sigma=[1.0, 2.0]))
    for wrong in ([1.0, 0.0, 1.0], [], [[1.0, 2.0, 3.0]], "wide", [1.0, np.nan, 1.0]):
        with pytest.raises(ValueError, match="positive number, or one for each coordinate"):
            lm.matern(sigma=wrong)


def test_a_search_stores_K_up_to_eight_times_the_memory_and_chooses_the_same():
    points = np.random.default_rng(3).standard_normal((1100, 3))  # 9.2 MiB
    stored, products = (
        lm.select(lm.kernel(points, lm.laplacian(2.0), memory=memory), 6, method="swap")
        for memory in (2 * 2**20, 2**20)
    )
    assert type(searchable(stored.operator, 6)) is Dense
    assert type(searchable(products.operator, 6)) is type(products.operator)
    assert products.indices.tolist() == stored.indices.tolist()


@pytest.mark.parametrize("method", ["greedy", "swap", "auto"])
def test_without_the_memory_for_K_a_search_goes_on_with_a_warning(method, monkeypatch):
    from landmarks.operators import forms

    points = np.random.default_rng(3).standard_normal((1600, 3))
    kernel = lm.kernel(points, lm.laplacian(sigma=2.0))
    expected = lm.select(kernel, 4, method=method).error()
    whole = forms.densify

    def short(operator):
        if operator.n == 1600:
            raise MemoryError
        return whole(operator)

    monkeypatch.setattr(forms, "densify", short)
    with pytest.warns(UserWarning, match=r"storing K needs 0\.0 GiB, which could not be had"):
        s = lm.select(lm.kernel(points, lm.laplacian(sigma=2.0)), 4, method=method)
    assert s.error() == pytest.approx(expected, rel=0.02)


def test_the_choice_of_a_kernel_leaves_its_stored_entries_as_they_are():
    points = np.random.default_rng(0).standard_normal((9, 3))
    K = lm.kernel(points, lm.rbf(2.0))
    expected = lm.select(lm.psd(K.columns(np.arange(9)).copy()), 3, method="greedy", include=[0, 1])
    found = lm.select(K, 3, method="greedy", include=[0, 1])
    again = lm.select(K, 3, method="greedy", include=[0, 1])
    assert found.error() == again.error() == pytest.approx(expected.error())
