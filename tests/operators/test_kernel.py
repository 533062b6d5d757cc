"""The kernel operator: chunks, memory, centring and what it refuses."""

import numpy as np
import pytest

import landmarks as lm
from landmarks._array import host
from landmarks.errors import UnsupportedError
from landmarks.operators.base import new_rows, warn_about
from landmarks.operators.kernel_matrix import KernelOperator
from landmarks.operators.restricted import Restricted

POINTS = np.random.default_rng(0).standard_normal((700, 3))


def test_chunking_changes_nothing_but_rounding(xp):
    points = xp.asarray(POINTS)
    V = xp.asarray(np.random.default_rng(1).standard_normal((700, 2)))
    small, large = lm.kernel(points, lm.rbf(2.0), memory=2**20), lm.kernel(points, lm.rbf(2.0))
    assert len(small._chunks(700, 700)) > 10 * len(large._chunks(700, 700))
    np.testing.assert_allclose(host(small.matmul(V)), host(large.matmul(V)), rtol=1e-12)
    np.testing.assert_allclose(
        host(small.columns([3, 600])), host(large.columns([3, 600])), rtol=1e-13
    )
    np.testing.assert_allclose(
        host(small.matmul(V, rows=range(699), cols=range(700))),
        host(large.matmul(V))[:699],
        rtol=1e-12,
    )


def test_ledger_counts_the_values_evaluated():
    evaluated = []

    def h(x, y):
        evaluated.append(len(x) * len(y))
        return np.exp(-abs(x[:, :1] - y[:, :1].T))

    operator = lm.kernel(POINTS, h, memory=2**20)
    evaluated.clear()
    operator.matmul(np.ones((700, 1)))
    assert operator.ledger.entries == sum(evaluated) < 0.6 * 700**2  # each value serves two entries
    operator.columns([1, 2])
    operator.matmul(np.ones((2, 1)), rows=[1, 2, 3], cols=[4, 5])
    assert operator.ledger.entries == sum(evaluated)


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
def test_lack_of_memory_halves_the_chunks_with_one_warning(error):
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


def test_lack_of_memory_for_one_row_is_an_error():
    operator = KernelOperator(POINTS, Hungry(10, MemoryError("no memory")), engine="chunked")
    with pytest.warns(UserWarning, match="half"), pytest.raises(MemoryError, match="no memory"):
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
    near = host(lm.kernel((grid + 1000).astype(np.float32), h).columns([0, 1]))
    np.testing.assert_allclose(near, lm.kernel(grid, h).columns([0, 1]), atol=2e-5)


def test_duplicate_points_have_equal_columns_and_a_unit_diagonal():
    operator = lm.kernel(np.repeat(POINTS[:20], 2, axis=0).astype(np.float32), lm.matern(0.5, 1.0))
    columns = operator.columns(range(40))
    np.testing.assert_array_equal(np.diag(columns), operator.diagonal())
    np.testing.assert_allclose(columns[:, ::2], columns[:, 1::2], atol=1e-6)


def test_kernel_values_are_never_denormal():
    values = lm.kernel(np.linspace(0, 40, 200, dtype=np.float32)[:, None], lm.rbf(1.0)).columns([0])
    assert np.all((values == 0) | (values > np.finfo(np.float32).tiny))


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


@pytest.mark.parametrize("engine", ["fused", "keops"])
def test_an_engine_that_cannot_be_had_is_reported(engine):
    with pytest.raises(UnsupportedError, match="torch points on a GPU"):
        lm.kernel(POINTS, lm.rbf(), engine=engine)


def test_an_unknown_engine_is_reported():
    with pytest.raises(ValueError, match="engine must be one of"):
        lm.kernel(POINTS, lm.rbf(), engine="abacus")


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


@pytest.mark.parametrize(
    ("memory", "stored"), [(2**20, False), (8 * 8 * 400**2, True), (8 * 8 * 400**2 - 1, False)]
)
def test_a_matrix_of_an_eighth_of_the_memory_is_stored(memory, stored):
    operator = lm.kernel(POINTS[:400], lm.rbf(), memory=memory)
    assert (operator.stored is not None) == stored
    if stored:
        assert operator.stored.ledger is operator.ledger


