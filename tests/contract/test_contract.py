"""What every selection promises, whatever is asked: each cell of the table, through `select`.

Every choice is compared with the exact errors of all allowed choices.
"""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import pytest
from contract.cells import (
    DESCENTS,
    DOORS,
    FACTORS,
    SEARCHES,
    WELL_CONDITIONED,
    Cell,
    Posed,
    cells,
    posed,
)
from contract.checks import (
    SAME,
    check_alternatives,
    check_bound,
    check_error,
    check_file,
    check_members,
    check_proof,
    highest,
    raised,
)

import landmarks as lm
from landmarks.errors import RankWarning, ScaleWarning, UnsupportedError

CELLS = cells(seed=0)
REFUSED = [cell for cell in CELLS if cell.refusals]
CHOSEN = [cell for cell in CELLS if not cell.refusals]
QUICK, SEEDS = 2, 12  # other seeds try the same pairs in other company


def company() -> list[Any]:
    """The cells of every seed, once each; those of later seeds are thorough tests."""
    listed = dict.fromkeys(CHOSEN)
    quick = len(listed)
    for seed in range(1, SEEDS):
        if seed == QUICK:
            quick = len(listed)
        listed |= dict.fromkeys(cell for cell in cells(seed) if not cell.refusals)
    later = [pytest.param(cell, marks=pytest.mark.thorough) for cell in list(listed)[quick:]]
    return [*list(listed)[:quick], *later]


BETTER = 1e-6  # an exchange that lowers the error by less may be left out


def problem_of(cell: Cell) -> Posed:
    return posed(cell.objective, cell.limits, cell.kind, cell.door)


def selected(cell: Cell, folder: Path, method: str | None = None) -> lm.Selection:
    """The selection of a cell; a warning that the cell does not explain is an error."""
    problem = problem_of(cell)
    A = DOORS[cell.door](problem.X, folder)
    with warnings.catch_warnings(record=True) as given:
        warnings.simplefilter("always")
        s = lm.select(A, method=method or cell.method, **problem.words)
    for warning in given:
        expected = {
            RankWarning: problem.may_lack_rank(s.indices.tolist()),
            ScaleWarning: cell.kind in ("graded", "smooth") and cell.door not in ("psd", "kernel"),
        }
        assert expected.get(warning.category), f"{warning.category.__name__}: {warning.message}"
    return s


def check_search(s: lm.Selection, cell: Cell, problem: Posed, folder: Path) -> None:
    """A search is never worse than greedy; a descent ends where no exchange pays.

    The exact method and the default find the best of so few.
    """
    reached = problem.reference.error(s.indices)
    if not Cell(cell.objective, "greedy", cell.limits, cell.kind, cell.door).refusals:
        greedy = selected(cell, folder, "greedy").indices
        start = raised(problem, problem.reference.error(greedy), problem.eps)
        assert float(reached) <= start + SAME * abs(start), "worse than greedy"
    if cell.method in DESCENTS and cell.kind in WELL_CONDITIONED:
        S = sorted(s.indices.tolist())
        nearby = [T for T in problem.allowed if common(S, T) == len(S) - 1]
        best = problem.reference.best([S, *nearby])
        allowed = raised(problem, best, problem.eps)
        assert float(reached) <= allowed + BETTER * abs(allowed), "not the end"
    if cell.method in ("exact", "auto") and cell.kind in WELL_CONDITIONED:
        assert float(reached) <= highest(problem), "not the best"


def common(S: Any, T: Any) -> int:
    """How many members two choices share, counted as often as both hold them."""
    left = list(T)
    return sum(left.remove(j) is None for j in S if j in left)


@pytest.mark.parametrize("cell", company(), ids=str)
def test_a_choice_keeps_every_promise(cell, tmp_path):
    problem = problem_of(cell)
    s = selected(cell, tmp_path)
    check_members(s, problem)
    check_error(s, problem)
    check_bound(s, problem)
    check_proof(s, problem)
    check_file(s, tmp_path)
    if cell.method == "exact":
        check_alternatives(s, problem)
    if cell.method in SEARCHES:
        check_search(s, cell, problem, tmp_path)


@pytest.mark.parametrize("cell", REFUSED, ids=str)
def test_what_cannot_be_done_is_refused_with_a_sentence(cell, tmp_path):
    with pytest.raises((UnsupportedError, ValueError)) as refused:
        selected(cell, tmp_path)
    sentence = str(refused.value)
    assert any(words in sentence for words in cell.refusals) and len(sentence) < 500


def test_every_pair_of_values_is_tried():
    """At least in one cell; where a pair can be chosen, `cells` lists one that is not refused."""
    for a, b in itertools.combinations(FACTORS, 2):
        for x, y in itertools.product(FACTORS[a], FACTORS[b]):
            assert any(getattr(cell, a) == x and getattr(cell, b) == y for cell in CELLS), (x, y)
