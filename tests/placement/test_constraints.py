"""Constraints on places: every choice satisfies them, and brute force says how good it can be."""

from functools import cache
from itertools import combinations, combinations_with_replacement

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import UnsupportedError
from landmarks.placement import Constraint

N = 11
METHODS = ["greedy", "swap", "iterated", "auto"]


def cases():
    """Small data with the constraints people have: distances, regions, and both."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        places, labels = rng.random((N, 2)), np.asarray(list("aaabbbbcccc"))
        distance = lm.MinDistance(places, 0.35)
        most = lm.Regions(labels, at_most={"a": 1, "b": 1})
        exactly = lm.Regions(labels, exactly={"a": 2, "c": 1})
        for constraints in ([distance], [most], [exactly], [distance, most], [distance, exactly]):
            yield rng.standard_normal((6, N)) @ np.diag(rng.random(N)), constraints


def satisfies(constraints, indices):
    """Whether the indices satisfy the constraints, written down independently of them."""
    for constraint in constraints:
        if isinstance(constraint, lm.MinDistance):
            pairs = combinations(constraint.coordinates[list(indices)], 2)
            if any(np.linalg.norm(x - y) < constraint.distance for x, y in pairs):
                return False
            continue
        chosen = [constraint.labels[j] for j in indices]
        if any(chosen.count(label) > most for label, most in constraint.at_most.items()):
            return False
        if any(chosen.count(label) != count for label, count in constraint.exactly.items()):
            return False
    return True


CASES = list(cases())


@cache
def all_allowed(number, k):
    """Every choice that case allows, found once."""
    return [S for S in combinations(range(N), k) if satisfies(CASES[number][1], S)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("k", [3, pytest.param(4, marks=pytest.mark.thorough)])
def test_a_choice_satisfies_the_constraints_wherever_one_exists(method, k):
    for number, (X, constraints) in enumerate(CASES):
        if not all_allowed(number, k):
            with pytest.raises(ValueError, match="choose fewer or relax"):
                lm.select(X, k, method=method, constraints=constraints)
            continue
        s = lm.select(X, k, method=method, constraints=constraints)
        assert len(s.indices) == k and satisfies(constraints, s.indices)


@pytest.mark.parametrize("method", METHODS)
def test_include_and_exclude_go_with_constraints(method):
    X = np.random.default_rng(0).standard_normal((8, N))
    s = lm.select(
        X,
        4,
        method=method,
        include=[5],
        exclude=[0, 10],
        constraints=[lm.MinDistance(np.arange(N), 2)],
    )
    assert 5 in s.indices and not {0, 10} & set(s.indices.tolist())
    assert np.min(np.diff(np.sort(s.indices))) >= 2


@pytest.mark.parametrize("method", METHODS)
def test_beyond_the_rank_the_filled_up_places_satisfy_the_constraints(method):
    X = lm.data(np.ones((3, N)), scale=False)
    s = lm.select(X, 4, method=method, constraints=[lm.MinDistance(np.arange(N), 3)])
    assert np.min(np.diff(np.sort(s.indices))) >= 3


def test_neighbours_on_a_grid_of_just_the_distance_are_allowed():
    grid = np.arange(N) * 0.1
    K = lm.psd(np.eye(N) + 0.1)
    s = lm.select(K, N, constraints=[lm.MinDistance(grid, 0.1)], method="greedy")
    assert len(s.indices) == N


def test_greedy_takes_picks_back_where_they_leave_no_room():
    X = np.diag([1.0, 3.0, 1.0])
    s = lm.select(X, 2, method="greedy", constraints=[lm.MinDistance([0.0, 1.0, 2.0], 2)])
    assert sorted(s.indices.tolist()) == [0, 2]


@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize(
    "counts", [{"exactly": {"b": 2}}, {"at_most": {"a": 1, "b": 2}}, {"at_most": {"b": 1}}]
)
def test_what_is_included_counts_for_its_region_in_a_proof(counts, repeats):
    regions = lm.Regions([*"abcabca"], **counts)
    draw = combinations_with_replacement if repeats else combinations
    allowed = [S for S in draw(range(7), 3) if 4 in S and satisfies([regions], S)]
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((12, 7)) * rng.uniform(0.5, 2, 7)
        words = {"noise": 0.6, "repeats": repeats, "include": [4], "constraints": [regions]}
        K, errors = X.T @ X, {}
        for S in map(list, allowed):
            left = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)] + 0.6 * np.eye(3), K[S])
            errors[tuple(S)] = np.trace(left)
        s = lm.select(X, 3, scale=False, method="exact", **words)
        assert s.proved and s.error() == pytest.approx(min(errors.values()))
        near = s.alternatives(within=0.2)
        listed = {tuple(sorted(row)) for row in near.choices.tolist()}
        assert listed == {S for S in errors if errors[S] <= 1.2 * min(errors.values())}


REPEATED = {
    "a region that is full": {"k": 3, "constraints": [lm.Regions([*"abb"], at_most={"b": 1})]},
    "more places than candidates": {
        "k": 6,
        "constraints": [lm.Regions([*"abb"], at_most={"a": 2})],
    },
    "exact counts": {"k": 5, "constraints": [lm.Regions([*"abb"], exactly={"b": 3})]},
    "included": {"k": 4, "include": [2], "constraints": [lm.Regions([*"abb"], at_most={"a": 1})]},
    "excluded": {"k": 4, "exclude": [1], "constraints": [lm.Regions([*"abb"], exactly={"a": 2})]},
    "distances": {"k": 2, "constraints": [lm.MinDistance([0.0, 1.0, 2.0], 2.0)]},
}


@pytest.mark.parametrize("method", [*METHODS, "exact"])
@pytest.mark.parametrize("case", REPEATED)
def test_repeats_go_with_constraints(case, method):
    """On a diagonal K a place measured c times with noise 4 leaves K_jj / (1 + c K_jj / 4)."""
    sizes, words = np.array([9.0, 5.0, 1.0]), REPEATED[case]
    s = lm.select(lm.psd(np.diag(sizes)), method=method, noise=4.0, repeats=True, **words)
    errors = [
        float(np.sum(sizes / (1 + np.bincount(S, minlength=3) * sizes / 4)))
        for S in combinations_with_replacement(range(3), words["k"])
        if {*words.get("include", ())} <= {*S} <= {0, 1, 2} - {*words.get("exclude", ())}
        and satisfies(words["constraints"], S)
    ]
    assert satisfies(words["constraints"], s.indices) and s.error() == pytest.approx(min(errors))


@pytest.mark.parametrize("method", ["rpcholesky", "continuous", "uniform", "pivoted_qr"])
def test_other_methods_refuse(method):
    with pytest.raises(UnsupportedError, match="does not support constraints on places"):
        lm.select(np.eye(4), 2, method=method, constraints=[lm.MinDistance(np.arange(4), 1)])


def test_a_start_that_breaks_them_is_refused():
    apart = [lm.MinDistance(np.arange(4), 2)]
    with pytest.raises(UnsupportedError, match="RPCholesky does not support"):
        lm.select(np.eye(4), 2, method=lm.Swap(start="rpcholesky"), constraints=apart)
    with pytest.raises(ValueError, match="start: 0 and 1 are 1 apart, less than 2"):
        lm.select(np.eye(4), 2, method=lm.Swap(start=[0, 1]), constraints=apart)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: lm.MinDistance([0.0, 1.0], 0), "distance must be a positive number, got 0"),
        (lambda: lm.Regions(list("aab")), "Regions needs at_most"),
        (lambda: lm.Regions(list("aab"), at_most={"d": 1}), "no candidate has the label 'd'"),
        (lambda: lm.Regions(list("aab"), at_most={"a": 1.5}), "must be a whole number"),
        (lambda: lm.Regions(list("aab"), at_most=-1), "must be a whole number"),
        (lambda: lm.Regions(list("aab"), {"a": 1}, {"a": 1}), "is in at_most and in exactly"),
    ],
)
def test_a_constraint_that_makes_no_sense_says_why(make, message):
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("constraint", "more", "message"),
    [
        (lm.MinDistance(np.arange(3), 1), {}, "one row for each of the n = 4 candidates, got 3"),
        (lm.Regions(list("aaab"), at_most={"a": 1}), {}, "room for 2 places, fewer than k = 3"),
        (lm.Regions(list("aaab"), exactly={"b": 2}), {}, "only 1 of its candidates"),
        (lm.Regions(list("aabb"), exactly={"a": 2, "b": 2}), {}, "asks for 4 places, more than k"),
        (lm.MinDistance(np.arange(4), 2), {}, "no choice of k = 3 places satisfies MinDistance"),
        (lm.MinDistance(np.arange(4), 2), {"include": [1, 2]}, "include: 1 and 2 are 1 apart"),
        (lm.MinDistance(np.arange(4), 1), {"groups": list("aabb")}, "combined with groups"),
        (lm.MinDistance(np.arange(4), 1), {"k": lm.Knee()}, "need k as a number"),
    ],
)
def test_what_cannot_be_satisfied_is_an_error(constraint, more, message):
    with pytest.raises(ValueError, match=message):
        lm.select(np.eye(4), **({"k": 3, "constraints": [constraint]} | more))


def test_anything_but_a_constraint_is_refused():
    with pytest.raises(TypeError, match="list of lm.MinDistance"):
        lm.select(np.eye(4), 2, constraints=[0.5])


def test_stability_honours_the_constraints():
    X = np.random.default_rng(0).standard_normal((40, N))
    labels = ["a"] * 5 + ["b"] * 6
    s = lm.select(X, 3, method="greedy", constraints=[lm.Regions(labels, exactly={"a": 1})])
    frequencies = s.stability(n_bootstrap=10).frequencies
    assert np.sum(frequencies[:5]) == pytest.approx(1) and np.sum(frequencies) == pytest.approx(3)


def test_zones_hold_what_lies_inside():
    places = np.random.default_rng(0).uniform(-1, 1, (200, 2))
    x, y = places.T
    assert set(lm.in_box(places, -0.5, [0.5, 0])) == set(
        np.flatnonzero((abs(x) <= 0.5) & (y >= -0.5) & (y <= 0))
    )
    assert set(lm.in_ball(places, [0, 0], 0.7)) == set(np.flatnonzero(x**2 + y**2 <= 0.49))
    diamond = [[1, 0], [0, 1], [-1, 0], [0, -1]]
    assert set(lm.in_polygon(places, diamond)) == set(np.flatnonzero(abs(x) + abs(y) < 1))


def test_a_number_limits_every_region():
    X, labels = np.diag([5.0, 4.0, 3.0, 2.0]), list("aabb")
    s = lm.select(X, 2, constraints=[lm.Regions(labels, at_most=1)])
    assert sorted(s.indices.tolist()) == [0, 2]
    with pytest.raises(TypeError, match="at_most must be a number, or a dict"):
        lm.Regions(labels, at_most=[1, 1])


class Own(Constraint):
    """A user's constraint: no two neighbours, said in the fewest functions."""

    def __init__(self, n=None):
        self.n = n

    def check(self, n):
        return type(self)(n)

    def _near(self, chosen):
        return np.abs(np.asarray(chosen)[:, None] - np.arange(self.n)) == 1

    def addable(self, chosen, left, open_places):
        return ~np.any(self._near(chosen), axis=0)

    def exchangeable(self, chosen):
        near = self._near(chosen)
        return np.sum(near, axis=0) - near == 0

    def broken(self, chosen, complete):
        return "neighbours" if np.any(self._near(chosen)[:, chosen]) else None

    def kept_out(self, chosen, labels):
        return ["a neighbour" if near else None for near in np.any(self._near(chosen), axis=0)]

    def restrict(self, indices):
        return type(self)(len(indices))


