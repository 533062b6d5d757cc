"""What the package asks of dask: joined parts, kept results, and patience with workers."""

from types import SimpleNamespace

import pytest

from landmarks.operators.dask import client
from landmarks.operators.dask.client import (
    SETTING,
    News,
    _any_size,
    _asked,
    _explained,
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


def test_every_chunk_that_is_read_is_reported_once():
    heard, chunks = [], [lazy(str, i) for i in range(3)]
    with runner.watching(lambda p: heard.append((p.phase, p.done, p.total))):
        compute(lazy(len, [*chunks, *chunks]), chunks)
    assert heard == [("reading", 1, 3), ("reading", 2, 3), ("reading", 3, 3)]


@pytest.mark.parametrize(("setting", "seconds"), [(None, 300.0), ("2s", 2.0), ("1 hour", 3600.0)])
def test_a_run_waits_five_minutes_for_workers_unless_dask_is_set_otherwise(setting, seconds):
    with dask.config.set({SETTING: setting}):
        assert patience() == seconds


@pytest.mark.parametrize(
    ("limits", "shares"),
    [({}, 6 * [None]), ({"a": 1, "b": 1}, 3 * ["a"] + 3 * ["b"]), ({"a": 1, "b": 2}, "aabbbb")],
)
def test_parts_go_to_workers_in_proportion_to_their_memory(monkeypatch, limits, shares):
    monkeypatch.setattr(client, "current_client", object)
    monkeypatch.setattr(client, "worker_memory", lambda _: limits)
    assert client.places(6) == list(shares)


def test_annotations_of_the_user_come_before_the_places_of_parts():
    asked = {"workers": ["a"], "allow_other_workers": True}
    for own, expected in (({}, asked), ({"resources": {"GPU": 1}}, {"resources": {"GPU": 1}})):
        with dask.annotate(**own):
            call = lazy(str, 1, at="a")
        (layer,) = call.dask.layers.values()
        assert layer.annotations == expected


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
        return (2, 1, 17, True, [])

    for status, answer, news in (
        ("running", lost, News()),
        ("closed", two, News()),
        ("running", two, News(2, 1, 17, True, [])),
    ):
        known = SimpleNamespace(status=status, run_on_scheduler=answer)
        assert _asked(known, ["key"], set()) == news
