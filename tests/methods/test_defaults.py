"""The settings that a user leaves open are the documented ones."""

import inspect
from dataclasses import fields

import numpy as np
import pytest

import landmarks as lm
from landmarks.methods.bisection import Bisection
from landmarks.methods.frank_wolfe import FrankWolfe
from landmarks.methods.registry import METHODS
from landmarks.methods.warm_path import WarmPath
from landmarks.solvers import Automatic, BlockCG

X = np.random.default_rng(0).standard_normal((12, 8))
SETTINGS = {
    lm.Auto: {"effort": 180.0},
    lm.Annealed: {"n_steps": 80, "damping": 0.2, "phi0": 0.9, "phi1": 0.02, "gamma": None, "n_candidates": None, "n_rounds": 4},
    lm.Greedy: {"gain": "trace"},
    lm.NuclearScores: {"n_probes": 100},
    lm.Swap: {"start": "greedy", "criterion": None, "max_swaps": None},
    lm.Iterated: {"start": "greedy", "rounds": 50, "share": 0.15, "patience": 50},
    lm.RPCholesky: {"block": None},
    lm.RidgeLeverage: {"oversampling": 2.0},
    lm.Knapsack: {"max_exchanges": None},
    lm.Exact: {"start": "greedy"},
    lm.KDPP: {},
    lm.PivotedQR: {},
    lm.Uniform: {},
}
STRATEGIES = {
    Bisection: {"n_steps": 200, "bracket_steps": 60, "bisections": 8, "ratio": 1.03},
    FrankWolfe: {"n_steps": 40, "deltas": (0.3, 30.0), "rate": 0.2, "smallest": 1e-3},
    WarmPath: {"growth": 1.01, "start": 1.0, "max_steps": 3000},
}
RULES = {lm.Target: {"error": 0.05}, lm.Knee: {"most": 100}, lm.LikelihoodRatio: {"alpha": 0.05, "degrees": None}}


def settings(made):
    return {field.name: getattr(made, field.name) for field in fields(made)}


@pytest.mark.parametrize("method", SETTINGS, ids=lambda method: method.__name__)
def test_settings_of_a_method(method):
    assert settings(method()) == SETTINGS[method]
    assert lm.select(X, 3, method=method(**SETTINGS[method])).indices.tolist() == lm.select(X, 3, method=method()).indices.tolist()


def test_settings_of_every_method_are_listed():
    assert set(METHODS.values()) == {*SETTINGS, lm.Continuous, lm.KMeans}


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
    assert {name: made[name] for name in ("penalty", "delta", "threshold", "epsilon", "strategy")} == dict.fromkeys(
        ("penalty", "delta", "threshold", "epsilon", "strategy")
    )
    assert (made["n_probes"], made["units"], made["polish"]) == (10, "relative", False)
    assert (made["step"].rate, made["stop"].max_steps, made["solver"]) == (0.1, 500, Automatic())
    assert len(lm.select(X, 3, method=lm.Continuous())) == 3


def test_settings_of_the_solvers():
    assert settings(BlockCG()) == {"tolerance": 1e-2, "max_steps": 500, "precondition": None}
    assert settings(Automatic()) == {"direct_below": 2000, "iterative": BlockCG()}
    lm.select(X, 3, method=lm.Continuous(strategy="frank_wolfe", solver=BlockCG()))


def test_settings_of_the_functions():
    def defaults(function):
        return {name: parameter.default for name, parameter in inspect.signature(function).parameters.items()}

    chosen = defaults(lm.select)
    assert (chosen["method"], chosen["criterion"], chosen["seed"]) == ("auto", "trace", 0)
    assert defaults(lm.path)["criterion"] == "trace" and defaults(lm.load)["max_bytes"] == 2**30
    assert defaults(lm.Checkpoint)["interval"] == 5.0 and defaults(lm.data)["memory"] == 2**30
    assert defaults(lm.psd)["check_symmetric"] and defaults(lm.function)["check_symmetric"]
    lm.select(X, 3, method="greedy"), lm.path(X, [1])