class Kept(Own):
    """The same, kept in files."""

    def record(self):
        return {}, np.zeros(0)

    @classmethod
    def restored(cls, record, values):
        return cls()


@pytest.mark.parametrize("method", [*METHODS, "exact"])
def test_a_constraint_of_the_user_is_one_class(method, tmp_path):
    X = np.random.default_rng(3).standard_normal((8, 9))
    s = lm.select(X, 4, method=method, constraints=Kept())
    assert np.min(np.diff(np.sort(s.indices))) >= 2
    expected = lm.select(X, 4, method=method, constraints=lm.MinDistance(np.arange(9), 2))
    assert s.error() == pytest.approx(expected.error()) and s.proved == expected.proved
    assert "a neighbour" in s.why().dropped["kept_out"]
    s.save(tmp_path / "run.npz")
    (again,) = lm.load(tmp_path / "run.npz", data=X).constraints
    assert isinstance(again, Kept) and again.n == 9


def test_a_file_that_would_lose_a_constraint_is_not_written(tmp_path):
    s = lm.select(np.eye(9), 3, method="greedy", constraints=Own())
    with pytest.raises(UnsupportedError, match="give Own the functions record and restored"):
        s.save(tmp_path / "run.npz")
    assert not (tmp_path / "run.npz").exists()


