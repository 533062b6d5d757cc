"""Coefficients that rebuild every column from the chosen ones, how well, and what each one adds."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._array import (
    Array,
    Indices,
    host,
    like,
    represented,
    rounded_before,
    solve_triangular,
    take,
)
from .._shown import ShownAsBars, Table, pandas
from ..operators.base import Operator
from ..operators.dense import Data
from ..readers.frames import frame_values, numbers_only, taken, unpacked
from .nystrom import pivoted_cholesky
from .rebuilding import pivoted


@dataclass(frozen=True, eq=False, repr=False)
class Reconstruction(ShownAsBars):
    """X ≈ X_S B by least squares; for a kernel X holds the images of the points, so that K = XᵀX.

    Parameters
    ----------
    indices : the k chosen columns S, in order of choice.
    coefficients : the k × n matrix B; each chosen column rebuilds itself exactly.
    r2 : the share of the sum of squares of each of the n columns that is rebuilt, from 0 to 1; 1
        for a column of zeros.
    losses : how much ‖X − X_S B‖²_F would rise without each chosen column; 0 if the other chosen
        columns can replace it.
    names : of the n columns, when the data have names.
    ridge : the penalty on the squares of the coefficients, in the units of K.
    chosen_names : names or indices of the chosen columns, if something other than the n columns is
        rebuilt.

    With a target B has a column for each of its columns, and so has r2.

    Examples
    --------
    >>> X = np.array([[1.0, 0.0, 2.0, 1.0], [0.0, 1.0, 3.0, 0.0], [0.0, 0.0, 0.0, 1.0]])
    >>> rebuilt = lm.select(X, 2, scale=False, include=[0, 1]).reconstruction()
    >>> rebuilt.coefficients.round(2)
    array([[1., 0., 2., 1.],
           [0., 1., 3., 0.]])
    >>> rebuilt.r2.round(2)
    array([1. , 1. , 1. , 0.5])
    """

    indices: np.ndarray
    coefficients: np.ndarray
    r2: np.ndarray
    losses: np.ndarray
    names: tuple[str, ...] | None = field(default=None, repr=False)
    ridge: float = 0.0
    chosen_names: tuple[Any, ...] | None = field(default=None, repr=False)

    def rebuild(self, chosen: Array) -> Array:
        """All columns, or the target, from the k chosen ones, in the order of `indices`.

        The rows may be new. A data frame may have other columns too: the chosen ones are found by
        their names. Data that were centred or scaled are rebuilt as such.
        """
        if (table := unpacked(chosen)).kind == "frame":
            asked = self.chosen_names
            if asked is None and self.names is not None:
                asked = tuple(self.names[j] for j in self.indices)
            chosen, own = table.values, table.names or ()
            if asked is not None and all(own.count(str(name)) == 1 for name in asked):
                chosen = taken(chosen, [own.index(str(name)) for name in asked])
            chosen = frame_values(numbers_only(chosen))
        shape = tuple(getattr(chosen, "shape", ()))
        if len(shape) != 2 or shape[1] != len(self.indices):
            raise ValueError(
                f"the chosen columns must be an array of shape (rows, {len(self.indices)}), got "
                f"{shape or type(chosen).__name__}; transform(X) of the selection takes them from X"
            )
        return chosen @ like(self.coefficients, chosen)

    @property
    def table(self) -> Table:
        """A row for each column that is rebuilt, the worst first, with its R²."""
        order = np.argsort(self.r2, kind="stable")
        columns: dict[str, Any] = {"index": order.tolist()}
        if self.names is not None:
            columns["name"] = [self.names[j] for j in order]
        return Table(columns | {"r2": self.r2[order].tolist()})

    @property
    def sentence(self) -> str:
        """How well the columns are rebuilt."""
        worst = int(np.argmin(self.r2))
        name = worst if self.names is None else repr(self.names[worst][:40])
        return (
            f"{len(self.r2)} columns from {len(self.indices)}, R² {np.median(self.r2):.3g} in the "
            f"median, {self.r2[worst]:.3g} at least (column {name})"
        )

    @property
    def bars(self) -> tuple[list[Any], list[float], str]:
        """R² of the columns that are rebuilt, the worst first."""
        return self.table.labels, self.table["r2"], "share of the sum of squares rebuilt"

    def to_frame(self) -> Any:
        """The coefficients as a pandas DataFrame: a row per chosen, a column per rebuilt column."""
        frames = pandas(".coefficients, .indices and .names")
        labels = np.arange(self.coefficients.shape[1])
        if self.names is not None:
            labels = np.asarray(self.names, dtype=object)
        if self.chosen_names is None:
            chosen = labels[self.indices]
        else:
            chosen = np.asarray(self.chosen_names, dtype=object)
        return frames.DataFrame(self.coefficients, index=chosen, columns=labels)


#: the positions of independent chosen columns, L with K_SS = L Lᵀ for these, and G = L⁻¹ K_Sᵀ
Triangle = tuple[np.ndarray, np.ndarray, np.ndarray]


def reconstruct(operator: Operator, chosen: Indices) -> Reconstruction:
    """Rebuild the columns of X, where K = XᵀX is the operator, from the chosen ones."""
    chosen = np.asarray(chosen)
    triangle = _orthogonal if isinstance(operator, Data) else _gram
    order, L, G = triangle(operator, chosen)
    B = np.zeros((len(chosen), operator.n))
    B[order] = _solve(L, G, adjoint=True)
    inverse = _solve(L, np.eye(len(order)))
    losses = np.zeros(len(chosen))  # ‖B_i‖²/(K_SS⁻¹)_ii, the cost of a swap that adds nothing
    losses[order] = np.sum(B[order] ** 2, axis=1) / np.sum(inverse**2, axis=0)
    losses[replaceable(B[:, chosen], np.setdiff1d(np.arange(len(chosen)), order))] = 0.0
    B[:, chosen] = np.eye(len(chosen))
    diagonal = host(operator.diagonal()).astype(np.float64)
    r2 = np.ones(operator.n)  # K̂_jj/K_jj, with K̂_jj = ‖G_j‖²
    np.divide(np.sum(G**2, axis=0), diagonal, out=r2, where=diagonal > 0)
    r2[chosen] = 1.0
    return Reconstruction(
        chosen, B, np.minimum(r2, 1.0), np.ldexp(losses, operator.exponent), operator.names
    )


def _orthogonal(operator: Operator, chosen: np.ndarray) -> Triangle:
    """By the QR factors of X_S, which do not square its condition."""
    X, columns = operator.factor(), host(operator.factor(chosen)).astype(np.float64)
    Q, R, order = pivoted(columns)
    tolerance = max(represented(len(chosen)), rounded_before(X))
    order = order[: int(np.sum(np.abs(np.diag(R)) > tolerance))]
    rank, lengths = len(order), np.linalg.norm(columns[:, order], axis=0)
    G = host(like(Q[:, :rank].T, X) @ X).astype(np.float64)
    return order, (R[:rank, :rank] * lengths).T, G


def _gram(operator: Operator, chosen: np.ndarray) -> Triangle:
    """From the columns of K."""
    columns = operator.columns(chosen)
    pivots = pivoted_cholesky(take(columns, chosen))
    independent = host(take(columns, pivots.order, axis=1)).astype(np.float64)
    return pivots.order, pivots.L, _solve(pivots.L, independent.T)


def _solve(L: np.ndarray, block: np.ndarray, *, adjoint: bool = False) -> np.ndarray:
    """L⁻¹ or L⁻ᵀ times the block; SciPy before 1.14 cannot do it when the rank is zero."""
    return solve_triangular(L, block, adjoint=adjoint) if len(L) else block


def replaceable(B: np.ndarray, spare: np.ndarray) -> np.ndarray:
    """Which chosen columns can be replaced by a spare one, and the spare ones themselves.

    A spare column is one that the other chosen columns represent.

    B : the coefficients of the chosen columns in the independent ones among them.
    """
    needed = np.abs(B[:, spare]).max(axis=1, initial=0.0) > 1e-8
    needed[spare] = True
    return needed
