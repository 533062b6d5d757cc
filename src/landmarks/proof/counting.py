"""All choices of a node in turn, in C: those that may be the best, or nearly the best, are listed.

With C and CΩC of a node at hand the last two picks are a scan of pairs, at some 5 ns a choice on
one core. Each gain has a margin for rounding (`counting.c`), and nodes in which rounding hides too
much are given back. Without a compiled library NumPy does the same, slower.
"""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from .._library import usable
from ..allowed import Allowed
from .node import Powers

SECONDS = (6e-9, 5e-9, 14e-9)  # for each choice, by the depth of the objective, on one core
PLAIN = 20  # times as long in NumPy
DEEPEST = 64  # picks that counting.c has places for
SURE = 1e-9  # nats that rounding may add to a log determinant
LISTED = 4096  # choices that may be listed
BACK = 256  # nodes that may be given back
LOST = 1e-3  # as in counting.c: a relative error of a pivot beyond which a node is given back

Pointer, Whole, Real = ctypes.c_void_p, ctypes.c_int64, ctypes.c_double


class Count(ctypes.Structure):
    """What is counted, as counting.c sees it."""

    _fields_ = [
        *((name, Whole) for name in ("n", "r", "depth", "repeats", "tighten", "capacity")),
        *((name, Whole) for name in ("units", "sized", "most", "laws")),
        *((name, Pointer) for name in ("C", "Q", "R", "noise", "spread", "sums", "first")),
        *((name, Pointer) for name in ("prices", "clashes", "region", "low", "high")),
        *((name, Real) for name in ("top", "money", "threshold", "keep")),
        *((name, Pointer) for name in ("found", "gains", "margins", "back", "stop")),
        *((name, Whole) for name in ("backs", "listed", "choices", "given", "full")),
    ]


@cache
def library() -> ctypes.CDLL | None:
    """The compiled functions; None where they were not compiled, or cannot be used."""
    path = Path(__file__).parent / "compiled" / "counting.so"
    without = "choices are not counted in C, so proofs take longer"
    return usable(path, ("size_of_count", "count_choices"), Count, without)


def choices(n: int, r: int, repeats: bool) -> int:
    """How many choices of r of n candidates there are."""
    return math.comb(n + r - 1, r) if repeats else math.comb(n, r)


def counting_seconds(n: int, r: int, depth: int, repeats: bool) -> float:
    """An estimate of the seconds that a count takes."""
    slower = 1 if library() is not None else PLAIN
    return min(choices(n, max(r, 0), repeats), 10**30) * SECONDS[depth] * slower


@dataclass(frozen=True)
class Limits:
    """What limits the choices after some picks, for the units that may follow.

    prices : of each unit, or None. money : what they may cost. clashes : whether two units cannot
    both be chosen, or None. regions : the region of each unit, a row for each law; low, high : how
    many more of each region must and may be chosen.
    """

    prices: np.ndarray | None = None
    money: float = math.inf
    clashes: np.ndarray | None = None
    regions: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    low: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    high: np.ndarray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))

    @classmethod
    def of(cls, allowed: Allowed, chosen: list[int], units: np.ndarray) -> Limits | None:
        """The limits after some units and the fixed ones; None if a constraint cannot say them."""
        places = np.append(allowed.fixed, chosen).astype(np.int64)
        clashes = None
        regions, low, high = list[np.ndarray](), list[np.ndarray](), list[np.ndarray]()
        for constraint in allowed.constraints:
            counts = constraint.counts_left(places)
            if (found := constraint.clashes(units)) is not None:
                found = found[:, units]
                clashes = found if clashes is None else clashes | found
            elif counts is not None:
                number, least, most = counts
                regions.append(number[units] + sum(len(part) for part in low))
                low.append(least)
                high.append(most)
            else:
                return None
        prices = None if allowed.sized else allowed.costs[units]
        money = allowed.left(places)[1] if prices is not None else 0.0
        if not regions:
            return cls(prices, money, clashes)
        return cls(
            prices, money, clashes, np.stack(regions), np.concatenate(low), np.concatenate(high)
        )


@dataclass(frozen=True)
class Found:
    """What a count has listed: places of units, the most that each choice may gain.

    threshold : no choice that is not listed gains more. back : nodes that were given back, as
    places of picks and of candidates. full : whether there was not enough room for all.
    """

    rows: list[list[int]]
    uppers: list[float]
    threshold: float
    back: list[tuple[list[int], list[int]]] = field(default_factory=list)
    full: bool = False


