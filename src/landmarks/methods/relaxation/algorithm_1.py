"""Algorithm 1, Continuous Landmark Selection (Mathur, Moka and Botev, 2023).

Comments give its line numbers. λ is `penalty`, τ `threshold`, TermCond `descent.stop`;
`objective` holds K and δ and draws M probes for each gradient. `recorder` collects what users see
as `selection.path`. `run` makes the steps that `descend` yields.

Where the code differs from the paper, and why:

* Gradient: `objective` gives 2φ or 2ψ in the short forms of `gradients.py`. For every probe they
  equal those of Lemmas 3.1 and 3.2, and they save one product with K.
* Step: the paper names no rule and no rate. The gradient is divided by λ, so that one rate fits
  every scale of K. No w moves by more than CLIP, so that one noisy gradient cannot decide.
* Box: w stops at 0, since w and −w are the same weight, and t stays just below 1, where L_t would
  be singular when columns repeat.
* Freeze: the columns that the user includes are held just below 1 and never frozen.
* Units: δ and λ are absolute here. `Continuous` turns relative ones into these, because scaling K
  and δ together changes no iterate.
* Threshold: when k is given, the k largest weights are chosen and τ is not used.
"""

from collections.abc import Iterator

import numpy as np

from ..._array import host, like, namespace, take
from ...problem import Problem
from ...runs.runner import Step, run
from ..trajectory import Recorder
from .box import Weights, chain, from_box, highest, largest, to_box
from .objective import Objective
from .steps import Descent, Iterate

CLIP = 0.1  # the largest change of a w in one step


def algorithm_1(
    objective: Objective, penalty: float, descent: Descent, threshold: float, recorder: Recorder
) -> np.ndarray:
    """The chosen columns, largest weight first (Algorithm 1)."""
    problem = objective.problem
    w = sgd(objective, start(problem), penalty, descent, recorder)  # lines 2 to 4
    t = w.t(problem)  # line 5, box map
    if problem.k:
        return largest(t, problem.k)
    s = np.flatnonzero(t > threshold)  # lines 6 to 8, threshold
    return s[np.argsort(-t[s], kind="stable")]  # line 9


def start(problem: Problem) -> Weights:
    """w = √(−ln(1 − t)) with t = 1/2 for every candidate (lines 2 and 3 of Algorithm 1)."""
    reference = problem.operator.like
    held = np.isin(problem.candidates, problem.include)
    t = like(np.where(held, highest(reference), 0.5), reference)
    held = like(held, reference, dtype=namespace(reference).bool)
    return Weights(problem.candidates, from_box(t), held)


def sgd(
    objective: Objective, start: Weights, penalty: float, descent: Descent, recorder: Recorder
) -> Weights:
    """w* from the start by stochastic gradient descent (line 4 of Algorithm 1)."""
    at = Iterate(start, descent.step.start(start.w))
    steps = descend(at, objective, penalty, descent, recorder)
    run("descent", steps, at, objective, recorder)
    return at.weights


def descend(
    at: Iterate, objective: Objective, penalty: float, descent: Descent, recorder: Recorder
) -> Iterator[Step]:
    """The steps of the descent; TermCond ends it."""
    xp = namespace(at.weights.w)
    while at.i < descent.stop.max_steps and not at.ended:
        columns = at.weights.columns
        w = at.weights.w
        held = at.weights.held
        t = to_box(w)  # 1 − exp(−w ⊙ w)
        f = objective(columns, t)  # f.gradient is 2φ or 2ψ (Lemmas 3.1 and 3.2)
        recorder.add(t, columns, f.value, f.solver_steps)
        gradient = chain(f.gradient / penalty + 1, w)  # (2φ + λ)/λ, in w by Section 3.1
        change, memory = descent.step.update(gradient, at.memory, at.i)  # step
        stepped = xp.clip(w + xp.clip(change, min=-CLIP, max=CLIP), min=0.0)
        w = xp.where(held, w, stepped)
        at.weights = Weights(columns, w, held)
        at.i += 1
        active = np.flatnonzero(host((to_box(w) > descent.epsilon) | held))
        at.history.add(f.value, to_box(w) - t, len(active))
        enough = len(active) >= descent.at_least
        at.ended = not enough or descent.stop(at.history)  # TermCond
        if enough:  # freeze the others at zero (Section 3.4)
            at.weights = at.weights.only(active)
            at.memory = tuple(take(part, active) for part in memory)
        yield Step(at.i, descent.stop.max_steps)
