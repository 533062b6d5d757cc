"""The bootstrap of a selection on data where it is known what must be chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.errors import RankWarning, UnsupportedError
from landmarks.explain.stability import Stability

NORMAL = np.random.default_rng(0).standard_normal((60, 6))
DOMINANT = NORMAL * [1, 9, 1, 9, 1, 1]


@dataclass(frozen=True)
class First:
    """The first k columns; ignores include and exclude."""

    honours = frozenset()

    def choose(self, problem: lm.Problem, rng: np.random.Generator) -> lm.Choice:
        return lm.Choice(np.arange(problem.k))


def scattered(groups: int, each: int) -> np.ndarray:
    """Points in tight groups that are far from one another."""
    rng = np.random.default_rng(1)
    return np.repeat(100.0 * np.arange(groups), each)[:, None] + 0.01 * rng.standard_normal(
        (groups * each, 2)
    )


@pytest.mark.parametrize("method", ["auto", "greedy", "rpcholesky"])
@pytest.mark.parametrize(
    "make", [lm.data, lambda X: lm.data(scipy.sparse.csr_array(X))], ids=["dense", "sparse"]
)
def test_planted_dominant_columns_are_always_chosen(make, method):
    found = lm.select(make(DOMINANT), 2, method=method).stability(10)
    # a random pivot falls on each weak column with a chance of about 1/165
    np.testing.assert_allclose(
        found.frequencies, [0, 1, 0, 1, 0, 0], atol=0.2 if method == "rpcholesky" else 0
    )


def test_duplicates_share_their_frequency():
    X = np.column_stack([DOMINANT, DOMINANT[:, 3]])
    frequencies = lm.select(X, 2, method="greedy").stability(100).frequencies
    assert frequencies[1] == 1 and frequencies[3] + frequencies[6] == 1
    assert abs(frequencies[3] - 0.5) < 0.2  # four standard deviations of 100 coins


def test_frequencies_add_up_to_k():
    found = lm.select(NORMAL, 3, method="greedy").stability(20)
    assert found.n_bootstrap == 20
    np.testing.assert_allclose(found.frequencies.sum(), 3)


def test_the_library_does_not_matter(xp):
    found = lm.select(xp.asarray(NORMAL), 3, method="greedy").stability(10)
    np.testing.assert_array_equal(
        found.frequencies, lm.select(NORMAL, 3, method="greedy").stability(10).frequencies
    )


def test_constraints_hold_in_every_sample():
    frequencies = (
        lm.select(DOMINANT, 3, method="greedy", include=[0], exclude=[1]).stability(10).frequencies
    )
    assert frequencies[0] == frequencies[3] == 1 and frequencies[1] == 0


def test_groups_stay_complete_and_costs_are_kept_in_every_sample():
    groups = [0, 0, 1, 1, 2, 2]
    found = lm.select(NORMAL, 2, groups=groups, include=[4]).stability(10).frequencies
    np.testing.assert_array_equal(found[::2], found[1::2])
    assert found[4] == 1 and found.sum() == pytest.approx(4)
    costs = np.arange(1.0, 7.0)
    s = lm.select(NORMAL, costs=costs, budget_cost=6)
    assert 0 < s.stability(10).frequencies @ costs <= 6
    left = 6 - costs[s.indices].sum()
    for row in s.why().chosen.rows:
        others = [row[name] for name in row if name.startswith("substitute")]
        assert all(costs[j] <= left + costs[row["index"]] for j in others if j is not None)


def test_each_group_of_points_has_one_landmark():
    frequencies = (
        lm.select(lm.kernel(scattered(4, 10), lm.rbf(sigma=1.0)), 4, method="greedy")
        .stability(40)
        .frequencies
    )
    # a point is in 63 % of the samples, and is one of about 6.3 different ones of its group there
    np.testing.assert_allclose(frequencies.reshape(4, 10).sum(axis=1), 1 / 0.632, atol=0.25)


def test_a_point_that_must_be_kept_is_in_every_sample():
    operator = lm.kernel(scattered(4, 10), lm.rbf(sigma=1.0))
    frequencies = (
        lm.select(operator, 4, method="greedy", include=[17], exclude=[0, 1])
        .stability(10)
        .frequencies
    )
    assert frequencies[17] == 1 and np.all(frequencies[[0, 1]] == 0)


@pytest.mark.parametrize(
    "operator", [lm.psd(NORMAL.T @ NORMAL), lm.toeplitz(0.5 ** np.arange(8.0))], ids=repr
)
def test_an_operator_without_rows_or_points_says_what_to_give(operator):
    with pytest.raises(
        UnsupportedError,
        match=r"needs the rows of data or the points of a kernel.*give X itself, or "
        r"kernel\(points, h\)",
    ):
        lm.select(operator, 2, method="greedy").stability()


def test_too_few_rows_are_refused():
    with pytest.raises(
        ValueError,
        match="sample of 9 rows holds about 6 different ones, too few to choose k = 5; "
        "stability needs at least 2 k = 10 rows",
    ):
        lm.select(NORMAL[:9], 5, method="greedy").stability()


def test_any_method_object_is_accepted():
    assert (
        lm.select(NORMAL, 2, method=First()).stability(40).frequencies.min() > 0
    )  # the first of a random order


def test_low_rank_is_reported_once_for_all_samples():
    X = NORMAL[:, :2] @ np.ones((2, 6))
    with pytest.warns(RankWarning, match="numerical rank 1 < k = 2") as warned:
        lm.select(X, 2, method="greedy").stability(5)
    assert len(warned) == 2  # one from the selection itself


@pytest.mark.parametrize("n_bootstrap", [0, -1, 2.5, True, "5"])
def test_the_number_of_samples_is_checked(n_bootstrap):
    with pytest.raises(ValueError, match="n_bootstrap must be a whole number of at least 1, got"):
        lm.select(NORMAL, 2, method="greedy").stability(n_bootstrap)


def test_a_method_that_ignores_constraints_is_refused():
    with pytest.raises(UnsupportedError, match="First does not support include"):
        lm.select(NORMAL, 2, method="greedy", include=[1]).stability(method=First())


def test_a_loaded_selection_asks_for_its_method_and_keeps_its_constraints(tmp_path):
    lm.select(NORMAL, 2, method="greedy", include=[4], exclude=[0]).save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz", data=NORMAL)
    assert back.include == (4,) and back.exclude == (0,)
    with pytest.raises(
        ValueError,
        match=r"does not hold its method, Greedy\(.*\); give one, e.g. "
        r'stability\(method="greedy"\)',
    ):
        back.stability()
    assert back.stability(5, method="greedy").frequencies[4] == 1


def test_twice_as_many_rows_or_points_as_columns_are_enough():
    assert lm.select(NORMAL[:6], 3, method="greedy").stability(3).n_bootstrap == 3
    lm.select(lm.kernel(scattered(5, 2), lm.rbf(sigma=1.0)), 5, method="uniform").stability(1)
    with pytest.raises(
        ValueError,
        match="sample of 11 points holds about 7 different ones, too few to choose k = 6; "
        "stability needs at least 2 k = 12",
    ):
        lm.select(lm.kernel(NORMAL[:11], lm.rbf(sigma=1.0)), 6, method="uniform").stability(1)


def test_fifty_samples_of_one_seed_are_drawn_by_default():
    selection = lm.select(NORMAL, 3, method="greedy")
    found = selection.stability()
    assert found.n_bootstrap == 50 and np.array_equal(
        found.frequencies, selection.stability(50, seed=0).frequencies
    )


def test_it_prints_as_one_line_with_names_and_the_most_frequent_first():
    frequencies = np.array([0.0, 0.125, np.nan, 1.0])
    found = Stability(frequencies, 8, ("age", "bmi", "sex", "map"))
    assert str(found) == (
        "Stability: 8 bootstrap samples chose 2 of 4 candidates: map (100%), bmi (12.5%)"
    )
    assert str(Stability(np.full(30, 0.5), 4)).endswith("8 (50%), 9 (50%), … 20 more")