def counted(
    powers: Powers,
    sizes: np.ndarray,
    r: int,
    depth: int,
    sums: np.ndarray,
    threshold: float,
    keep: float,
    limits: Limits,
    *,
    sized: bool,
    tighten: bool,
    stop: np.ndarray,
) -> Found | None:
    """Count all choices of r units; None where this cannot be done here.

    powers : at the columns of the units, unit by unit. sizes : how many columns each unit has.
    sums : what so many columns gain at most. sized : whether a choice has r units, or at most r.
    tighten : whether the threshold rises to `keep` below what a choice gains for certain. stop : a
    number; once it is above zero the count ends, as one that is full.
    """
    loaded, most, units = library(), int(np.max(sizes)), len(sizes)
    whole = np.full(r * most + 2, sums[-1])  # more columns than there are directions gain no more
    whole[: len(sums)] = sums[: len(whole)]
    if loaded is None or r > DEEPEST:
        plain = sized and not limits.regions.size and limits.clashes is None
        if not plain or np.any(sizes > 1):
            return None
        return counted_in_numpy(powers, r, whole, threshold, stop)
    arrays = {
        "C": powers.C,
        "Q": powers.C2 if depth > 0 else None,
        "R": powers.C3 if depth == 2 else None,
        "noise": powers.noise,
        "spread": np.sqrt(powers.rounding * powers.first),
        "sums": whole,
        "prices": limits.prices,
        "gains": np.zeros(LISTED),
        "margins": np.zeros(LISTED),
    }
    arrays = {name: _real(value) for name, value in arrays.items() if value is not None}
    arrays["first"] = np.append(0, np.cumsum(sizes)).astype(np.int64)
    arrays["found"] = found = np.zeros((LISTED, r), dtype=np.int64)
    arrays["back"] = back = np.zeros((BACK, 2 + r + units), dtype=np.int64)
    arrays["stop"] = stop
    if limits.clashes is not None:
        arrays["clashes"] = np.ascontiguousarray(limits.clashes, dtype=np.uint8)
    for name, value in (("region", limits.regions), ("low", limits.low), ("high", limits.high)):
        arrays[name] = np.ascontiguousarray(value, dtype=np.int64)
    count = Count(
        n=len(powers.first),
        r=r,
        depth=depth,
        repeats=int(powers.repeats),
        tighten=int(tighten),
        capacity=LISTED,
        units=units,
        sized=int(sized),
        most=most,
        laws=len(limits.regions),
        top=powers.top,
        money=limits.money,
        threshold=threshold,
        keep=keep,
        backs=BACK,
        **{name: value.ctypes.data for name, value in arrays.items()},
    )
    if not loaded.count_choices(ctypes.byref(count)):
        return None
    uppers = arrays["gains"] + arrays["margins"]
    kept = [i for i in range(count.listed) if uppers[i] >= count.threshold]
    rows = [[int(unit) for unit in found[i] if unit >= 0] for i in kept]
    nodes = [
        (row[2 : 2 + row[0]].tolist(), row[2 + row[0] : 2 + row[0] + row[1]].tolist())
        for row in back[: count.given]
    ]
    return Found(rows, uppers[kept].tolist(), count.threshold, nodes, bool(count.full))


def _real(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values, dtype=np.float64)


def counted_in_numpy(
    powers: Powers, r: int, sums: np.ndarray, threshold: float, stop: np.ndarray
) -> Found:
    """The same for single columns: all pairs of a node at once."""
    now, again = Found([], [], threshold), int(not powers.repeats)

    def visit(powers: Powers, picks: list[int], places: np.ndarray, value: float) -> None:
        left, gains = r - len(picks), powers.gains()
        if len(now.rows) > LISTED or stop[0] or (left > len(places) and not powers.repeats):
            return
        if left <= 2:
            if left == 2:
                gains = powers.pair_gains()
                gains[np.tril_indices(len(places), -int(powers.repeats))] = -np.inf
            for last in np.argwhere(value + gains >= threshold):
                now.rows.append([*picks, *(int(places[i]) for i in last)])
                now.uppers.append(float(value + gains[tuple(last)]))
            return
        for a in range(len(places) if powers.repeats else len(places) - left + 1):
            upper, rest = value + float(gains[a]), places[a + again :]
            if not powers.rounding[a] * powers.first[a] < LOST * powers.pivots[a]:
                now.back.append(([*picks, int(places[a])], rest.tolist()))
            elif upper + sums[left - 1] >= threshold:
                visit(powers.after(a), [*picks, int(places[a])], rest, upper)

    order = np.argsort(-powers.gains(), kind="stable")
    visit(powers.ordered(order), [], order, 0.0)
    return replace(now, full=len(now.rows) > LISTED or bool(stop[0]))
