"""The continuous method with k given: three strategies give exactly k, on every library."""

from dataclasses import replace

import numpy as np
import pytest
from errors_of import selection_error

import landmarks as lm
from landmarks.errors import ConvergenceWarning
from landmarks.linalg.solvers import BlockCG
from landmarks.methods.relaxation import continuous
from landmarks.methods.relaxation.algorithm_1 import Steps, Stop
from landmarks.methods.relaxation.continuous import (
    Bisection,
    Bracket,
    FrankWolfe,
    Roundings,
    WarmPath,
)
from landmarks.runs.runner import watching

STRATEGIES = [
    Bisection(n_steps=40, bracket_steps=20, bisections=3),
    WarmPath(growth=1.05),
    FrankWolfe(n_steps=20),
]


@pytest.fixture
def X():
    rng = np.random.default_rng(1)
    return rng.standard_normal((25, 6)) @ rng.standard_normal((6, 18)) + 0.3 * rng.standard_normal(
        (25, 18)
    )


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("k", [1, 5, 17, 18])
def test_every_strategy_returns_exactly_k(X, strategy, criterion, k):
    found = lm.select(X, k, method=lm.Continuous(strategy=strategy), criterion=criterion)
    assert len(found) == k and found.path is not None


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_every_strategy_beats_random_choices(X, strategy):
    found = lm.select(X, 6, method=lm.Continuous(strategy=strategy))
    random = np.mean([lm.select(X, 6, method="uniform", seed=seed).error() for seed in range(20)])
    assert found.error() < 0.8 * random


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_one_seed_gives_one_selection_on_every_library(X, strategy, xp):
    here = lm.select(X, 6, method=lm.Continuous(strategy=strategy), seed=3)
    there = lm.select(xp.asarray(X), 6, method=lm.Continuous(strategy=strategy), seed=3)
    assert np.array_equal(here.indices, there.indices)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_include_and_exclude_are_honoured(X, strategy):
    found = lm.select(
        X, 6, method=lm.Continuous(strategy=strategy), include=[2, 9], exclude=[0, 1, 3]
    )
    assert {2, 9} <= set(found.indices) and not {0, 1, 3} & set(found.indices)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: type(strategy).__name__)
def test_duplicates_and_zero_columns_do_no_harm(X, strategy):
    X = np.hstack([X, X[:, :4], np.zeros((25, 2))])
    found = lm.select(X, 6, method=lm.Continuous(strategy=strategy))
    assert len(found) == 6 and np.isfinite(found.error())


def test_products_alone_suffice(X):
    K = X.T @ X
    found = lm.select(
        lm.function(lambda V: K @ V, n=18),
        6,
        method=lm.Continuous(strategy="frank_wolfe", solver=BlockCG()),
    )
    assert found.ledger.columns == 0 and len(found) == 6


def test_exact_and_stochastic_gradients_end_near_each_other(X):
    exact = lm.select(X, 6, method=lm.Continuous(n_probes=None, strategy="path"))
    errors = [
        lm.select(X, 6, method=lm.Continuous(strategy="path"), seed=seed).error()
        for seed in range(20)
    ]
    assert 0.8 < np.median(errors) / exact.error() < 1.2


def test_the_warm_path_serves_many_sizes_in_one_sweep(X):
    sizes = [2, 5, 9]
    found = lm.Continuous().sweep(lm.data(X), sizes, seed=0)
    assert {k: len(indices) for k, indices in found.items()} == {2: 2, 5: 5, 9: 9}


def test_a_solver_that_stops_early_warns_once(X):
    method = lm.Continuous(strategy="frank_wolfe", solver=BlockCG(tolerance=1e-12, max_steps=1))
    with pytest.warns(ConvergenceWarning, match="stopped at its limit in") as caught:
        lm.select(X, 6, method=method)
    assert len(caught) == 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"penalty": -1.0}, "penalty must be positive"),
        ({"delta": 0.0}, "delta must be positive"),
        ({"n_probes": 0}, "n_probes must be a positive integer"),
        ({"threshold": 1.0}, "threshold must be from 0 up to 1"),
        ({"strategy": "magic"}, "strategy must be one of"),
        ({"units": "metric"}, "units must be one of"),
    ],
)
def test_wrong_settings_raise(settings, message):
    with pytest.raises(ValueError, match=message):
        lm.Continuous(**settings)


