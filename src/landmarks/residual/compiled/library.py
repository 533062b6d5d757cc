"""Calls of swaps.c, which is compiled when the package is installed.

Where no compiler was found there is no library, and searches use NumPy: the same moves up to
rounding, several times slower.
"""

from __future__ import annotations

import ctypes
from functools import cache
from pathlib import Path

import numpy as np

from ..._array import Array, Indices
from ...operators.dense import Dense
from ..base import Base
from ..exchange import Exchange
from ..stored_powers import LEFT

MOST_POWERS = 3  # of K and C that there are places for
COLUMNS = 55  # working memory: so many numbers for each column
PLACES = 17  # so many for each place
FURTHER = 16  # and so many more

Pointer = ctypes.c_void_p
Whole = ctypes.c_int64
Real = ctypes.c_double


class Choice(ctypes.Structure):
    """The state of an exchange, as swaps.c sees it."""

    _fields_ = [
        ("n", Whole),
        ("size", Whole),
        ("powers", Whole),
        ("K", Pointer * MOST_POWERS),
        ("rows", Pointer * MOST_POWERS),
        ("diagonals", Pointer * MOST_POWERS),
        ("errors", Pointer * MOST_POWERS),
        ("H", Pointer),
        ("members", Pointer),
        ("seated", Pointer),
        ("since", Pointer),
        ("state", Pointer),
        ("locked", Pointer),
        ("floor", Pointer),
        ("divisor", Pointer),
        ("work", Pointer),
        ("m", Whole),
        ("X", Pointer),
        ("R", Pointer),
        ("D", Pointer),
        ("unit", Real),
        ("largest", Real),
        ("tolerance", Real),
        ("known", Real),
        ("whole", Real),
        ("left", Real * MOST_POWERS),
        ("drift", Real),
        ("swollen", Real),
        ("age", Whole),
        ("waiting", Whole),
    ]


@cache
def library() -> ctypes.CDLL | None:
    """The compiled functions; None where they were not compiled."""
    found = sorted(Path(__file__).parent.glob("swaps.*"))
    for path in found:
        if path.suffix in (".so", ".dll", ".dylib"):
            loaded = ctypes.CDLL(str(path))
            loaded.descend.restype = Whole
            loaded.disturb.restype = Whole
            return loaded
    return None


def compilable(base: Base) -> bool:
    """Whether the compiled search can work on K or X: it is stored in float64."""
    if library() is None:
        return False
    if base.factored is not None:
        return _plain(base.factored.X)
    return isinstance(base.operator, Dense) and _plain(base.operator.K)


def _plain(matrix: Array) -> bool:
    return (
        isinstance(matrix, np.ndarray)
        and matrix.dtype == np.float64
        and matrix.flags.c_contiguous
    )


class Compiled:
    """The compiled search on the states of one problem.

    free : the candidates that may be added. fixed : the members that must stay.
    """

    def __init__(
        self,
        base: Base,
        free: np.ndarray,
        fixed: Indices,
        tolerance: float,
        known: float,
    ):
        n = base.operator.n
        self.base = base
        self.free = np.zeros(n, dtype=np.uint8)
        self.free[free] = 1
        self.fixed = fixed
        self.work = np.empty(0)
        self.tolerance = tolerance
        self.known = known
        self.floor = np.ascontiguousarray(base.floor)
        self.divisor = np.ascontiguousarray(base.divisor)

    def descend(self, state: Exchange, limit: int) -> int:
        """Make the best swap while one pays; returns how many were made."""
        choice, arrays = self._choice(state)
        made = library().descend(ctypes.byref(choice), Whole(limit))
        self._take(state, choice)
        return made

    def disturb(self, state: Exchange, place: int, count: int, limit: int) -> int:
        """Drop so many members like the one at a place, fill up, descend; −1 if a place is free."""
        choice, arrays = self._choice(state)
        made = library().disturb(ctypes.byref(choice), Whole(place), Whole(count), Whole(limit))
        self._take(state, choice)
        return made

    def _choice(self, state: Exchange) -> tuple[Choice, list[np.ndarray]]:
        """The state for C, and the arrays that must live as long."""
        base = self.base
        n, size, powers = base.operator.n, len(state.members), base.powers
        m = 0 if base.factored is None else base.factored.X.shape[0]
        needed = COLUMNS * n + PLACES * size + FURTHER + m
        if len(self.work) < needed:
            self.work = np.zeros(needed)
        state.settle()
        open_ = self.free.copy()
        open_[state.chosen] = 0
        locked = np.isin(state.members, np.asarray(self.fixed, dtype=np.int64)).astype(np.uint8)
        found = Choice(n=n, size=size, powers=powers, m=m)
        if base.factored is not None:
            source = state.source
            source.own()
            found.X, found.R = base.factored.X.ctypes.data, source.R.ctypes.data
            found.D = source.D.ctypes.data
        elif base.stored_powers is not None:
            found.K[:] = _pointers(base.stored_powers.upto(powers))
        else:
            found.K[:] = _pointers([base.operator.K])
        found.rows[:] = _pointers(state.W.blocks)
        found.diagonals[:] = _pointers(state.powers.diagonals)
        found.errors[:] = _pointers(state.powers.errors)
        found.H, found.members = state.H.ctypes.data, state.members.ctypes.data
        seated, since = state.members.copy(), np.zeros(size, dtype=np.int64)
        found.seated, found.since = seated.ctypes.data, since.ctypes.data
        found.state, found.locked = open_.ctypes.data, locked.ctypes.data
        found.floor, found.divisor = self.floor.ctypes.data, self.divisor.ctypes.data
        found.work = self.work.ctypes.data
        found.unit, found.largest = base.unit, base.largest
        found.tolerance, found.known, found.whole = self.tolerance, self.known, base.total
        for power in range(1, powers + 1):
            found.left[power] = LEFT[power] * base.totals[power]
        found.drift, found.swollen, found.age = state.drift, state.swollen, state.age
        return found, [open_, locked, seated, since]

    def _take(self, state: Exchange, choice: Choice) -> None:
        """Take in what C has changed beside the arrays."""
        added = int(choice.age) - state.age
        powers = self.base.powers
        entries = self.base.operator.n * (1 + powers * (powers + 1) // 2)
        self.base.operator.ledger.add(entries=entries * added)
        state.drift, state.swollen, state.age = choice.drift, choice.swollen, int(choice.age)
        state.W.seat(state.members)


def _pointers(arrays: list[np.ndarray]) -> list[int | None]:
    found = [array.ctypes.data for array in arrays]
    return found + [None] * (MOST_POWERS - len(found))
