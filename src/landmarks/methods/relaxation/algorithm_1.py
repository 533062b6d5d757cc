"""Algorithm 1, Continuous Landmark Selection (Mathur, Moka and Botev, 2023).

Comments give its line numbers. Line 1 is the input: λ is `penalty`, τ is `threshold`, and
`objective` holds K and δ and draws M probes for each gradient (`gradients.py`). TermCond is
`descent.stop`, a rule of `stopping.py`. The descent ends when the rule says so, after the rule's
`max_steps`, or when a step would leave fewer than `descent.at_least` columns. `descent.step` is a
rule of `steps.py`. `recorder` collects what users see as `selection.path`. `run` makes the steps
that `gradient_steps` yields.

Where the code differs from the paper, and why:

* Gradient: `objective` gives 2φ or 2ψ in the short forms of `gradients.py`. For every probe they
  equal those of Lemma 3.1 and Lemma 3.2, and they save one product with K.
* Step: the paper names no rule and no rate. The gradient is divided by λ, so that one rate fits
  every scale of K. No w moves by more than CLIP, so that one noisy gradient cannot decide.
* Box: w stops at 0, since w and −w are the same weight, and t stays just below 1, where L_t would
  be singular when columns repeat.
* Freeze: the columns that the user includes are held just below 1 and never frozen.
* Units: δ and λ are absolute here. `Continuous` turns relative ones into these, because scaling K
  and δ together changes no iterate.
* Threshold: when k is given, the k largest weights are chosen and τ is not used.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..._array import host, like, namespace, take
from ...problem import Problem
from ...runs.runner import Step, run
from ..trajectory import Recorder
from .box import Weights, chain, from_box, highest, largest, to_box
from .descent import Descent, Iterate
from .relaxed import Relaxed

CLIP = 0.1  # the largest change of a w in one step


def algorithm_1(
    objective: Relaxed, penalty: float, descent: Descent, threshold: float, recorder: Recorder
) -> np.ndarray:
    """The chosen columns, largest weight first (Algorithm 1)."""
    problem = objective.problem
    w = sgd(objective, start(problem), penalty, descent, recorder)  # lines 2 to 4
    t = w.t(problem)  # line 5, box map
    if problem.k:
        return largest(t, problem.k)
    s = np.flatnonzero(t > threshold)  # lines 6 to 8, s_j = I(t_j > τ)
    return s[np.argsort(-t[s], kind="stable")]  # line 9


def start(problem: Problem) -> Weights:
    """w = √(−ln(1 − t)) with t = 1/2 for every candidate (lines 2 and 3 of Algorithm 1)."""
    reference = problem.operator.like
    held = np.isin(problem.candidates, problem.include)
    t = like(np.where(held, highest(reference), 0.5), reference)
    held = like(held, reference, dtype=namespace(reference).bool)
    return Weights(problem.candidates, from_box(t), held)


def sgd(
    objective: Relaxed, start: Weights, penalty: float, descent: Descent, recorder: Recorder
) -> Weights:
    """w* from the start by stochastic gradient descent (line 4 of Algorithm 1)."""
    at = Iterate(start, descent.step.start(start.w))
    steps = gradient_steps(at, objective, penalty, descent, recorder)
    run("descent", steps, at, objective, recorder)
    return at.weights


def gradient_steps(
    at: Iterate, objective: Relaxed, penalty: float, descent: Descent, recorder: Recorder
) -> Iterator[Step]:
    """The steps until TermCond ends the descent; small weights are frozen (Section 3.4)."""
    xp = namespace(at.weights.w)
    while not at.ended:
        columns = at.weights.columns
        w = at.weights.w
        held = at.weights.held
        t = to_box(w)  # 1 − exp(−w ⊙ w)
        result = objective(columns, t)  # with 2φ (Lemma 3.1) or 2ψ (Lemma 3.2)
        recorder.add(t, columns, result.value, result.solver_steps)
        gradient = chain(result.gradient / penalty + 1, w)  # 2φ/λ + 1 or 2ψ/λ + 1; Section 3.1
        change, memory = descent.step.update(gradient, at.memory, at.i)  # step
        stepped = xp.clip(w + xp.clip(change, min=-CLIP, max=CLIP), min=0.0)
        w = xp.where(held, w, stepped)
        at.weights = Weights(columns, w, held)
        at.i += 1
        active = np.flatnonzero(host((to_box(w) > descent.epsilon) | held))
        at.history.add(result.value, penalty, t, to_box(w), len(active))
        few = len(active) < descent.at_least
        at.ended = few or at.i >= descent.stop.max_steps or descent.stop(at.history)  # TermCond
        if not few:
            at.weights = at.weights.only(active)  # freeze the others at zero (Section 3.4)
            at.memory = tuple(take(part, active) for part in memory)
        yield Step(at.i, descent.stop.max_steps)
