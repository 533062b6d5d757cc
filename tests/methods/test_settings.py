"""Settings at the edge of what makes sense are accepted, and those beyond it refused."""

import numpy as np
import pytest

import landmarks as lm

X = np.random.default_rng(0).standard_normal((12, 8))
EDGES = [
    (lm.Auto, {"effort": 1e-9}),
    (
        lm.Annealed,
        {"n_steps": 1, "damping": 1.0, "phi0": 1.0, "phi1": 1.0, "gamma": 1e-9},
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
