"""A matrix known by its product with a block: a function, or a SciPy LinearOperator."""

from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _check
from .._array import (
    Array,
    Indices,
    Part,
    as_single,
    host,
    is_array,
    is_single,
    like,
    namespace,
    prototype,
    scatter,
    shares_memory,
    take,
)
from ..errors import NotPSDError, warn_user
from .base import MEMORY, Operator, block_width, blocks, validate


class Function(Operator):
    """The operator of a black-box product; a column costs one product, the diagonal n of them."""

    def __init__(
        self, mvm: Callable[[Array], Array], n: int, *, like: Array, diagonal: Array | None = None
    ):
        super().__init__(n, like)
        self.mvm = mvm
        self.trusted = False
        self._diagonal = diagonal
        self.cheap = frozenset() if diagonal is None else frozenset({"diagonal"})

    #: whether the product, declared float64, has the digits of float32 only; `validate` finds out
    rounded_to_single: bool = False

    @property
    def digits(self) -> Array:
        return as_single(self.like) if self.rounded_to_single else self.like

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        full = block if cols is None else scatter(block, cols, self.n)
        product = self._checked(self.mvm(full), full)
        self.ledger.add(products=block.shape[1], entries=self.n * self.n)
        product = _check.scaled(product, self.exponent)
        return product if rows is None else take(product, rows)

    def _checked(self, product: Any, block: Array) -> Array:
        name = getattr(self.mvm, "__name__", type(self.mvm).__name__)
        if not is_array(product) or namespace(product) is not namespace(block):
            raise TypeError(
                f"the product {name} must return an array of the kind it was given, got "
                f"{type(product).__name__}"
            )
        if tuple(product.shape) != tuple(block.shape):
            raise ValueError(
                f"the product {name} must map a block of shape {tuple(block.shape)} to the same "
                f"shape, got {tuple(product.shape)}"
            )
        if product.dtype != block.dtype:
            raise TypeError(
                f"the product {name} must keep the dtype {block.dtype}, got {product.dtype}; pass "
                "dtype= to function() to change it"
            )
        if shares_memory(product, block):
            raise ValueError(
                f"the product {name} must return a new array, not its argument or a view of it"
            )
        xp = namespace(product)
        if not bool(xp.all(xp.isfinite(product))):
            raise ValueError(
                f"the product {name} returned NaN or infinity after {self.ledger.products} good "
                "products"
            )
        return product

    def diagonal(self) -> Array:
        if self._diagonal is not None:
            self.ledger.add(entries=self.n)
            return _check.scaled(self._diagonal, self.exponent)
        xp = namespace(self.like)
        parts = []
        for block in blocks(self.n, block_width(self, MEMORY // 4)):
            parts.append(xp.linalg.diagonal(self.matmul(unit_vectors(block, self), rows=block)))
        return xp.concat(parts)

    def columns(self, indices: Indices) -> Array:
        self.ledger.add(columns=len(indices))
        return self.matmul(unit_vectors(indices, self))


def function(
    mvm: Any,
    n: int | None = None,
    *,
    diagonal: Any = None,
    dtype: Any = None,
    like: Array | None = None,
    check_symmetric: bool = True,
) -> Function:
    """The operator of a black-box product with a positive semidefinite matrix.

    Parameters
    ----------
    mvm : maps an n × b block V to the block K V, for any b; or a SciPy LinearOperator.
    n : the number of candidates; not needed for a LinearOperator.
    diagonal : the diagonal of K if it is known; it saves n products in the methods that need it.
    dtype : the NumPy dtype of the blocks passed to mvm; float64 by default.
    like : an array of another library or device, if mvm takes blocks of that kind.
    check_symmetric : whether a selection first uses four products to test that K is symmetric and
        that its products are deterministic, and to find its scale. Entries near 1e200 or 1e-200
        need this.

    Returns
    -------
    Operator
        The matrix behind the product, to be passed to `select`.

    Examples
    --------
    >>> K = np.diag([3.0, 2.0, 1.0])
    >>> lm.function(lambda V: K @ V, n=3)
    Function(n=3, dtype=float64)
    """
    if hasattr(mvm, "matmat") and hasattr(mvm, "shape"):
        if mvm.shape[0] != mvm.shape[1]:
            raise ValueError(
                f"the LinearOperator must be square, got shape {mvm.shape}; for columns of X pass "
                "X.T @ X as an operator"
            )
        n = mvm.shape[0]
        dtype = dtype or mvm.dtype
        mvm = mvm.matmat
    if not callable(mvm):
        raise TypeError(
            "mvm must be a function that multiplies a block by K, or a SciPy LinearOperator, got "
            f"{type(mvm).__name__}"
        )
    if n is None or isinstance(n, bool) or int(n) != n or n < 1:
        raise ValueError(f"n must be a positive integer, the order of the matrix, got {n!r}")
    reference = np.zeros(0, dtype=_real(dtype)) if like is None else prototype(like)
    operator = Function(
        mvm,
        int(n),
        like=reference,
        diagonal=None if diagonal is None else _known(diagonal, n, reference),
    )
    operator.trusted = not check_symmetric
    return operator


def _known(diagonal: Any, n: int, reference: Array) -> Array:
    values = host(diagonal)
    if values.shape != (n,):
        raise ValueError(f"diagonal must have length n = {n}, got shape {values.shape}")
    _check.finite(values, "diagonal")
    if values.min() < 0:
        raise NotPSDError(
            "the diagonal of a positive semidefinite matrix has no negative entry, got "
            f"{values.min():.3g} at {values.argmin()}"
        )
    return like(values, reference)


def _real(dtype: Any) -> Any:
    dtype = np.dtype(dtype or np.float64)
    if dtype.kind == "c":
        raise ValueError(f"Complex data not supported: the product is {dtype}")
    return dtype if dtype in (np.dtype(np.float32), np.dtype(np.float64)) else np.dtype(np.float64)


SINGLE = 1e-7  # if two equal products differ by less than this, they were computed in float32


@validate.register
def _probe(operator: Function) -> None:
    """Test symmetry and definiteness with three products, and determinism with a fourth; once."""
    if operator.trusted:
        return
    operator.trusted = True
    # Gaussian vectors: sign vectors may all be orthogonal to a K of low rank
    U = np.random.default_rng(0).standard_normal((operator.n, 3))
    KU = host(operator.matmul(like(U, operator.like))).astype(np.float64)
    operator.exponent = _check.exponent(float(np.max(np.abs(KU))), operator.like)
    KU = _check.scaled(KU, operator.exponent)
    products = U.T @ KU
    scale = np.max(np.linalg.norm(KU, axis=0)) * np.sqrt(operator.n) or 1.0
    asymmetry = float(np.max(np.abs(products - products.T))) / scale
    again = host(operator.matmul(like(U[:, :1], operator.like))).astype(np.float64)
    change = float(np.linalg.norm(again - KU[:, :1])) / scale
    if 100 * np.finfo(np.float64).eps < change < SINGLE:
        operator.rounded_to_single = True
    tolerance = 1e-5 if is_single(operator.digits) else 1e-9
    if change > tolerance / 10:
        warn_user(
            "the product is not deterministic: two products with one vector differ by "
            f"{change:.2g} of ‖Kv‖√n; no seed can make its selections repeat"
        )
        return  # a product that changes between calls hides whether it is symmetric
    if asymmetry > tolerance:
        raise ValueError(
            "the product must be one with a symmetric matrix, but uᵀKv and vᵀKu differ by "
            f"{asymmetry:.2g} of ‖Kv‖√n for random vectors u, v; check it, or pass "
            "check_symmetric=False to function()"
        )
    if (least := float(np.min(np.diag(products)))) < -tolerance * scale:
        raise NotPSDError(
            "the product must be one with a positive semidefinite matrix, but uᵀKu = "
            f"{least:.3g} for a random vector u"
        )


def unit_vectors(indices: Indices, operator: Operator) -> Array:
    """The columns of the identity at the indices."""
    indices = np.asarray(indices)
    vectors = np.zeros((operator.n, len(indices)))
    vectors[indices, np.arange(len(indices))] = 1.0
    return like(vectors, operator.like)
