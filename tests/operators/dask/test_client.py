"""What the package asks of dask: joined parts, kept results, and patience with workers."""

from types import SimpleNamespace

import pytest

from landmarks.operators.dask.client import (
    SETTING,
    Reading,
    _any_size,
    _explained,
    _workers,
    compute,
    keep,
    lazy,
    patience,
)
from landmarks.runs import runner

from .arrays import dask

pytestmark = pytest.mark.thorough


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("KilledWorker", "workers died again and again on one piece of work"),
        ("NoWorkerError", "the cluster had no workers; start workers"),
        ("FutureCancelledError", "the cluster gave the work up"),
        ("CommClosedError", "the cluster gave the work up"),
    ],
)
def test_what_a_broken_cluster_raises_is_explained(name, sentence):
    assert sentence in _explained(type(name, (Exception,), {})("reason"), "the cluster")
    assert _explained(ValueError("another"), "the cluster") is None


def test_what_is_kept_is_computed_once():
    calls = []
    (kept,) = keep([lazy(calls.append, 1)])
    compute(kept), compute(lazy(str, kept))
    assert calls == [1]


def test_a_chunk_that_was_read_twice_counts_once():
    heard, reading = [], Reading(3)
    with runner.watching(lambda p: heard.append((p.phase, p.done, p.total))):
        for chunk in (2, 2, 0):
            reading.hear((0.0, chunk))
            reading.report()
    assert heard == [("reading", 1, 3), ("reading", 2, 3)] and Reading(3).topic != reading.topic


@pytest.mark.parametrize(("setting", "seconds"), [(None, 300.0), ("2s", 2.0), ("1 hour", 3600.0)])
def test_a_run_waits_five_minutes_for_workers_unless_dask_is_set_otherwise(setting, seconds):
    with dask.config.set({SETTING: setting}):
        assert patience() == seconds


def test_vectors_in_a_graph_are_not_warned_of():
    with _any_size():
        assert (
            dask.utils.parse_bytes(
                dask.config.get("distributed.admin.large-graph-warning-threshold")
            )
            == 10**12
        )


def test_a_cluster_whose_scheduler_cannot_be_reached_has_no_workers():
    def lost(*_, **__):
        raise ConnectionRefusedError("nobody listens")

    def two(*_, **__):
        return {"first": 1, "second": 4}

    scheduler = SimpleNamespace(ncores=None)
    for status, sync, workers in (("running", lost, 0), ("closed", two, 0), ("running", two, 2)):
        assert _workers(SimpleNamespace(status=status, scheduler=scheduler, sync=sync)) == workers
