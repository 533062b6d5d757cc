"""The settings that a user leaves open are the documented ones."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import landmarks as lm
from landmarks.linalg.error import estimated_error
from landmarks.linalg.solvers import Automatic, BlockCG
from landmarks.methods.registry import METHODS
from landmarks.methods.relaxation.algorithm_1 import Stop
from landmarks.methods.relaxation.continuous import Bisection, FrankWolfe, WarmPath

X = np.random.default_rng(0).standard_normal((12, 8))
SETTINGS = {
    lm.Auto: {"effort": 180.0},
    lm.Annealed: {
        "n_steps": 40,
        "damping": 0.3,
        "phi0": 0.9,
        "phi1": 0.3,
        "fixed": 0.1,
        "between": 2,
        "sweeps": 4,
        "gamma": None,
        "n_candidates": None,
        "n_rounds": 2,
    },
    lm.Greedy: {"gain": "trace"},
    lm.NuclearScores: {"n_probes": 100},
    lm.Swap: {"start": "greedy", "criterion": None, "max_swaps": None},
    lm.Iterated: {
        "start": "greedy",
        "rounds": 50,
        "share": 0.15,
        "patience": 50,
        "criterion": None,
    },
    lm.RPCholesky: {"block": None},
    lm.RidgeLeverage: {"oversampling": 2.0},
    lm.Knapsack: {"max_exchanges": None},
    lm.Exact: {"start": "greedy"},
}
STRATEGIES = {
    Bisection: {"n_steps": 200, "bracket_steps": 60, "bisections": 8, "ratio": 1.03},
    FrankWolfe: {"n_steps": 40, "deltas": (0.3, 30.0), "rate": 0.2, "smallest": 1e-3},
    WarmPath: {"growth": 1.01, "start": 1.0, "max_steps": 3000},
}
RULES = {
    lm.MaxError: {"error": 0.05},
    lm.Knee: {"most": 100},
    lm.LikelihoodRatio: {"alpha": 0.05, "degrees": None},
    lm.CrossValidated: {"folds": 5, "most": 100, "ridge": None},
}


def settings(made):
    return {field.name: getattr(made, field.name) for field in fields(made)}


@pytest.mark.parametrize("method", SETTINGS, ids=lambda method: method.__name__)
def test_settings_of_a_method(method):
    assert settings(method()) == SETTINGS[method]
    assert (
        lm.select(X, 3, method=method(**SETTINGS[method])).indices.tolist()
        == lm.select(X, 3, method=method()).indices.tolist()
    )


def test_settings_of_every_method_are_listed():
    """Those of Continuous are below; KMeans needs points."""
    with_settings = {method for method in METHODS.values() if fields(method)}
    assert with_settings - {lm.Continuous, lm.KMeans} == set(SETTINGS)


@pytest.mark.parametrize("strategy", STRATEGIES, ids=lambda strategy: strategy.__name__)
def test_settings_of_a_strategy(strategy):
    assert settings(strategy()) == STRATEGIES[strategy]
    assert len(lm.select(X, 3, method=lm.Continuous(strategy=strategy()))) == 3


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_settings_of_a_rule(rule):
    assert settings(rule()) == RULES[rule]
    assert len(lm.select(X, rule(), method="greedy")) >= 1


def test_settings_of_the_relaxation():
    made = settings(lm.Continuous())
    assert {
        name: made[name] for name in ("penalty", "delta", "threshold", "epsilon", "strategy")
    } == dict.fromkeys(("penalty", "delta", "threshold", "epsilon", "strategy"))
    assert (made["n_probes"], made["units"], made["polish"]) == (10, "relative", False)
    assert (made["step"].rate, made["stop"], made["solver"]) == (0.1, None, Automatic())
    assert settings(Stop()) == {
        "max_steps": 2000,
        "tolerance": 1e-5,
        "patience": 10,
        "settled": 100,
    }
    assert len(lm.select(X, 3, method=lm.Continuous())) == 3


def test_settings_of_the_solvers():
    assert settings(BlockCG()) == {"tolerance": 1e-2, "max_steps": 500}
    assert settings(Automatic()) == {"direct_below": 2000, "iterative": BlockCG()}
    lm.select(X, 3, method=lm.Continuous(strategy="frank_wolfe", solver=BlockCG()))


def test_settings_of_the_functions():
    def defaults(function):
        return {
            name: parameter.default
            for name, parameter in inspect.signature(function).parameters.items()
        }

    chosen = defaults(lm.select)
    assert (chosen["method"], chosen["criterion"], chosen["seed"]) == ("auto", "trace", 0)
    assert defaults(lm.path)["criterion"] == "trace" and defaults(lm.load)["max_bytes"] == 2**30
    assert defaults(lm.Checkpoint)["interval"] == 5.0 and defaults(lm.data)["memory"] == 2**30
    assert defaults(lm.psd)["check_symmetric"] and defaults(lm.function)["check_symmetric"]
    assert defaults(lm.kernel)["memory"] == 256 * 2**20
    estimate = defaults(estimated_error)
    assert (estimate["n_probes"], estimate["seed"]) == (32, 0)
    lm.select(X, 3, method="greedy"), lm.path(X, [1])
    estimated_error(lm.psd(np.eye(3)), [0], "trace")


EDGES = [
    (lm.Auto, {"effort": 1e-9}),
    (
        lm.Annealed,
        {"n_steps": 1, "n_rounds": 1, "damping": 1.0, "phi0": 1.0, "phi1": 1.0, "gamma": 1e-9},
    ),
    (lm.Annealed, {"fixed": 1.0, "between": 0, "sweeps": 0}),
    (lm.NuclearScores, {"n_probes": 2}),
    (lm.Swap, {"max_swaps": 0, "criterion": "frobenius"}),
    (lm.Iterated, {"rounds": 0, "share": 1.0, "patience": 1}),
    (lm.RPCholesky, {"block": 1}),
    (lm.RidgeLeverage, {"oversampling": 1.0}),
    (lm.Knapsack, {"max_exchanges": 0}),
    (
        lm.Continuous,
        {"penalty": 1e-9, "delta": 1e-9, "n_probes": 1, "threshold": 0.0, "units": "absolute"},
    ),
    (lm.Continuous, {"n_probes": None, "threshold": 0.999}),
    (lm.MaxError, {"error": 0.0}),
    (lm.Knee, {"most": 2}),
    (lm.LikelihoodRatio, {"alpha": 0.999, "degrees": 1e-9}),
    (lm.CrossValidated, {"folds": 2, "most": 1, "ridge": "cv"}),
    (lm.Checkpoint, {"path": "run.npz", "interval": 0}),
]
BEYOND = [
    (lm.Auto, {"effort": 0.0}),
    (lm.Annealed, {"n_steps": 0}),
    (lm.Annealed, {"n_rounds": 0}),
    (lm.Annealed, {"damping": 0.0}),
    (lm.Annealed, {"damping": 1.001}),
    (lm.Annealed, {"phi1": 0.0}),
    (lm.Annealed, {"phi0": 1.001}),
    (lm.Annealed, {"phi0": 0.1, "phi1": 0.2}),
    (lm.Annealed, {"gamma": 0.0}),
    (lm.Annealed, {"fixed": 0.0}),
    (lm.Annealed, {"fixed": 1.001}),
    (lm.Annealed, {"between": -1}),
    (lm.Annealed, {"sweeps": -1}),
    (lm.NuclearScores, {"n_probes": 2.5}),
    (lm.Swap, {"max_swaps": -1}),
    (lm.Swap, {"criterion": "spectral"}),
    (lm.Iterated, {"share": 1.001}),
    (lm.Iterated, {"share": 0.0}),
    (lm.Iterated, {"rounds": -1}),
    (lm.Iterated, {"patience": 0}),
    (lm.Iterated, {"criterion": "nuclear"}),
    (lm.Knapsack, {"max_exchanges": -1}),
    (lm.RPCholesky, {"block": 0}),
    (lm.RPCholesky, {"block": 1.5}),
    (lm.RPCholesky, {"block": True}),
    (lm.RidgeLeverage, {"oversampling": 0.999}),
    (lm.Continuous, {"penalty": 0.0}),
    (lm.Continuous, {"n_probes": True}),
    (lm.Continuous, {"n_probes": 1.5}),
    (lm.Continuous, {"threshold": 1.0}),
    (lm.Continuous, {"threshold": -0.001}),
    (lm.MaxError, {"error": -0.001}),
    (lm.MaxError, {"error": 1.0}),
    (lm.Knee, {"most": 1}),
    (lm.Knee, {"most": 2.5}),
    (lm.Knee, {"most": True}),
    (lm.LikelihoodRatio, {"alpha": 0.0}),
    (lm.LikelihoodRatio, {"alpha": 1.0}),
    (lm.LikelihoodRatio, {"alpha": 1}),
    (lm.LikelihoodRatio, {"degrees": 0}),
    (lm.CrossValidated, {"folds": 1}),
    (lm.CrossValidated, {"most": 0}),
    (lm.CrossValidated, {"ridge": "yes"}),
    (lm.Checkpoint, {"path": "run.npz", "interval": -1}),
    (lm.Checkpoint, {"path": "run.npz", "interval": True}),
    (lm.Checkpoint, {"path": "run.npz", "interval": "1"}),
]


@pytest.mark.parametrize(("kind", "given"), EDGES, ids=str)
def test_settings_at_the_edge_are_accepted(kind, given):
    made = kind(**given)
    assert {name: getattr(made, name) for name in given} == given


@pytest.mark.parametrize(("kind", "given"), BEYOND, ids=str)
def test_settings_beyond_the_edge_are_refused(kind, given):
    with pytest.raises(ValueError, match=str(next(reversed(given)))):
        kind(**given)


@pytest.mark.parametrize("budget", [True, "1", 0, -1.0, np.nan])
def test_a_budget_is_a_positive_number_of_seconds(budget):
    with pytest.raises(
        ValueError, match="budget must be a positive number of seconds or None, got"
    ):
        lm.select(X, 2, budget=budget)
    assert len(lm.select(X, 2, method="greedy", budget=1)) == 2