@pytest.mark.parametrize("strategy", [None, "bisection", "path", "frank_wolfe"])
def test_strategies_are_known_by_name(X, strategy):
    assert len(lm.select(X, 5, method=lm.Continuous(strategy=strategy))) == 5


@pytest.mark.parametrize(("most", "phase"), [(18, "bisection"), (17, "path")])
def test_few_candidates_are_bisected_and_many_take_the_path(X, most, phase, monkeypatch):
    monkeypatch.setattr(continuous, "BISECT_BELOW", most)
    monkeypatch.setitem(continuous.STRATEGIES, "bisection", lambda: STRATEGIES[0])
    heard = []
    with watching(heard.append):
        lm.select(X, 5, method="continuous")
    steps = [progress for progress in heard if progress.phase in ("bisection", "path")]
    assert {progress.phase for progress in steps} == {phase}


def test_a_polished_choice_is_swapped_down(X):
    plain = lm.select(X, 5, method=lm.Continuous(strategy=STRATEGIES[0]))
    polished = lm.select(X, 5, method=lm.Continuous(strategy=STRATEGIES[0], polish=True))
    swapped = lm.select(X, 5, method=lm.Swap(start=plain.indices))
    assert polished.error() == pytest.approx(swapped.error(), rel=1e-9)
    assert polished.error() <= plain.error()


def test_an_objective_that_is_restored_before_its_first_use_evaluates(X):
    objective = lm.Continuous()._objective(lm.Problem(lm.data(X), 6), np.random.default_rng(0))
    objective.restored()
    assert np.isfinite(objective(np.arange(18), np.full(18, 0.5)).value)


def test_a_bisection_counts_its_descents_and_reports_its_error(X):
    heard = []
    with watching(heard.append):
        found = lm.select(X, 5, method=lm.Continuous(strategy=STRATEGIES[0]))
    steps = [progress for progress in heard if progress.phase == "bisection"]
    assert [progress.done for progress in steps] == list(range(1, len(steps) + 1))
    assert {progress.total for progress in steps} == {None} and len(steps) > 3
    assert steps[-1].error == pytest.approx(found.relative_error(), rel=1e-9)


def test_strategies_take_settings_as_objects(X):
    for strategy in (Bisection(bisections=2), WarmPath(growth=1.1), FrankWolfe(n_steps=10)):
        assert len(lm.select(X, 5, method=lm.Continuous(strategy=strategy))) == 5


def test_weights_that_begin_below_the_smallest_one_do_no_harm(X):
    assert len(lm.select(X, 5, method=lm.Continuous(strategy=FrankWolfe(smallest=0.5)))) == 5


def test_the_gradients_are_counted(X):
    choice = lm.Continuous(strategy=FrankWolfe(n_steps=20)).choose(
        lm.Problem(lm.data(X), 6), np.random.default_rng(0)
    )
    assert choice.details["gradients"] >= 20


@pytest.mark.parametrize(("criterion", "powers"), [("trace", 2), ("frobenius", 4)])
def test_absolute_units_are_those_of_the_data_whatever_their_scale(X, criterion, powers):
    found = [
        lm.select(
            np.ldexp(X, power),
            method=lm.Continuous(
                penalty=2.0 ** (1 + powers * power), delta=2.0 ** (2 * power), units="absolute"
            ),
            criterion=criterion,
        )
        for power in (0, 110)
    ]
    assert found[0].exponent == 0 < found[1].exponent
    assert 1 < found[0].k < 18 and found[0].indices.tolist() == found[1].indices.tolist()