def test_a_file_with_a_constraint_that_is_not_defined_says_so(tmp_path, monkeypatch):
    lm.select(np.eye(9), 3, method="greedy", constraints=Kept()).save(tmp_path / "run.npz")
    monkeypatch.setattr(Constraint, "__subclasses__", list)
    with pytest.raises(UnsupportedError, match=r"run.npz.* of the class Kept, .* import it"):
        lm.load(tmp_path / "run.npz")


def large():
    """400 places with each constraint that people have."""
    rng = np.random.default_rng(5)
    places, labels = rng.random((400, 2)), rng.integers(0, 8, 400)
    distance, exactly = lm.MinDistance(places, 0.06), lm.Regions(labels, exactly={0: 5, 1: 4})
    given = {
        "distance": [lm.MinDistance(places, 0.1)],
        "at most": [lm.Regions(labels, at_most=4)],
        "exactly": [exactly],
        "both": [distance, exactly],
    }
    return lm.kernel(places, lm.rbf(sigma=0.15)), given


LARGE, GIVEN = large()


@pytest.mark.parametrize("constraints", GIVEN.values(), ids=GIVEN)
def test_a_second_is_enough_to_be_no_worse_than_greedy(constraints):
    greedy = lm.select(LARGE, 25, method="greedy", constraints=constraints)
    s = lm.select(LARGE, 25, budget=1, constraints=constraints)
    assert satisfies(constraints, s.indices.tolist())
    assert s.error() <= greedy.error() * (1 + 1e-9)


@pytest.mark.parametrize("number", range(len(CASES)))
def test_only_places_that_no_completion_has_are_ruled_out(number):
    X, constraints = CASES[number]
    problem = lm.Problem(lm.data(X), 4, constraints=tuple(constraints))
    for S in all_allowed(number, 4):
        for size in range(4):
            for part in combinations(S, size):
                assert np.all(problem.addable(list(part))[list(set(S) - set(part))])
