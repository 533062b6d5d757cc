"""All calls to dask: lazy calls, sums in a fixed order, and the current scheduler.

Nothing here starts a cluster. Without one, dask's local scheduler does the work; with a
`distributed.Client`, its workers do. The graph of a task holds all that the task needs, so what a
lost worker held can be computed again.
"""

import threading
import time
import uuid
from collections.abc import Callable, Sequence
from contextlib import contextmanager, nullcontext, suppress
from typing import Any

import dask
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed
from dask.utils import format_bytes, format_time, parse_timedelta

from ...errors import WorkersLostError
from ...runs import runner

PATIENCE = "5 minutes"  # time without a worker that works, unless dask's own setting differs
SETTING = "distributed.scheduler.no-workers-timeout"
POLL = 0.25  # seconds between checks of the workers
FAN_IN = 8

Lazy = Any


def is_delayed(value: Any) -> bool:
    """Whether the value is a lazy call, of which neither type nor shape is known."""
    return isinstance(value, Delayed)


def lazy(function: Callable[..., Any], *arguments: Any) -> Lazy:
    """The call, to be made by a worker."""
    return dask.delayed(function)(*arguments)


def constant(value: Any) -> Lazy:
    """A value that many lazy calls share: it travels in their graph once."""
    return dask.delayed(value, traverse=False)


def tree(function: Callable[[list[Any]], Any], parts: Sequence[Lazy]) -> Lazy:
    """Join the parts eight at a time, neighbours first; only their number matters."""
    while len(parts) > 1:
        parts = [lazy(function, list(parts[a : a + FAN_IN])) for a in range(0, len(parts), FAN_IN)]
    return parts[0]


def keep(parts: Sequence[Lazy]) -> list[Lazy]:
    """The same values, stored by the workers once computed, and recomputed if a worker is lost.

    They store each while the returned object lives, even if other lazy calls use it.
    """
    client = current_client()
    with nullcontext() if client is None else client.as_current(), _any_size():
        return list(dask.persist(*parts))


def made(parts: Sequence[Lazy]) -> list[Lazy]:
    """The same once the workers have made and stored them all: nothing is begun ahead."""
    parts = keep(parts)
    compute(lazy(all, [lazy(_is_made, part) for part in parts]))
    return parts


def _is_made(_: Any) -> bool:
    return True


class Reading:
    """Counts the chunks read and reports progress; a chunk read again after a loss counts once."""

    def __init__(self, total: int):
        self.total = total
        self.topic = f"landmarks-{uuid.uuid4().hex}"
        self.done: set[int] = set()
        self.reported = 0

    def hear(self, event: tuple[float, Any]) -> None:
        """Note that a worker has read a chunk."""
        self.done.add(int(event[1]))

    def report(self) -> None:
        """Report progress if more chunks were read since the last report."""
        if len(self.done) > self.reported:
            self.reported = len(self.done)
            runner.report("reading", self.reported, self.total)


def announce(topic: str, chunk: int) -> None:
    """Announce, from a worker of a cluster, that a chunk was read; elsewhere nothing happens."""
    with suppress(ImportError, ValueError):
        from distributed import get_worker

        get_worker().log_event(topic, chunk)


def compute(part: Lazy, reading: Reading | None = None, leaves: Sequence[Lazy] = ()) -> Any:
    """The value of a lazy call on the current scheduler; `reading` counts the finished `leaves`."""
    client = current_client()
    if client is not None:
        return _on_cluster(client, part, reading)
    if reading is None:
        return dask.compute(part)[0]
    keys = {leaf.key: i for i, leaf in enumerate(leaves)}

    def after(key: Any, *_: Any) -> None:
        if key in keys:
            reading.done.add(keys[key])
            reading.report()

    with Callback(posttask=after):
        return dask.compute(part)[0]


def computed(calls: Sequence[Lazy]) -> list[Any]:
    """The values of several lazy calls."""
    return compute(lazy(list, list(calls)))


def current_client() -> Any:
    """The distributed Client that dask would use now; None if it would use a local scheduler."""
    owner = getattr(get_scheduler(), "__self__", None)
    return owner if hasattr(owner, "scheduler_info") else None


def worker_memory(client: Any) -> list[int]:
    """The bytes that each worker of a cluster may use; 0 where there is no limit."""
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # before distributed 2025 it reported all workers
        workers = client.scheduler_info()["workers"]
    return [worker["memory_limit"] or 0 for worker in workers.values()]


def _on_cluster(client: Any, part: Lazy, reading: Reading | None) -> Any:
    # taken now: a client that has lost its scheduler no longer knows the address
    place = f"the cluster at {client.scheduler.address}"
    # as_current: another client may be the default one
    with client.as_current(), _any_size(), _listening(client, reading):
        future = client.compute(part)
        try:
            _watch(client, future, reading, place)
            return future.result()
        except BaseException as error:
            future.release()  # the scheduler drops the work
            if (sentence := _explained(error, place)) is None:
                raise
            raise WorkersLostError(sentence) from error


