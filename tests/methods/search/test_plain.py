"""Swaps and rounds are those of a transcription by errors alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import landmarks as lm

from .plain import PlainSearch, errors

RNG = np.random.default_rng(6)
X = RNG.standard_normal((40, 5)) @ RNG.standard_normal((5, 18)) + RNG.standard_normal((40, 18))
K = X.T @ X
LIMITS = [{}, {"include": (3,), "exclude": (0, 17)}]
FORMS = {"matrix": lambda: lm.psd(K), "data": lambda: lm.data(X)}


def products(K: np.ndarray) -> Any:
    """K known by products, which leave no other way to make the moves."""
    return lm.function(lambda V: K @ V, n=len(K), diagonal=np.diag(K))


def renamed(limits):
    return {"held": limits.get("include", ()), "barred": limits.get("exclude", ())}


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("form", FORMS)
def test_swaps_are_those_of_a_transcription(form, criterion, limits):
    start = [3, 1, 2, 9, 5, 6]
    problem = lm.Problem(FORMS[form](), 6, criterion, **limits)
    found = lm.Swap(start=start, criterion=criterion).choose(problem, RNG)
    plain = PlainSearch(errors(K, criterion), lm.Iterated(), RNG, K=K, **renamed(limits))
    assert found.indices.tolist() == plain.descended(start)
    assert found.details == {"swaps": plain.swaps} and plain.swaps > 1


@pytest.mark.parametrize("limits", LIMITS, ids=str)
@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("share", [0.15, 0.8])
def test_rounds_are_those_of_a_transcription(criterion, limits, share):
    start = [3, 1, 2, 9, 5, 6]
    settings = lm.Iterated(start=start, rounds=12, patience=3, share=share)
    problem = lm.Problem(products(K), 6, criterion, **limits)
    found = settings.choose(problem, np.random.default_rng(1))
    rng = np.random.default_rng(1)
    plain = PlainSearch(errors(K, criterion), settings, rng, K=K, **renamed(limits))
    assert found.indices.tolist() == plain.run(start)
    assert found.details == {"rounds": 12, "improvements": plain.improvements}


def test_rounds_look_first_where_members_resemble_those_that_were_dropped():
    """Of 20 members 16 are near one that was dropped, and four of them are promising."""
    Y = RNG.standard_normal((50, 30)) + 2 * RNG.standard_normal((50, 3)) @ RNG.random((3, 30))
    G, start = Y.T @ Y, list(range(20))
    settings = lm.Iterated(start=start, rounds=6, patience=2, share=0.05)
    found = settings.choose(lm.Problem(products(G), 20), np.random.default_rng(1))
    plain = PlainSearch(errors(G, "trace"), settings, np.random.default_rng(1), K=G)
    assert found.indices.tolist() == plain.run(start)
    assert found.details["improvements"] == plain.improvements
