"""What every operator promises: it equals its dense matrix, keeps the dtype and counts its use."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from contracts.operators import CASES, OPERATORS, SPELLINGS, Case
from libraries import library

import landmarks as lm
from landmarks._array import host, namespace
from landmarks.operators.base import Operator
from landmarks.operators.diagonals import squared_diagonal
from landmarks.operators.forms import densify

pytestmark = pytest.mark.thorough

PAIRS = [
    pytest.param((case, name), id=f"{case.name}-{name}")
    for case in OPERATORS
    for name in case.libraries
]
# NumPy shows what float32 does to the formulas, torch that it is kept, strict which names are used.
DTYPES = {"numpy": ("float64", "float32"), "torch": ("float32",), "strict": ("float64",)}


def variants(cases: list[Case]) -> list[Any]:
    """Each case on its libraries and their dtypes."""
    return [
        pytest.param((case, name, dtype), id=f"{case.name}-{name}-{dtype}")
        for case in cases
        for name in case.libraries
        for dtype in DTYPES[name]
    ]


WRITTEN_OTHERWISE = [case for case in CASES if case.name in SPELLINGS]
ROWS, COLS = [4, 0, 5], [1, 3, 2, 0]


def arrays(xp: Any, values: np.ndarray, dtype: str) -> Any:
    return xp.asarray(values.copy(), dtype=getattr(xp, dtype))


def block(operator: Operator, rows: int, width: int) -> tuple[Any, np.ndarray]:
    values = np.random.default_rng(rows + width).standard_normal((rows, width))
    xp = namespace(operator.like)
    return xp.asarray(values, dtype=operator.like.dtype), values


def operator_and_matrix(case: Case, name: str, dtype: str) -> tuple[Operator, np.ndarray]:
    return case.make(arrays(library(name), case.values, dtype)), case.dense(case.values)


@pytest.fixture(params=variants(OPERATORS))
def made(request: pytest.FixtureRequest) -> tuple[Operator, np.ndarray]:
    """An operator and its dense matrix."""
    return operator_and_matrix(*request.param)


@pytest.fixture(params=OPERATORS, ids=lambda case: case.name)
def once(request: pytest.FixtureRequest) -> tuple[Operator, np.ndarray]:
    """The same on NumPy alone, for what no library or dtype can change."""
    return operator_and_matrix(request.param, "numpy", "float64")


def agree(actual: Any, expected: np.ndarray, operator: Operator) -> None:
    """Equal up to a few hundred roundings of the largest entry, with the same library and dtype."""
    assert actual.dtype == operator.like.dtype
    assert namespace(actual) is namespace(operator.like)
    tolerance = 1e-12 if "64" in str(actual.dtype) else 1e-4
    np.testing.assert_allclose(
        host(actual),
        expected,
        rtol=0,
        atol=tolerance * max(1.0, float(np.max(np.abs(expected), initial=0.0))),
    )


def test_product_is_that_of_the_dense_matrix(made):
    operator, K = made
    for width in (1, 3):
        V, values = block(operator, operator.n, width)
        agree(operator.matmul(V), K @ values, operator)


def test_rectangular_product_is_that_of_the_submatrix(made):
    operator, K = made
    everything = np.arange(operator.n)
    for rows, cols in [(ROWS, None), (None, COLS), (ROWS, COLS), ([2], [3])]:
        part = K[np.ix_(everything if rows is None else rows, everything if cols is None else cols)]
        V, values = block(operator, part.shape[1], 2)
        agree(operator.matmul(V, rows=rows, cols=cols), part @ values, operator)


def test_diagonal_is_that_of_the_dense_matrix(made):
    operator, K = made
    agree(operator.diagonal(), np.diag(K), operator)


def test_columns_are_those_of_the_dense_matrix(made):
    operator, K = made
    for indices in ([5, 0, 3], [4], []):
        agree(operator.columns(np.asarray(indices, dtype=np.int64)), K[:, indices], operator)


def test_all_columns_are_the_dense_matrix(made):
    operator, K = made
    agree(densify(operator), K, operator)


@pytest.mark.parametrize("variant", variants(WRITTEN_OTHERWISE))
def test_another_format_or_formula_is_its_dense_matrix(variant):
    operator, K = operator_and_matrix(*variant)
    V, values = block(operator, operator.n, 3)
    agree(operator.matmul(V), K @ values, operator)
    agree(operator.diagonal(), np.diag(K), operator)
    agree(densify(operator), K, operator)


def test_squared_diagonal_holds_the_squared_norms_of_the_columns(made):
    operator, K = made
    agree(squared_diagonal(operator), np.sum(K**2, axis=0), operator)


def test_restriction_is_the_principal_submatrix(made):
    operator, K = made
    part = operator.restrict(COLS)
    assert part.n == len(COLS)
    agree(densify(part), K[np.ix_(COLS, COLS)], part)
    agree(part.diagonal(), np.diag(K)[COLS], part)


def test_restriction_after_use_and_of_a_restriction(made):
    operator, K = made
    operator.matmul(block(operator, operator.n, 1)[0])
    part = operator.restrict(COLS).restrict([2, 0])
    inside = [COLS[2], COLS[0]]
    V, values = block(part, 2, 3)
    agree(part.matmul(V), K[np.ix_(inside, inside)] @ values, part)


def test_factor_gives_the_matrix_back(made):
    operator, K = made
    if operator.m is None:
        with pytest.raises(TypeError, match="has no factor"):
            operator.factor()
    else:
        X = operator.factor()
        assert X.shape == (operator.m, operator.n)
        agree(X.T @ X, K, operator)
        agree(operator.factor([3, 1]), host(X)[:, [3, 1]], operator)


def test_ledger_counts_products_and_columns_also_of_restrictions(once):
    operator, _ = once
    operator.matmul(block(operator, operator.n, 3)[0])
    operator.restrict(COLS).matmul(block(operator, 4, 2)[0])
    assert (operator.ledger.products, operator.ledger.columns) == (5, 0)
    before = operator.ledger.snapshot()
    operator.columns(ROWS)
    assert operator.ledger.since(before)["columns"] == 3
    assert operator.ledger.since(before)["products"] in (
        0,
        3,
    )  # a black box has no columns but by products
    assert operator.ledger.since(before)["entries"] > 0


def test_repr_names_the_class_and_the_order(once):
    operator, _ = once
    assert repr(operator).startswith(f"{type(operator).__name__}(n={operator.n}, dtype=")


@pytest.mark.parametrize("pair", PAIRS)
def test_input_is_never_written_to(pair):
    case, name = pair
    values = arrays(library(name), case.values, "float64")
    use_everything(case.make(values))
    np.testing.assert_array_equal(host(values), case.values)


@pytest.mark.parametrize("case", OPERATORS, ids=lambda case: case.name)
def test_read_only_input_is_accepted(case: Case):
    values = case.values.copy()
    values.flags.writeable = False
    use_everything(case.make(values))


def use_everything(operator: Operator) -> None:
    selection = lm.select(operator, 1, method="greedy")
    selection.lower_bound("trace"), selection.error("frobenius"), selection.nystrom().factor
    operator.restrict(COLS).columns([0])


@pytest.mark.parametrize("pair", PAIRS)
def test_first_pick_of_greedy_has_the_largest_gain_of_the_dense_matrix(pair):
    case, name = pair
    operator = case.make(arrays(library(name), case.values, "float64"))
    chosen = lm.select(operator, 1, method="greedy").indices[0]
    K = case.dense(case.values)
    gains = np.sum(K**2, axis=0) / np.diag(K)
    assert gains[chosen] == pytest.approx(gains.max(), rel=1e-10)
