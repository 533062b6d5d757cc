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
from ..._library import usable
from ...operators.dense import Dense
from ..base import Base
from ..exchange import Exchange
from ..stored_powers import LEFT

MOST_POWERS = 3  # of K and C that there are places for
COLUMNS = 56  # working memory: so many numbers for each column
PLACES = 17  # so many for each place
FURTHER = 16  # and so many more
FUNCTIONS = ("size_of_choice", "descend", "disturb", "fill")

Pointer = ctypes.c_void_p
Whole = ctypes.c_int64
Real = ctypes.c_double


class Choice(ctypes.Structure):
    """The state of an exchange, as swaps.c sees it."""

    _fields_ = [
        ("n", Whole),
        ("size", Whole),
        ("depth", Whole),
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
        ("omega", Pointer),
        ("noise", Pointer),
        ("work", Pointer),
        ("m", Whole),
        ("m_X", Whole),
        ("X", Pointer),
        ("X_S", Pointer),
        ("R", Pointer),
        ("D", Pointer),
        ("unit", Real),
        ("largest", Real),
        ("heaviest", Real),
        ("tolerance", Real),
        ("known", Real),
        ("whole", Real),
        ("left", Real * MOST_POWERS),
        ("drift", Real),
        ("swollen", Real),
        ("volume", Real),
        ("age", Whole),
        ("waiting", Whole),
        ("repeats", Whole),
        ("columns", Whole),
        ("products", Whole),
        ("entries", Whole),
    ]


@cache
def library() -> ctypes.CDLL | None:
    """The compiled functions; None where they were not compiled or cannot be used."""
    path = Path(__file__).with_name("swaps.so")
    return usable(path, FUNCTIONS, Choice, "the compiled search cannot be loaded, so NumPy is used")


def compiled() -> bool:
    """Whether there is a compiled search."""
    return library() is not None


def compilable(base: Base) -> bool:
    """Whether the compiled search can work on K or X: it is stored in float64."""
    if library() is None:
        return False
    if base.factored is not None:
        return _plain(base.factored.X)
    return isinstance(base.operator, Dense) and _plain(base.operator.K)


def _plain(matrix: Array) -> bool:
    return (
        isinstance(matrix, np.ndarray) and matrix.dtype == np.float64 and matrix.flags.c_contiguous
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
        self.base = base
        self.free = free
        self.fixed = fixed
        self.work = np.empty(0)
        self.tolerance = tolerance
        self.known = known
        self.floor = np.ascontiguousarray(base.floor)
        self.divisor = np.ascontiguousarray(base.divisor)
        pair = base.pair
        self.omega = None if pair.weights is None else np.ascontiguousarray(pair.weights)
        self.noise = None if pair.noise is None else np.ascontiguousarray(pair.noise)

    def descend(self, state: Exchange, limit: int) -> int:
        """Make the best swap while one pays; returns how many were made."""
        return self._call("descend", state, limit)

    def disturb(self, state: Exchange, place: int, count: int, limit: int) -> int:
        """Drop so many members like the one at a place, fill up, descend; −1 if a place is free."""
        return self._call("disturb", state, place, count, limit)

    def fill(self, state: Exchange) -> None:
        """Fill the free places greedily, as far as columns gain."""
        self._call("fill", state)

    def _call(self, name: str, state: Exchange, *numbers: int) -> int:
        choice, _arrays = self._choice(state)
        found = getattr(library(), name)(ctypes.byref(choice), *map(Whole, numbers))
        self._take(state, choice)
        return found

    def _choice(self, state: Exchange) -> tuple[Choice, list[np.ndarray]]:
        """The state for C, and the arrays that must live as long."""
        base, source = self.base, state.source
        n, size, depth = base.operator.n, len(state.members), base.depth
        m = 0 if source is None else source.R.shape[0]
        needed = COLUMNS * n + PLACES * size + FURTHER + m
        if len(self.work) < needed:
            self.work = np.zeros(needed)
        open_ = np.zeros(n, dtype=np.uint8)
        open_[self.free] = 1
        if not base.pair.repeats:
            open_[state.chosen] = 0
        locked = state.staying(self.fixed).astype(np.uint8)
        seated, since = state.members.copy(), np.zeros(size, dtype=np.int64)
        arrays: list[np.ndarray] = [open_, locked, seated, since]
        found = Choice(n=n, size=size, depth=depth, m=m, repeats=int(base.pair.repeats))
        if base.factored is not None and source is not None:
            source.own()
            X = base.factored.X
            found.m_X = len(X)
            chosen, places = np.zeros((m, size)), np.flatnonzero(state.members >= 0)
            chosen[:, places] = source.members(state.members[places], places)
            arrays.append(chosen)
            found.X, found.X_S = _address(X), _address(chosen)
            found.R, found.D = _address(source.R), _address(source.D)
        else:  # K and those of its powers that have the digits of the same powers of C
            power, totals = 0, [LEFT.get(p, 0.0) * total for p, total in enumerate(base.totals)]
            while power < base.highest and (
                base.pair.total(state.diagonals[power + 1]) >= totals[power + 1]
            ):
                power += 1
            found.K[:] = _pointers(base.pair.powers(power + 1))
        found.rows[:] = _pointers(state.rows)
        found.diagonals[:] = _pointers(state.powers.diagonals)
        found.errors[:] = _pointers(state.powers.errors)
        found.H, found.members = _address(state.H), _address(state.members)
        found.seated, found.since = _address(seated), _address(since)
        found.state, found.locked = _address(open_), _address(locked)
        found.floor, found.divisor = _address(self.floor), _address(self.divisor)
        found.work = _address(self.work)
        if self.omega is not None:
            found.omega = _address(self.omega)
        if self.noise is not None:
            found.noise = _address(self.noise)
        found.unit, found.largest, found.heaviest = base.unit, base.largest, base.heaviest
        found.tolerance, found.known, found.whole = self.tolerance, self.known, base.total
        for power in range(1, depth + 1):
            found.left[power] = LEFT[power] * base.totals[power]
        found.drift, found.swollen, found.age = state.drift, state.swollen, state.age
        found.volume = state.volume
        return found, arrays

    def _take(self, state: Exchange, choice: Choice) -> None:
        """Take in what C has changed apart from the arrays."""
        self.base.operator.ledger.add(
            products=choice.products, columns=choice.columns, entries=choice.entries
        )
        state.drift, state.swollen, state.age = choice.drift, choice.swollen, int(choice.age)
        state.volume = choice.volume
        state.last_column = (-1, None)


def _pointers(arrays: list[np.ndarray]) -> list[int | None]:
    found = [_address(array) for array in arrays]
    return found + [None] * (MOST_POWERS - len(found))


def _address(array: np.ndarray) -> int:
    """Where an array begins; C sees one row after the other."""
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(array.data))  # quicker than `ctypes.data`
    except (TypeError, ValueError):  # it cannot be written, or is empty, or not in this order
        if not array.flags.c_contiguous:
            raise ValueError(f"an array of shape {array.shape} is not stored row by row") from None
        return array.ctypes.data