class TestBracket:
    """λ by doubling and halving, then by the root of the product of the two ends."""

    def test_it_doubles_while_too_many_columns_are_left_and_closes_when_too_few_are(self):
        bracket = Bracket(4.0)
        bracket.narrow(below=False)
        assert (bracket.penalty, bracket.low, bracket.high, bracket.closed, bracket.ratio) == (
            8.0,
            4.0,
            None,
            False,
            np.inf,
        )
        bracket.narrow(below=True)
        assert (bracket.low, bracket.high, bracket.closed) == (4.0 / 1.5, 8.0, True)
        assert bracket.penalty == pytest.approx(
            (4.0 / 1.5 * 8.0) ** 0.5
        ) and bracket.ratio == pytest.approx(3.0)
        assert (bracket.tries, bracket.halvings) == (2, 0)

    def test_it_halves_while_too_few_are_left(self):
        bracket = Bracket(4.0)
        bracket.narrow(below=True)
        assert (bracket.penalty, bracket.low, bracket.high, bracket.closed) == (
            2.0,
            None,
            4.0,
            False,
        )

    def test_once_closed_each_try_is_a_halving(self):
        bracket = Bracket(2.0, low=1.0, high=4.0, closed=True)
        bracket.narrow(below=True)
        assert (bracket.low, bracket.high, bracket.penalty, bracket.halvings) == (
            1.0,
            2.0,
            2.0**0.5,
            1,
        )
        bracket.narrow(below=False)
        assert (bracket.low, bracket.high, bracket.halvings, bracket.tries) == (2.0**0.5, 2.0, 2, 2)

    @pytest.mark.parametrize(
        ("below", "low", "high"),
        [(True, 2.0**-60 / 1.5, 2.0**-59), (False, 2.0**59 / 1.5, 2.0**60)],
    )
    def test_after_sixty_tries_it_takes_what_it_has(self, below, low, high):
        bracket = Bracket(1.0)
        for _ in range(60):
            assert not bracket.closed
            bracket.narrow(below)
        assert bracket.closed and (bracket.low, bracket.high) == (low, high)


def test_the_best_rounding_of_a_bisection_is_what_it_returns(X):
    problem = lm.Problem(lm.data(X), 6, include=(2,))
    objective = lm.Continuous()._objective(problem, np.random.default_rng(0))
    search = Roundings(objective, 6)
    assert search.best.dtype == np.int64 and search.error == np.inf
    descent = replace(lm.Continuous()._descent(objective), stop=Steps(30))
    unit = objective.penalty_unit()
    assert not search.ends_below(descent, 1e-6 * unit) and search.ends_below(descent, 1e4 * unit)
    assert search.error == pytest.approx(selection_error(problem.operator, search.best, "trace"))
    assert len(search.best) == 6 and 2 in search.best
    assert search.relative_error() == pytest.approx(search.error / np.sum(X**2))


def test_what_is_above_the_threshold_is_kept_after_what_must_be_included(X):
    low, high = (
        lm.select(X, method=lm.Continuous(penalty=1.0, threshold=threshold), include=[3])
        for threshold in (0.3, 0.9)
    )
    assert low.k == 16 and low.indices[0] == 3 and high.indices.tolist() == [3]


def test_a_penalty_that_leaves_nothing_raises(X):
    with pytest.raises(
        ValueError,
        match=r"penalty = 1000\.0 leaves no column above threshold = 0\.5 after 1 steps",
    ):
        lm.select(X, method=lm.Continuous(penalty=1000.0, threshold=0.5, stop=Stop(max_steps=1)))


def test_a_penalty_with_k_keeps_the_k_largest_weights(X):
    found = lm.select(
        lm.function(lambda V: X.T @ (X @ V), n=18),
        4,
        method=lm.Continuous(penalty=0.1),
        include=[3],
    )
    weights = found.path.t[-1].copy()
    weights[3] = 2.0
    assert set(found.indices) == set(np.argsort(-weights, kind="stable")[:4])


@pytest.mark.parametrize(("units", "delta"), [("relative", 0.002), ("absolute", 1.0)])
def test_delta_is_in_its_units(X, units, delta):
    problem, mean = lm.Problem(lm.data(np.ldexp(X, 110)), 4), float(np.mean(np.sum(X**2, axis=0)))
    scale = (
        mean * 2.0 ** (220 - problem.operator.exponent)
        if units == "relative"
        else 2.0**-problem.operator.exponent
    )
    for given, expected in ((None, delta), (0.3, 0.3)):
        method = lm.Continuous(units=units, delta=given)
        objective = method._objective(problem, np.random.default_rng(0))
        assert objective.delta == pytest.approx(expected * scale)
        assert method._descent(objective).epsilon == pytest.approx(
            min(0.05, 0.1 * (objective.delta / objective.mean_diagonal) ** 0.5)
        )
    assert lm.Continuous(epsilon=0.01)._descent(objective).epsilon == 0.01
