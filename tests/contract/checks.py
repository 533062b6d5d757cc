"""What is checked of a selection against the exact errors of all allowed choices.

Rounding is allowed for where a stable algorithm cannot avoid it: the precision of the data times
how many numbers are summed, with LAPACK's factor of 30; for the error of one choice also times the
condition of the chosen columns. Bounds and proofs speak of all choices and get no such allowance:
their methods must account for it themselves.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from contract.cells import Posed

import landmarks as lm
from landmarks.objectives import OBJECTIVES

FACTOR = 30.0  # LAPACK's threshold for ratios of errors to rounding
SAME = 1e-9  # what `proved` and `lower_bound` promise, relative to the error


def raised(problem: Posed, value: Any, eps: float, amplified: float = 1.0) -> float:
    """The largest number that rounding can make of an error."""
    value = float(value)
    unit = FACTOR * eps * problem.size * amplified
    criterion = OBJECTIVES[problem.words["criterion"]]
    if not criterion.shares:
        return value + unit
    total = float(problem.reference.total())
    if problem.K is not None and criterion.depth == 1:
        return value + unit * total  # K − K̂ is rounded
    return (value**0.5 + unit * total**0.5) ** 2  # X − P X is rounded, or a norm of K − K̂


def check_members(s: lm.Selection, problem: Posed) -> None:
    """The indices are an allowed choice."""
    S = s.indices.tolist()
    assert tuple(sorted(S)) in set(problem.allowed), f"{S} is not an allowed choice"
    assert s.indices.dtype == np.int64 and len(s) == s.k == len(S)


def check_error(s: lm.Selection, problem: Posed) -> None:
    """`error` is the error of the choice, up to rounding that its condition explains."""
    reference, amplified = problem.reference, problem.amplified(s.indices)
    exact = float(reference.error(s.indices))
    same = s.error() <= raised(problem, exact, problem.eps, amplified)
    same &= exact <= raised(problem, s.error(), problem.eps, amplified)
    assert same, f"error {s.error()!r}, should be {exact!r}"
    if OBJECTIVES[problem.words["criterion"]].shares:
        total = float(reference.total())
        assert abs(s.total() - total) <= 1e-6 * total, f"total {s.total()!r}, should be {total!r}"


def highest(problem: Posed) -> float:
    """The largest number that may pass for the lowest error of all allowed choices."""
    best = float(problem.best)
    return raised(problem, best, proof_eps(problem)) + SAME * abs(best)


def proof_eps(problem: Posed) -> float:
    """The precision of bounds and proofs: double, unless K may have been made in single."""
    return 2.0**-52 if problem.K is None else problem.eps


def check_bound(s: lm.Selection, problem: Posed) -> None:
    """The bound is above no allowed choice and not above the error."""
    bound, best = s.lower_bound(), float(problem.best)
    assert bound <= highest(problem), f"bound {bound!r} above the optimum {best!r}"
    assert bound <= s.error(), f"bound {bound!r} above the error {s.error()!r}"
    assert s.gap() >= 0


def check_proof(s: lm.Selection, problem: Posed) -> None:
    """What is proved to be the best is the best."""
    if s.proved:
        reached, best = float(problem.reference.error(s.indices)), float(problem.best)
        assert reached <= highest(problem), f"proved {reached!r}, but the optimum is {best!r}"


def check_alternatives(s: lm.Selection, problem: Posed) -> None:
    """Every choice that is nearly as good is listed, with its error, and no other is."""
    volume, within = problem.words["criterion"] == "logdet", 0.2
    try:
        found = s.alternatives(within=within)
    except lm.errors.UnsupportedError:  # rounding hides which are
        return
    listed = {tuple(sorted(np.asarray(row).tolist())) for row in found.rows}
    error, best = problem.reference.error, float(problem.best)
    top = best + within if volume else best * (1 + within)
    doubt = raised(problem, top, proof_eps(problem)) - top + SAME * abs(top)
    sure = {S for S in problem.allowed if float(error(S)) < top - doubt}
    possible = {S for S in problem.allowed if float(error(S)) <= top + doubt}
    assert len(listed) == len(found), "alternatives that are listed twice"
    assert listed <= possible, f"alternatives that are no better: {sorted(listed - possible)[:3]}"
    assert not found.complete or sure <= listed, (
        f"alternatives missing: {sorted(sure - listed)[:3]}"
    )
    for row, value in zip(found.rows, found.errors, strict=True):
        exact = float(error(row))
        assert abs(value - exact) <= doubt + 1e-6 * abs(exact), (
            f"alternatives: error {value!r}, should be {exact!r}"
        )


def check_file(s: lm.Selection, folder: Path) -> None:
    """A file keeps the choice and what is known of it."""
    s.save(folder / "run.npz")
    back = lm.load(folder / "run.npz")
    assert back.indices.tolist() == s.indices.tolist()
    assert (back.error(), back.lower_bound()) == (s.error(), s.lower_bound())
    assert (back.criterion, back.n, back.proved) == (s.criterion, s.n, s.proved)
