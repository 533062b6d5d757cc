"""A method that is cut off in the middle of a phase goes on there, to the same result."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from checkpoint.crashes import facts, run, runs

import landmarks as lm
from landmarks.runs import journal


class Cut(Exception):
    pass


class Heard:
    """A callback that notes the phases, and may raise at the j-th report."""

    def __init__(self, cut_at: int = 0) -> None:
        self.phases: list[str] = []
        self.cut_at = cut_at

    def __call__(self, progress: Any) -> None:
        self.phases.append(progress.phase)
        if len(self.phases) == self.cut_at:
            raise Cut


@pytest.fixture
def every_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """A snapshot after every step, written when the run is cut off."""
    monkeypatch.setattr(journal, "PAUSE", 0)
    monkeypatch.setattr(journal, "SNAPSHOT_SHARE", np.inf)
    monkeypatch.setattr(journal, "WRITE_SHARE", np.inf)


QUICK = {"greedy", "swap", "iterated", "annealed", "rpcholesky", "continuous, path", "exact"}
CASES = [pytest.param(name, marks=() if name in QUICK else pytest.mark.thorough) for name in runs()]


@pytest.mark.parametrize("name", CASES)
def test_a_method_goes_on_in_the_middle_of_its_longest_phase(name, tmp_path, every_step):
    path = tmp_path / "run.npz"
    all_of_it = Heard()
    expected = facts(run(name, callback=all_of_it))
    longest = max(set(all_of_it.phases), key=all_of_it.phases.count)
    steps = np.flatnonzero(np.array(all_of_it.phases) == longest) + 1
    cut_at = int(steps[len(steps) // 2])
    with pytest.raises(Cut):
        run(name, callback=Heard(cut_at), checkpoint=lm.Checkpoint(path, interval=3600))
    rest = Heard()
    assert facts(run(name, callback=rest, checkpoint=lm.Checkpoint(path, interval=3600))) == (
        expected
    )
    assert len(rest.phases) <= len(all_of_it.phases) - cut_at + 3  # short loops may run again


def test_an_exact_search_goes_on_with_the_best_choice_that_it_had(tmp_path, every_step):
    X = np.random.default_rng(0).standard_normal((30, 14))
    best = lm.select(X, 5, method="exact", scale=False).indices
    method = lm.Exact(start=np.setdiff1d(np.arange(14), best)[:5])

    def search(heard: Heard) -> lm.Selection:
        checkpoint = lm.Checkpoint(tmp_path / "run.npz", interval=3600)
        return lm.select(X, 5, method=method, scale=False, callback=heard, checkpoint=checkpoint)

    all_of_it = Heard()
    lm.select(X, 5, method=method, scale=False, callback=all_of_it)
    with pytest.raises(Cut):
        search(Heard(len(all_of_it.phases)))
    found = search(Heard())
    assert sorted(found.indices) == sorted(best) and found.proved
