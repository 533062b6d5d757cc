"""A run that is cut off and continued gives the same result, to the last bit."""

import signal
from contextlib import nullcontext, suppress
from functools import partial

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import RankWarning
from landmarks.methods.relaxation.continuous import WarmPath
from landmarks.runs import archive, journal

from .crashes import POINTS, RUNS, Count, Crash, CrashAt, Forgetful, K, X, check_resumes, facts, run

pytestmark = pytest.mark.thorough


@pytest.fixture
def every_step(monkeypatch):
    """Snapshots after every step, but written only at the start and at a crash, to save time."""
    monkeypatch.setattr(journal, "PAUSE", 0)
    monkeypatch.setattr(journal, "SNAPSHOT_SHARE", np.inf)
    monkeypatch.setattr(journal, "WRITE_SHARE", np.inf)


@pytest.mark.parametrize("name", RUNS)
def test_a_run_that_crashed_anywhere_resumes_to_the_same_result(name, path, every_step):
    check_resumes(partial(run, name), path)


LIMITS = {
    "groups": {"k": 4, "groups": np.arange(40) // 3},
    "costs": {"costs": np.linspace(1, 5, 40), "budget_cost": 12.0},
    "groups that cost": {
        "groups": np.arange(40) // 3,
        "costs": np.linspace(1, 5, 40),
        "budget_cost": 30.0,
    },
}


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("limits", LIMITS.values(), ids=LIMITS)
def test_a_choice_within_limits_resumes_to_the_same_result(limits, criterion, path, every_step):
    check_resumes(partial(lm.select, X, criterion=criterion, **limits), path)


@pytest.mark.parametrize("share", [0.1, 0.3, 0.6, 0.9])
def test_a_choice_within_limits_makes_no_product_again(share, path, every_step):
    """The crash comes from a product, since a callback hears only some of the many short steps."""

    def select(most=np.inf, **more):
        made = []

        def mvm(V):
            made.append(V.shape[1])
            if sum(made) > most:
                raise Crash
            return K @ V

        with suppress(Crash):
            found = facts(
                lm.select(lm.function(mvm, n=40, diagonal=np.diag(K)), **LIMITS["costs"], **more)
            )
        return sum(made), None if sum(made) > most else found

    everything, expected = select()
    before, _ = select(share * everything, checkpoint=lm.Checkpoint(path, interval=3600))
    after, found = select(checkpoint=path)
    assert found == expected
    # again: the move that was cut off, at most 40 products, and those that tell the data apart
    assert after <= everything - before + 50


@pytest.mark.parametrize("whole", [True, False], ids=["no state", "a part of the state"])
def test_a_method_that_forgets_its_state_is_detected(whole, path, every_step):
    with pytest.warns(RankWarning) if not whole else nullcontext(), pytest.raises(AssertionError):
        check_resumes(partial(lm.select, X, 20, method=Forgetful(whole)), path)


@pytest.mark.parametrize("name", ["auto", "iterated", "continuous", "exact"])
def test_a_run_may_crash_many_times_and_write_at_any_time(name, path, no_fsync, monkeypatch):
    monkeypatch.setattr("landmarks.proof.search.PART", 0.0)  # so that a count has many parts
    monkeypatch.setattr("landmarks.proof.search.TOGETHER", 1)
    expected, crashes = facts(run(name)), 0
    while True:
        interval = (0, 1e-3, 3600)[crashes % 3]  # at the longest only the crash itself writes
        with suppress(Crash):
            last = run(
                name, callback=CrashAt(12), checkpoint=lm.Checkpoint(path, interval=interval)
            )
            break
        crashes += 1
    assert crashes >= 2
    assert facts(last) == expected


def test_arrays_of_every_library_are_resumed(xp, path, every_step):
    def select(**more):
        points = xp.asarray(POINTS.astype(np.float32))
        start = lm.Continuous(strategy=WarmPath(growth=1.2))
        return lm.select(
            lm.kernel(points, lm.rbf(sigma=0.7)), 5, method=lm.Swap(start=start), **more
        )

    count = Count()
    expected = facts(select(callback=count))
    for j in (1, count.reports // 2, count.reports):
        path.unlink(missing_ok=True)
        with pytest.raises(Crash):
            select(callback=CrashAt(j), checkpoint=lm.Checkpoint(path, interval=3600))
        assert facts(select(checkpoint=path)) == expected


def test_a_fresh_seed_is_kept_in_the_checkpoint(path, no_fsync):
    with pytest.raises(Crash):
        lm.select(
            X,
            8,
            method="rpcholesky",
            seed=None,
            callback=CrashAt(3),
            checkpoint=lm.Checkpoint(path, interval=0),
        )
    first = lm.select(X, 8, method="rpcholesky", seed=None, checkpoint=path)
    assert (
        first.indices.tolist()
        == lm.select(X, 8, method="rpcholesky", seed=None, checkpoint=path).indices.tolist()
    )


def test_a_finished_run_is_read_and_not_run_again(path):
    calls = []
    operator = lm.function(lambda V: (calls.append(1), K @ V)[1], n=40, check_symmetric=False)
    first = lm.select(operator, 5, checkpoint=path)
    written, before = path.read_bytes(), len(calls)
    again = lm.select(operator, 5, checkpoint=path)
    assert len(calls) == before + 1  # the product that tells the data apart
    assert facts(again) == facts(first)
    assert path.read_bytes() == written


def test_the_seconds_of_all_parts_are_added_up(path, no_fsync):
    with pytest.raises(Crash):
        run("continuous", callback=CrashAt(20), checkpoint=lm.Checkpoint(path, interval=0))
    used = archive.read(path, max_bytes=2**30, allowed=lambda name: True)[0]["run"]["seconds"]
    assert run("continuous", checkpoint=path).ledger.seconds > used > 0


@pytest.mark.parametrize("j", [12, 30, 47])
def test_fault_44_ctrl_c_leaves_a_checkpoint_and_nothing_else(j, path):
    products = []

    def mvm(V):
        products.append(1)
        if len(products) == j:
            signal.raise_signal(signal.SIGINT)
        return K @ V

    def select(mvm, **more):
        return lm.select(lm.function(mvm, n=40, diagonal=np.diag(K)), 6, method="iterated", **more)

    with pytest.raises(KeyboardInterrupt):
        select(mvm, checkpoint=path)
    assert len(products) == j
    assert facts(select(lambda V: K @ V, checkpoint=path)) == facts(select(lambda V: K @ V))


def test_nan_from_a_product_is_reported_with_its_step_and_the_state_before_is_kept(path):
    calls = []

    def mvm(V, broken_at=40):
        calls.append(1)
        return K @ V if len(calls) != broken_at else np.full_like(V, np.nan)

    method = lm.Continuous(strategy="path")
    with pytest.raises(
        ValueError, match="returned NaN or infinity after .* good products"
    ) as caught:
        lm.select(
            lm.function(mvm, n=40), 6, method=method, checkpoint=lm.Checkpoint(path, interval=0)
        )
    assert any("in path, after step" in note for note in caught.value.__notes__)
    good = lm.function(lambda V: K @ V, n=40)
    assert facts(lm.select(good, 6, method=method, checkpoint=path)) == facts(
        lm.select(lm.function(lambda V: K @ V, n=40), 6, method=method)
    )


def test_a_run_stopped_by_its_callback_can_be_resumed_to_its_end(path):
    count = Count()
    expected = facts(run("iterated", callback=count))
    stopped = run(
        "iterated",
        callback=lambda progress: progress.done == 5 and progress.phase == "iterated",
        checkpoint=path,
    )
    assert stopped.stopped and len(stopped) == 8
    rest = Count()
    assert facts(run("iterated", callback=rest, checkpoint=path)) == expected
    assert rest.reports < count.reports


def test_a_select_inside_the_callback_does_not_disturb_the_run(path, no_fsync):
    def callback(progress):
        lm.select(X[:, :9], 2, method="swap")

    assert facts(
        run("swap", callback=callback, checkpoint=lm.Checkpoint(path, interval=0))
    ) == facts(run("swap"))


AIMS = {
    "target": {"target": X[:, :3] @ np.ones((3, 2)) + np.arange(50).reshape(25, 2)},
    "noise": {"noise": 0.5},
}
SEARCHES = ["greedy", lm.Swap(start="uniform"), lm.Iterated(rounds=9), "annealed", "auto"]


@pytest.mark.parametrize("aim", AIMS)
@pytest.mark.parametrize("method", SEARCHES, ids=str)
def test_a_search_for_a_target_or_with_noise_goes_on_too(method, aim, path, every_step):
    check_resumes(partial(lm.select, X, 8, method=method, **AIMS[aim]), path)
