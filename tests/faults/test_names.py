"""An error names the argument that is wrong."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import landmarks as lm

X = np.random.default_rng(0).standard_normal((12, 6))
NAN = np.where(np.eye(12, 6) > 0, np.nan, X)
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "diagonal": (lambda: lm.function(lambda V: V, n=2, diagonal=[1.0, np.nan]), "diagonal contain"),
    "points": (lambda: lm.kernel(NAN, lm.rbf()), "points contain"),
    "new points": (
        lambda: lm.select(lm.kernel(X, lm.rbf()), 2, method="greedy").nystrom().features(NAN),
        "points contain",
    ),
    "first_column": (lambda: lm.toeplitz([1.0, np.nan]), "first_column contain"),
    "precision": (lambda: lm.kernel(X, lm.rbf(), precision="low"), "precision must be one of"),
    "engine": (lambda: lm.kernel(X, lm.rbf(), engine="steam"), "engine must be one of"),
    "gain": (lambda: lm.Greedy(gain="much"), 'gain must be "trace", .* or None, got'),
    "target": (lambda: lm.select(X, 2, method=lm.Supervised([np.nan] * 6)), "target contain"),
    "criterion": (lambda: lm.path(X, [1, 2], criterion="size"), "criterion must be one of"),
    "n_bootstrap": (lambda: lm.select(X, 2).stability(0), "n_bootstrap must be"),
    "each": (lambda: lm.select(X, 2).why(each=0), "each must be"),
    "effort": (lambda: lm.Auto(effort=0), "effort must be"),
    "noise": (lambda: lm.Supervised(X[0], noise=0), "noise must be"),
    "units": (lambda: lm.Continuous(units="feet"), "units must be one of"),
    "n_probes": (
        lambda: lm.Continuous(n_probes=1.5),
        "n_probes must be a positive integer, or None",
    ),
    "strategy": (lambda: lm.Continuous(strategy="luck"), "strategy must be one of"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_error_begins_with_the_name_of_the_argument(name):
    use, words = WRONG[name]
    with pytest.raises((ValueError, TypeError), match=rf"^(Input )?{words}"):
        use()
