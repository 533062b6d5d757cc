"""A black-box product: what it must return, and what is counted."""

import numpy as np
import pytest
import scipy.sparse.linalg

import landmarks as lm
from landmarks.errors import NotPSDError

K = np.diag([3.0, 2.0, 1.0, 4.0]) + 0.1


def product(answer):
    return lm.function(answer, n=4).matmul(np.ones((4, 2)))


def named(V):
    return None


def test_fault_27_wrong_answers_are_named():
    with pytest.raises(
        TypeError,
        match="the product named must return an array of the kind it was given, got NoneType",
    ):
        product(named)
    with pytest.raises(TypeError, match="got list"):
        product(lambda V: V.tolist())
    with pytest.raises(
        ValueError, match=r"must map a block of shape \(4, 2\) to the same shape, got \(4,\)"
    ):
        product(lambda V: K @ V[:, 0])
    with pytest.raises(ValueError, match=r"got \(2, 4\)"):
        product(lambda V: (K @ V).T)
    with pytest.raises(TypeError, match="must keep the dtype float64, got float32; pass dtype="):
        product(lambda V: (K @ V).astype(np.float32))
    with pytest.raises(ValueError, match="returned NaN or infinity after 0 good products"):
        product(lambda V: K @ V * np.nan)


@pytest.mark.parametrize("view", [lambda V: V, lambda V: V[:, :], lambda V: V[:, ::-1]])
def test_a_view_of_the_argument_is_refused(view):
    with pytest.raises(
        ValueError, match="must return a new array, not its argument or a view of it"
    ):
        product(view)


def test_a_view_of_the_argument_is_refused_in_torch():
    torch = pytest.importorskip("torch", reason="needs torch")
    with pytest.raises(ValueError, match="must return a new array"):
        lm.function(lambda V: V.view(4, 2), n=4, like=torch.zeros(0)).matmul(torch.ones((4, 2)))


def test_fault_28_nan_at_a_later_call_says_how_many_were_good():
    answers = iter([K, K, K * np.nan])
    operator = lm.function(lambda V: next(answers) @ V, n=4)
    operator.matmul(np.ones((4, 2))), operator.matmul(np.ones((4, 3)))
    with pytest.raises(ValueError, match="after 5 good products"):
        operator.matmul(np.ones((4, 1)))


def test_fault_29_an_exception_of_the_product_passes_through():
    def broken(V):
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        lm.select(lm.function(broken, n=4), 2, method="greedy")


def test_linear_operator_is_taken_as_it_is():
    A = scipy.sparse.linalg.aslinearoperator(K)
    assert lm.select(A, 2, method="greedy").indices.tolist() == [3, 0]


def test_function_says_what_is_wrong_with_its_arguments():
    with pytest.raises(
        TypeError, match="A is a function; say how large its matrix is with lm.function"
    ):
        lm.select(lambda V: V, 2)
    with pytest.raises(
        TypeError,
        match="mvm must be a function that multiplies a block by K, or a SciPy "
        "LinearOperator, got list",
    ):
        lm.function([1.0], n=3)
    for n in (None, 0, -1, 2.5, True):
        with pytest.raises(
            ValueError, match=f"n must be a positive integer, the order of the matrix, got {n!r}"
        ):
            lm.function(lambda V: V, n=n)
    with pytest.raises(ValueError, match=r"diagonal must have length n = 4, got shape \(3,\)"):
        lm.function(lambda V: V, n=4, diagonal=np.ones(3))
    with pytest.raises(ValueError, match="Input diagonal contains NaN"):
        lm.function(lambda V: V, n=2, diagonal=[1.0, np.nan])
    with pytest.raises(NotPSDError, match="no negative entry, got -1 at 1"):
        lm.function(lambda V: V, n=2, diagonal=[1.0, -1.0])
    with pytest.raises(ValueError, match=r"LinearOperator must be square, got shape \(3, 4\)"):
        lm.function(scipy.sparse.linalg.aslinearoperator(np.ones((3, 4))))
    with pytest.raises(ValueError, match="Complex data not supported"):
        lm.function(scipy.sparse.linalg.aslinearoperator(K * 1j))


def test_a_product_with_an_asymmetric_matrix_is_distinguished():
    rng = np.random.default_rng(0)
    K = np.cov(rng.standard_normal((20, 40)))
    lm.select(lm.function(lambda V: K @ V, n=20), 2, method="uniform")
    skewed = K + 0.01 * np.triu(rng.standard_normal((20, 20)))
    with pytest.raises(ValueError, match="symmetric matrix, but"):
        lm.select(lm.function(lambda V: skewed @ V, n=20), 2, method="uniform")
    lm.select(lm.function(lambda V: skewed @ V, n=20, check_symmetric=False), 2, method="uniform")


def test_a_product_with_a_negative_matrix_is_distinguished():
    with pytest.raises(NotPSDError, match="positive semidefinite"):
        lm.select(lm.function(lambda V: -1.0 * V, n=4), 2, method="uniform")


def test_data_orthogonal_to_all_signs_are_neither_called_random_nor_asymmetric():
    x = np.array([2.0409193, 2.0409193, -2.55566502, -2.55566502])
    assert (
        lm.select(
            lm.function(lambda V: np.outer(x, x) @ V, n=4), 1, method="greedy"
        ).relative_error()
        < 1e-12
    )


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float32, 1e-6), (np.float64, 1e-10)])
def test_symmetry_is_asked_for_up_to_the_rounding_of_the_type(dtype, rounding):
    def skewed(amount):
        A = (K + amount * np.triu(np.ones((4, 4)), 1)).astype(dtype)
        return lm.function(lambda V: A @ V, n=4, dtype=dtype)

    lm.select(skewed(rounding), 2)
    with pytest.raises(ValueError, match="must be one with a symmetric matrix"):
        lm.select(skewed(1000 * rounding), 2)


@pytest.mark.parametrize(
    ("dtype", "expected"), [(None, "f8"), ("i8", "f8"), ("f2", "f8"), ("f4", "f4"), ("f8", "f8")]
)
def test_a_product_is_in_single_or_double_precision(dtype, expected):
    assert lm.function(lambda V: K @ V, n=4, dtype=dtype).like.dtype == np.dtype(expected)
    if dtype is not None:
        assert lm.function(
            scipy.sparse.linalg.aslinearoperator(K.astype(dtype))
        ).like.dtype == np.dtype(expected)


def test_a_known_diagonal_is_given_in_the_units_of_the_operator():
    large = lm.function(lambda V: 2.0**400 * (K @ V), n=4, diagonal=2.0**400 * np.diag(K))
    assert lm.select(large, 2, method="greedy").error() == pytest.approx(
        2.0**400 * lm.select(lm.psd(K), 2, method="greedy").error()
    )
    assert large.exponent > 300 and large.diagonal() == pytest.approx(
        np.diag(K) * 2.0 ** (400 - large.exponent)
    )


def test_four_products_test_a_black_box_once():
    operator = lm.function(lambda V: K @ V, n=4)
    assert lm.select(operator, 2, method="uniform").ledger.products == 0
    lm.select(operator, 2, method="uniform")
    assert operator.ledger.products == 4
    trusted = lm.function(lambda V: K @ V, n=4, check_symmetric=False)
    lm.select(trusted, 2, method="uniform")
    assert trusted.ledger.products == 0
