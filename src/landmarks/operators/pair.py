"""What a search works on: K, how much the residual of each column counts, and the noise.

The error of a choice S of the candidates is Σ ω_j C_jj with C = K − K_:S (K_SS + N)⁻¹ K_S:. K may
have more columns than there are candidates: a target is appended to the data, and its columns are
those that count. So a target, weights, extreme scales and noise are the same problem with other ω
and N, and G = K + N and Q = K Ω K, at the candidates, are its pair of matrices.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import scipy.sparse

from .._array import (
    Array,
    Indices,
    Part,
    host,
    is_single,
    like,
    namespace,
    positions,
    take,
    zeros,
)
from .._remembered import Remembered
from .base import (
    STORED,
    Derived,
    Operator,
    block_width,
    blocks,
    remade_in_double,
    stored_up_to,
)
from .dense import Data, Dense
from .diagonals import cubed_diagonal, squared_diagonal
from .forms import Factored, gram_powers, readable, searchable
from .sparse import Sparse

FAR = 200  # binary orders by which lengths may differ before columns are scaled


@dataclass(frozen=True, eq=False)
class Pair:
    """K with weights ω and variances ν of its columns, of which the first n may be chosen.

    operator : K, of order n or more.
    n : the number of candidates.
    weights : ω on the host; None where every column counts once.
    noise : ν on the host, zero at columns that are no candidates; None where there is none.
    repeats : whether a candidate may be chosen more than once; each time is a new measurement.
    """

    operator: Operator
    n: int
    weights: np.ndarray | None = None
    noise: np.ndarray | None = None
    repeats: bool = False
    _powers: list[Array] = field(default_factory=list, init=False)
    _diagonals: dict[int, list[Array]] = field(default_factory=dict, init=False)
    _searched: dict[int, Pair] = field(default_factory=dict, init=False)

    @property
    def standard(self) -> bool:
        """Whether Ω = I and N = 0: all columns count once and nothing is noisy."""
        return self.weights is None and self.noise is None

    def searchable(self, k: int) -> Pair:
        """The same with K in the form that a search for k columns works on."""
        if k not in self._searched:
            self._searched[k] = replace(self, operator=searchable(self.operator, k))
        return self._searched[k]

    def readable(self, k: int) -> Pair:
        """The same with K in the form for a method that reads k of its columns."""
        return replace(self, operator=readable(self.operator, k))

    @cached_property
    def omega(self) -> Array | None:
        """ω in the library of K."""
        return None if self.weights is None else like(self.weights, self.operator.like)

    @cached_property
    def variances(self) -> Array | None:
        """ν in the library of K."""
        return None if self.noise is None else like(self.noise, self.operator.like)

    def weighed(self, block: Array) -> Array:
        """ω times the rows of a block, or the entries of a vector."""
        if self.omega is None:
            return block
        return block * self.omega if block.ndim == 1 else block * self.omega[:, None]

    def dot(self, x: Array, y: Array) -> Array:
        """Σ ω_j x_j y_j."""
        return namespace(x).sum(self.weighed(x) * y)

    def total(self, diagonal: Array) -> float:
        """Σ ω_j of a diagonal, in float64."""
        values = host(diagonal).astype(np.float64, copy=False)
        return float(values.sum() if self.weights is None else self.weights @ values)

    def pivots(self, diagonal: Array) -> Array:
        """The squared lengths of fresh measurements: diag C + ν."""
        return diagonal if self.variances is None else diagonal + self.variances

    def diagonals(self, depth: int) -> list[Array]:
        """diag K, diag KΩK and, for depth 2, diag KΩKΩK."""
        operator = self.operator
        if isinstance(operator, Factored):
            if depth not in self._diagonals:
                self._diagonals[depth] = gram_powers(operator.X, depth, self.omega)
            return self._diagonals[depth]
        diagonal = namespace(operator.like).clip(operator.diagonal(), min=0.0)
        if depth == 0:
            return [diagonal]
        if self.weights is None:
            cubes = [cubed_diagonal(operator)] if depth == 2 else []  # K² comes with it
            return [diagonal, squared_diagonal(operator), *cubes]
        if depth not in self._diagonals:  # sums over the columns that count
            counted = np.flatnonzero(self.weights)
            found = [zeros((operator.n,), operator.like) for _ in range(depth)]
            for block in blocks(len(counted), block_width(operator)):
                columns = operator.columns(counted[block])
                own = like(self.weights[counted[block]], columns)
                found[0] = found[0] + (columns * columns) @ own
                if depth == 2:
                    image = operator.matmul(self.weighed(columns))
                    found[1] = found[1] + (columns * image) @ own
            self._diagonals[depth] = found
        return [diagonal, *self._diagonals[depth]]

    def powers(self, count: int) -> list[Array]:
        """K, KΩK, …, so many matrices of a stored K; each is formed once."""
        if not isinstance(self.operator, Dense):
            raise TypeError(f"only a stored K has powers, this is {self.operator!r}")
        if self.weights is None:
            return self.operator.powers(count)
        counted, K, found = np.flatnonzero(self.weights), self.operator.K, self._powers
        found += [K] if not found else []
        while len(found) < count:
            left = take(found[-1], counted, axis=1) * take(self.omega, counted)[None, :]
            found.append(left @ take(K, counted))
        return found[:count]


_scaled: Remembered[Operator, tuple[Operator, np.ndarray | None]] = Remembered()


def pair_of(
    operator: Operator,
    n: int,
    weights: np.ndarray | None,
    noise: np.ndarray | None,
    repeats: bool,
) -> Pair:
    """The pair, with candidates brought to similar lengths where squares would leave the range.

    A candidate times 2^-e is chosen as before if its column counts 4^e times as much, and powers of
    two round nothing.
    """
    if operator not in _scaled:
        _scaled[operator] = scaled_far(operator, n)
    operator, powers = _scaled[operator]
    if powers is not None:
        counted = np.ones(operator.n) if weights is None else weights
        weights = np.ldexp(counted, 2 * powers)
        noise = None if noise is None else np.ldexp(noise, -2 * powers)
    return Pair(operator, n, weights, noise, repeats)


def scaled_far(operator: Operator, n: int) -> tuple[Operator, np.ndarray | None]:
    """The operator of the columns times 2^-e, and e; itself and None where none is extreme."""
    if isinstance(operator, Dense):
        largest = np.sqrt(np.maximum(host(operator.diagonal()).astype(np.float64), 0.0))
    elif isinstance(operator, Data):
        xp = namespace(operator.X)
        highest, lowest = xp.max(operator.X, axis=0), xp.min(operator.X, axis=0)
        largest = host(xp.maximum(highest, -lowest)).astype(np.float64)
    elif isinstance(operator, Sparse):
        largest = abs(operator.X).max(axis=0).toarray().ravel().astype(np.float64)
    else:
        return operator, None
    exponents = np.clip(np.frexp(largest)[1], -1000, 1000)  # so that their powers are finite
    exponents = np.where((largest > 0) & (np.arange(operator.n) < n), exponents, 0)
    if np.max(np.abs(exponents), initial=0) <= FAR:
        return operator, None
    return rescaled(operator, np.ldexp(1.0, -exponents)), exponents


def rescaled(operator: Operator, d: np.ndarray) -> Operator:
    """D K D in float64 where that can be made; stored columns of data are multiplied by d."""
    if is_single(operator.like):
        operator = remade_in_double(operator) or operator
    if type(operator) is Data:
        return operator.of(operator.X * like(d, operator.X)[None, :])
    if isinstance(operator, Sparse):
        X = operator.X.copy()
        X.data = X.data * np.repeat(d, np.diff(X.indptr))
        return operator.of(X)
    if isinstance(operator, Dense):
        D = like(d, operator.K)
        return operator.of(D[:, None] * operator.K * D[None, :])
    return Scaled(operator, d)


class Scaled(Derived):
    """D K D with a diagonal D, through the products of K."""

    def __init__(self, parent: Operator, d: np.ndarray):
        super().__init__(parent, parent.n)
        self.d = like(d, parent.like)

    def _at(self, part: Part) -> Array:
        return self.d if part is None else take(self.d, np.asarray(part))

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        product = self.parent.matmul(self._at(cols)[:, None] * block, rows=rows, cols=cols)
        return self._at(rows)[:, None] * product

    def diagonal(self) -> Array:
        return self.d * self.d * self.parent.diagonal()

    def columns(self, indices: Indices) -> Array:
        return self.d[:, None] * self.parent.columns(indices) * self._at(indices)[None, :]

    def restrict(self, indices: Indices) -> Operator:
        inside = np.asarray(indices)
        return Scaled(self.parent.restrict(inside), host(take(self.d, inside)))


@remade_in_double.register
def _scaled_in_double(operator: Scaled) -> Operator | None:
    parent = remade_in_double(operator.parent)
    return None if parent is None else Scaled(parent, host(operator.d).astype(np.float64))


stored_up_to.register(Scaled, lambda operator: stored_up_to(operator.parent))


class Joint(Derived):
    """EᵀKE with E = [I V]: the columns of K and the combinations V of them."""

    def __init__(self, parent: Operator, V: np.ndarray):
        super().__init__(parent, parent.n + V.shape[1])
        self.V = like(V, parent.like)

    @cached_property
    def KV(self) -> Array:
        """K V."""
        return self.parent.matmul(self.V)

    @cached_property
    def inner(self) -> Array:
        """VᵀKV."""
        return self.V.T @ self.KV

    def matmul(self, block: Array, rows: Part = None, cols: Part = None) -> Array:
        xp, n = namespace(block), self.parent.n
        full = block
        if cols is not None:
            full = zeros((self.n, block.shape[1]), block)
            for i, j in enumerate(np.asarray(cols)):
                full[int(j), :] = full[int(j), :] + block[i, :]
        image = self.parent.matmul(full[:n, :] + self.V @ full[n:, :])
        product = xp.concat([image, self.V.T @ image])
        return product if rows is None else take(product, rows)

    def diagonal(self) -> Array:
        own = namespace(self.like).linalg.diagonal(self.inner)
        return namespace(self.like).concat([self.parent.diagonal(), own])

    def columns(self, indices: Indices) -> Array:
        indices = np.asarray(indices, dtype=np.int64)
        xp, n = namespace(self.like), self.parent.n
        first, last = indices < n, indices >= n
        found = zeros((self.n, len(indices)), self.like)
        if np.any(first):
            K = self.parent.columns(indices[first])
            below = take(self.KV, indices[first]).T
            found[:, positions(np.flatnonzero(first), found)] = xp.concat([K, below])
        if np.any(last):
            j = indices[last] - n
            found[:, positions(np.flatnonzero(last), found)] = xp.concat(
                [take(self.KV, j, axis=1), take(self.inner, j, axis=1)]
            )
        return found


@remade_in_double.register
def _joint_in_double(operator: Joint) -> Operator | None:
    parent = remade_in_double(operator.parent)
    return None if parent is None else Joint(parent, host(operator.V).astype(np.float64))


stored_up_to.register(Joint, lambda operator: stored_up_to(operator.parent) or STORED)


def appended(operator: Operator, B: np.ndarray) -> Operator:
    """The operator of the columns of X and of B, in double where single would round B."""
    if is_single(operator.like) and not np.array_equal(B.astype(np.float32), B):
        operator = remade_in_double(operator) or operator
    if isinstance(operator, Sparse):
        X = scipy.sparse.hstack([operator.X, scipy.sparse.csc_array(B)], format="csc")
        return Sparse(X, exponent=operator.exponent, ledger=operator.ledger)
    X = operator.factor()
    both = namespace(X).concat([X, like(B, X)], axis=1)
    return Data(both, exponent=operator.exponent, ledger=operator.ledger)
