"""What may be added, exchanged and chosen is what enumeration says."""

import itertools

import numpy as np
import pytest
from contract.cells import LIMITS, allowed_choices

import landmarks as lm

N = 7
MORE = {
    "groups, costs": {
        "groups": [0, 1, 0, 2, 3, 2, 1],
        "costs": [1.0, 0.5, 2.0, 1.0, 0.0, 0.25, 0.5],
        "budget_cost": 3.0,
        "include": [4],
    },
    "equal costs": {"costs": [0.25] * N, "budget_cost": 0.75, "exclude": [2]},
    "costs, k": {"k": 2, "costs": [1.0, 3.0, 1.0, 2.0, 1.0, 2.0, 0.5], "budget_cost": 4.0},
    "repeats, include": {"k": 3, "repeats": True, "include": [1], "exclude": [0]},
}
LISTED = {name: limits.words(N) for name, limits in LIMITS.items()} | MORE


@pytest.fixture(params=LISTED, ids=str)
def posed(request):
    """The object, and all allowed choices as lists of units."""
    words = LISTED[request.param]
    noise = {"noise": 1.0, "repeats": True} if words.get("repeats") else {}
    given = {name: value for name, value in words.items() if name not in ("k", "repeats")}
    seen = []

    class Looks:
        honours = frozenset({*given, "groups", "costs", "noise", "include", "exclude"})

        def choose(self, problem, rng):
            seen.append(problem.allowed)
            return lm.problem.Choice(np.zeros(0, dtype=np.int64))

    Looks.honours |= {"constraints"}
    lm.select(np.eye(N), words.get("k"), method=Looks(), **given, **noise)
    most = N if words.get("k") is None or "groups" in words else words["k"]
    return seen[0], [S for S in allowed_choices(words, N) if len(S) <= most]


def units(allowed, S):
    found = allowed.unit_of[list(S)]
    return found.tolist() if allowed.single else list(dict.fromkeys(found.tolist()))


def test_what_is_broken_is_what_enumeration_leaves_out(posed):
    allowed, choices = posed
    drawn = itertools.combinations_with_replacement if allowed.repeats else itertools.combinations
    sizes = range(1, N + 1) if not allowed.single or not allowed.sized else [allowed.k]
    for S in itertools.chain.from_iterable(drawn(range(N), size) for size in sizes):
        assert (allowed.broken(S) is None) == (S in choices), S
        assert allowed.broken(S) is None or allowed.broken(S).split()
    assert max(map(len, choices)) <= allowed.most_columns(len(choices[0]))


def test_every_allowed_choice_can_be_built_up_and_nothing_else(posed):
    allowed, choices = posed
    listed = {tuple(sorted(units(allowed, S))) for S in choices}
    for chosen in listed:
        free = [u for u in chosen if u not in allowed.fixed]
        for u in free:
            rest = list(chosen)
            rest.remove(u)
            may = allowed.addable(rest)
            assert may[u]
            if len(chosen) == allowed.most or not allowed.sized:
                found = {tuple(sorted([*rest, int(v)])) for v in np.flatnonzero(may)}
                assert found == {T for T in listed if len(T) == len(chosen) and within(rest, T)}


def test_exchanges_that_are_allowed_lead_to_allowed_choices_and_no_other_does(posed):
    allowed, choices = posed
    listed = {tuple(sorted(units(allowed, S))) for S in choices}
    for chosen in listed:
        pairs = allowed.exchangeable(chosen)
        pairs = np.ones((len(chosen), len(allowed.members)), bool) if pairs is None else pairs
        for i, j in itertools.product(range(len(chosen)), np.flatnonzero(allowed.open)):
            rest = [*chosen[:i], *chosen[i + 1 :]]
            other = tuple(sorted([*rest, int(j)]))
            fits = other in listed and (allowed.repeats or j not in chosen)
            if chosen[i] not in allowed.fixed and (allowed.repeats or j not in chosen):
                assert bool(pairs[i, j]) == fits, (chosen, i, j)


def within(part, whole):
    left = list(whole)
    return all(u in left and left.remove(u) is None for u in part)


def test_what_is_left_is_counted_in_units_and_in_money():
    problem = lm.Problem(
        lm.data(np.eye(6)),
        3,
        groups=np.array([0, 1, 0, 2, 3, 2]),
        costs=np.array([1.0, 0.5, 2.0, 1.0, 0.0, 0.25]),
        budget_cost=5.0,
        include=(0, 2),
    )
    allowed = problem.allowed
    assert [m.tolist() for m in allowed.members] == [[0, 2], [1], [3, 5], [4]]
    assert allowed.costs.tolist() == [3.0, 0.5, 1.25, 0.0]
    assert allowed.fixed == (0,) and allowed.uneven and not allowed.sized
    assert allowed.left([]) == (2, pytest.approx(2.0))
    assert allowed.left([0, 1]) == (1, pytest.approx(1.5))
    assert allowed.columns([2, 1]).tolist() == [3, 5, 1]


def test_a_choice_that_just_fits_is_allowed():
    problem = lm.Problem(lm.data(np.eye(4)), 0, costs=np.full(4, 0.1), budget_cost=0.3)
    assert problem.allowed.broken([0, 1, 2]) is None and problem.allowed.most == 3
    assert problem.allowed.broken([0, 1, 2, 3]) == "the choice costs 0.4, more than 0.3"