def _watch(client: Any, future: Any, reading: Reading | None, place: str) -> None:
    """Wait for the end of the work, or until nobody has worked on it for too long."""
    limit, ended = patience(), threading.Event()
    # an exception for each wait that was in vain would keep the arrays of all callers in memory
    future.add_done_callback(lambda _: ended.set())
    seen = time.monotonic()
    while True:
        ended.wait(POLL)
        if reading is not None:
            reading.report()
        if future.done():
            return
        paused: list[str] = []
        if _workers(client) and not (paused := _paused(client, future.key)):
            seen = time.monotonic()
        elif time.monotonic() - seen > limit:
            what = (
                f"the work waits for paused workers of {place}, for {format_time(limit)} now: "
                f"{'; '.join(paused)}. Dask pauses a worker that is short of memory: start fewer "
                "and larger workers, raise their memory_limit, or make the chunks smaller"
                if paused
                else f"{place} has had no workers for {format_time(limit)}; start workers"
            )
            raise WorkersLostError(
                f"{what} and run again. dask's setting {SETTING} says how long to wait"
            )


def patience() -> float:
    """The seconds that a cluster may be without a worker that works before a run gives up."""
    return float(parse_timedelta(dask.config.get(SETTING, None) or PATIENCE))


def _workers(client: Any) -> int:
    """How many workers the cluster has; none when its scheduler cannot be reached."""
    if client.status != "running":
        return 0
    with suppress(OSError, TimeoutError):
        return len(client.sync(client.scheduler.ncores, callback_timeout=POLL + 5))
    return 0


def _paused(client: Any, key: Any) -> list[str]:
    """The paused workers, described, if they alone hold what a result waits for; else nothing."""
    with suppress(OSError, TimeoutError):
        return list(client.run_on_scheduler(_paused_with_all, key))
    return []


def _paused_with_all(key: Any, dask_scheduler: Any) -> list[str]:
    """The same, asked at the scheduler, which knows what waits for what."""
    waits = [dask_scheduler.tasks.get(key)]
    if len(dask_scheduler.running) == len(dask_scheduler.workers) or waits == [None]:
        return []
    seen = set(waits)
    held: dict[Any, list[Any]] = {}
    while waits:
        task = waits.pop()
        if task.state == "processing":
            worker = task.processing_on
            if worker in dask_scheduler.running or task in worker.executing:
                return []
            held.setdefault(worker, []).append(task)
        elif task.state in ("no-worker", "queued"):
            if dask_scheduler.running:
                return []
            held |= {worker: [] for worker in dask_scheduler.workers.values() if worker not in held}
        waits += (new := (task.waiting_on or set()) - seen)
        seen |= new
    return [_described(worker, tasks) for worker, tasks in held.items()]


def _described(worker: Any, tasks: list[Any]) -> str:
    """What a worker uses, keeps and has been sent, as far as the scheduler knows."""
    used, needs = worker.metrics.get("memory", 0), 0
    for task in tasks:
        needs = max(needs, sum(max(0, part.nbytes) for part in task.dependencies))
    limit = format_bytes(worker.memory_limit) if worker.memory_limit else "no limit"
    return (
        f"{worker.address} uses {format_bytes(used)} of {limit}, keeps results of "
        f"{format_bytes(worker.nbytes)} (tasks to do: {len(tasks)}, with inputs of up to "
        f"{format_bytes(needs)})"
    )


def _explained(error: BaseException, place: str) -> str | None:
    """The message for errors that a broken cluster raises; None for every other error."""
    name = type(error).__name__
    if name == "KilledWorker":
        return (
            "workers died again and again on one piece of work, most often because they ran out "
            f"of memory: use smaller chunks or larger workers ({error})"
        )
    if name == "NoWorkerError":
        return f"{place} had no workers; start workers and run again ({error})"
    if "Cancelled" in name or name == "CommClosedError":
        return (
            f"{place} gave the work up, as it does when its scheduler is stopped or restarted; "
            f"connect and run again ({error})"
        )
    return None


@contextmanager
def _listening(client: Any, reading: Reading | None) -> Any:
    """Subscribe to the workers' reports of what they have read."""
    if reading is None:
        yield
        return
    client.subscribe_topic(reading.topic, reading.hear)
    try:
        yield
    finally:
        with suppress(Exception):
            client.unsubscribe_topic(reading.topic)


def _any_size() -> Any:
    """No warning about large graphs: vectors travel in them, so a lost worker does no harm."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})