def test_a_restriction_keeps_the_settings_and_what_is_stored():
    for memory in (2**20, 2**25):
        operator = lm.kernel(POINTS[:400], lm.matern(1.5, 2.0), memory=memory, precision="fast")
        part = operator.restrict([5, 1])
        assert (part.engine, part.precision, part.memory, part.h) == (
            "chunked",
            "fast",
            memory,
            operator.h,
        )
        assert ("stored" in part.__dict__) == (memory == 2**25)
        np.testing.assert_allclose(part.columns([0]), operator.columns([5])[[5, 1]], rtol=1e-12)


def test_chunks_hold_a_quarter_of_the_memory():
    operator = lm.kernel(POINTS, lm.rbf(), memory=2**20)
    assert operator._chunks(700, 700) == [
        (a, min(700, a + 46)) for a in range(0, 700, 46)
    ]  # 2**18 bytes of rows of 5600
    assert operator._chunks(0, 700) == [(0, 0)] and operator._chunks(3, 10**9) == [
        (0, 1),
        (1, 2),
        (2, 3),
    ]


def test_new_points_are_checked_against_those_of_the_kernel():
    operator = lm.kernel(POINTS + 5.0, lm.rbf(2.0))
    np.testing.assert_allclose(
        new_rows(operator, POINTS[:2] + 5.5, [3, 4]),
        lm.rbf(2.0)(POINTS[:2] + 0.5, POINTS[3:5]),
        rtol=1e-10,
    )
    with pytest.raises(ValueError, match="points must have 3 columns as the kernel's do, got 2"):
        new_rows(operator, POINTS[:, :2], [0])


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


def test_the_first_eight_landmarks_show_whether_any_represents_another():
    far = 100.0 * np.arange(9.0)[:, None]
    points = np.concatenate([far, far[8:] + 1e-3])
    operator = lm.kernel(points, lm.rbf())
    with pytest.warns(UserWarning, match="the landmarks represent no other point"):
        warn_about(operator, np.arange(9))
    warn_about(operator, np.array([8, *range(8)]))


def test_chunked_products_can_be_asked_for_anywhere():
    operator = lm.kernel(POINTS, lm.rbf(), engine="chunked")
    assert operator.engine == "chunked"
    np.testing.assert_array_equal(
        operator.columns([0, 2]), lm.kernel(POINTS, lm.rbf()).columns([0, 2])
    )


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


def test_asking_for_the_error_of_products_reads_nothing():
    K = lm.kernel(np.eye(5), lm.rbf(1.0))
    assert K.product_error < 1e-14
    assert K.ledger.entries == 0


def test_an_operator_that_says_nothing_else_rounds_as_its_dtype():
    assert lm.data(np.eye(3, dtype=np.float32)).product_error == np.finfo(np.float32).eps
    assert lm.psd(np.eye(3)).product_error == np.finfo(np.float64).eps


def test_a_restriction_passes_on_the_error_of_its_products():
    K = lm.kernel(np.random.default_rng(0).standard_normal((30, 2)), lm.rbf(0.01))
    part = Restricted(K, [1, 5, 9])
    assert part.product_error == K.product_error > np.finfo(np.float64).eps


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
        host(new_rows(own.restrict([9, 3]), points, [0, 1])),
        host(kind(widths)(points, xp.asarray(POINTS[[9, 3]]))),
        atol=1e-12,
    )


def test_widths_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="2 widths, but the points have 3 coordinates"):
        lm.kernel(POINTS, lm.rbf(sigma=[1.0, 2.0]))
    for wrong in ([1.0, 0.0, 1.0], [], [[1.0, 2.0, 3.0]], "wide", [1.0, np.nan, 1.0]):
        with pytest.raises(ValueError, match="positive number, or one for each coordinate"):
            lm.matern(sigma=wrong)
