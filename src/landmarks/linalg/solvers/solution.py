"""What a solver returns, and what it needs of a system."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from ..._array import Array


@dataclass(frozen=True, eq=False)
class Solution:
    """The solution of a block of right-hand sides.

    steps : iterations, each one product per right-hand side.
    residual : the largest relative residual of a column.
    """

    x: Array
    steps: int
    residual: float
    converged: bool


class Products(Protocol):
    """A symmetric positive definite system by its products alone."""

    def matmul(self, block: Array) -> Array: ...


class LinearSystem(Products, Protocol):
    """A system by its order, its products, and more where a solver asks for it."""

    @property
    def n(self) -> int: ...
    @property
    def m(self) -> int | None: ...
    @property
    def ridge(self) -> Array: ...
    def dense(self) -> Array: ...
    def factor(self) -> Array: ...


Solve = Callable[[Array], Solution]


class Solver(Protocol):
    """A way to solve: `prepare` does what depends on the system only, and returns a solve."""

    def prepare(self, system: LinearSystem) -> Solve: ...
