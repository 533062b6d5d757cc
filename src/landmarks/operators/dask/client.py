"""All that is asked of dask: lazy calls, the chunks of an array, waiting, and where work is done.

Nothing here starts a cluster. Without one, dask's local scheduler does the work; with a
`distributed.Client`, its workers do. The graph of a task holds all that the task needs, so what a
lost worker held can be computed again.
"""

import asyncio
import concurrent.futures
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext, suppress
from typing import Any, NamedTuple

import dask
import numpy as np
from dask.base import get_scheduler
from dask.callbacks import Callback
from dask.delayed import Delayed
from dask.utils import format_bytes, format_time, parse_timedelta

from ... import _check
from ...errors import WorkersLostError
from ...runs import runner

PATIENCE = "5 minutes"  # without any progress, unless dask's own setting differs
SETTING = "distributed.scheduler.no-workers-timeout"
POLL = 0.25  # seconds between checks of the workers
ANSWER = 5.0  # seconds within which a scheduler answers
FAN_IN = 8
CHUNK = 128 * 2**20  # bytes of a chunk, if chunks that split rows must be joined
FILL = "dask.array.where, or fillna of a data frame"  # missing= is for data in memory
# seconds per product and per task beyond the arithmetic, measured by benchmarks/cluster.py
OVERHEAD = 0.02
TASK = 0.003

Lazy = Any


# Lazy calls


def lazy(
    function: Callable[..., Any], *arguments: Any, at: str | None = None, **named: Any
) -> Lazy:
    """The call, to be made by a worker: by the one at this address, if it can.

    Annotations of the user's own, such as resources, say who may do the work and come first.
    """
    free = at is not None and not dask.get_annotations()
    with dask.annotate(workers=[at], allow_other_workers=True) if free else nullcontext():
        return dask.delayed(function)(*arguments, **named)


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
    computed([lazy(_is_made, part) for part in parts])
    return parts


def _is_made(_: Any) -> bool:
    return True


def compute(part: Lazy, reading: Sequence[Lazy] = ()) -> Any:
    """The value of a lazy call on the current scheduler; reports how many of `reading` are made."""
    return computed([part], reading)[0]


def computed(calls: Sequence[Lazy], reading: Sequence[Lazy] = ()) -> list[Any]:
    """The values of several lazy calls; each comes here from the worker that made it."""
    client, keys = current_client(), {call.key for call in reading}
    if client is not None:
        return _on_cluster(client, list(calls), keys)
    read: set[Any] = set()

    def after(key: Any, *_: Any) -> None:
        if key in keys:
            read.add(key)
            runner.report("reading", len(read), len(keys))

    with Callback(posttask=after):
        return list(dask.compute(*calls))


def by_part(
    indices: np.ndarray, edges: np.ndarray
) -> Iterator[tuple[int, slice | np.ndarray, np.ndarray]]:
    """For each part between edges that holds some indices: its number, those inside, and places."""
    part = np.searchsorted(edges, indices, side="right") - 1
    for c in np.unique(part):
        places = np.flatnonzero(part == c)
        start, stop = edges[c : c + 2]
        inside = indices[places] - int(start)
        whole = np.array_equal(inside, np.arange(stop - start))
        yield int(c), slice(None) if whole else inside, places


def gathered(
    indices: np.ndarray, edges: np.ndarray, rows: Callable[[int, slice | np.ndarray], Lazy]
) -> np.ndarray:
    """The rows at the indices, from the lazy rows of each part at the places inside it."""
    wanted = list(by_part(indices, edges))
    values = computed([rows(i, inside) for i, inside, _ in wanted])
    order = np.concatenate([np.zeros(0, dtype=np.int64), *(spots for _, _, spots in wanted)])
    return np.concatenate(values)[np.argsort(order)] if wanted else np.zeros((0, 0))


# The chunks of an array


def checked(X: Any, name: str) -> Any:
    """A two-dimensional dask array of real numbers with known chunks."""
    if isinstance(X, Delayed):
        raise TypeError(
            f"{name} must have a shape, got a Delayed; make an array of it with "
            "dask.array.from_delayed"
        )
    if hasattr(X, "to_dask_array"):
        X = X.to_dask_array(lengths=True)
    if not hasattr(X, "rechunk"):
        raise TypeError(f"{name} must be a dask array or data frame, got {type(X).__name__}")
    if X.ndim != 2:
        raise ValueError(
            f"{name} must have two dimensions, got shape {X.shape}; reshape a single column with "
            "reshape(-1, 1)"
        )
    if X.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {X.dtype}")
    if X.dtype.kind not in "fiub":
        raise ValueError(
            f"{name} must hold numbers, got {X.dtype}; encode or drop the other columns"
        )
    if any(np.isnan(size) for size in X.shape):
        X = X.compute_chunk_sizes()
    if 0 in X.shape:
        raise ValueError(f"{name} must have at least one row and one column, got shape {X.shape}")
    return X


def chunks_of_rows(X: Any) -> tuple[list[Lazy], list[range], list[int | None]]:
    """The chunks of an array, joined to hold whole rows; their rows, and numbers if not joined."""
    joined = X.numblocks[1] > 1
    if joined:
        X = X.rechunk({0: "auto", 1: -1}, block_size_limit=CHUNK)
    edges = np.cumsum([0, *X.chunks[0]]).tolist()
    chunks = list(X.to_delayed().ravel())
    numbers = [None if joined else i for i in range(len(chunks))]
    return chunks, list(map(range, edges[:-1], edges[1:])), numbers


def array_of(chunk: Any) -> np.ndarray:
    """A chunk, which may be sparse, as a NumPy array in single or double precision."""
    found = np.asarray(chunk.toarray() if hasattr(chunk, "toarray") else chunk)
    return found if found.dtype in (np.float32, np.float64) else found.astype(np.float64)


def finite_chunk(
    chunk: Any,
    name: str,
    rows: range,
    partition: int | None,
    names: tuple[str, ...] | None = None,
    column: int = 0,
) -> np.ndarray:
    """A chunk of rows as a NumPy array, checked.

    rows : their numbers. partition : the number of the chunk, if it is one of the user's.
    names : of the columns. column : the number of the first column.
    """
    found = array_of(chunk)
    where = "the chunk" if partition is None else f"partition {partition},"
    where += f" of rows {rows.start} to {rows.stop - 1}"
    if len(found) != len(rows):
        raise ValueError(
            f"{where} of {name} has {len(found)} rows instead of {len(rows)}; give dask the shape "
            "that it has, or nan for a number of rows that is not known"
        )
    try:
        _check.finite(found, name, offset=rows.start, column=column, names=names, fill=FILL)
    except ValueError as error:
        raise ValueError(f"{error}; found in {where}") from None
    return found


def digest_of(parts: Sequence[Lazy]) -> str:
    """SHA-256 of arrays on the workers, from that of each."""
    each = computed([lazy(_digest, part) for part in parts])
    return hashlib.sha256("".join(each).encode()).hexdigest()


def _digest(part: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(part).data).hexdigest()


# The cluster


def current_client() -> Any:
    """The distributed Client that dask would use now; None if it would use a local scheduler."""
    owner: Any = getattr(get_scheduler(), "__self__", None)
    if not hasattr(owner, "scheduler_info"):
        return None
    if owner.status in ("closing", "closed"):
        raise WorkersLostError("the connection to the cluster is closed; connect and run again")
    return owner


def worker_memory(client: Any) -> dict[str, int]:
    """The bytes that the worker at each address may use; 0 where there is no limit."""
    try:
        workers = client.scheduler_info(n_workers=-1)["workers"]
    except TypeError:  # before distributed 2025 it reported all workers
        workers = client.scheduler_info()["workers"]
    return {address: worker["memory_limit"] or 0 for address, worker in workers.items()}


def places(count: int) -> list[str | None]:
    """The address at which each of so many parts should be kept: neighbours together.

    Each worker gets a share in proportion to its memory. Left alone, dask puts a part wherever the
    queue is shortest for the moment, and on a busy machine one worker came to hold three quarters.
    """
    client = current_client()
    limits = {} if client is None else worker_memory(client)
    if not limits:
        return [None] * count
    sizes = np.asarray(list(limits.values()), dtype=np.float64)
    shares = np.cumsum(sizes if sizes.all() else np.ones(len(sizes)))
    middles = (np.arange(count) + 0.5) / count * shares[-1]
    addresses = list(limits)
    return [addresses[i] for i in np.searchsorted(shares, middles)]


def patience() -> float:
    """The seconds that a cluster may be without progress before a run gives up."""
    return float(parse_timedelta(dask.config.get(SETTING, None) or PATIENCE))


def _any_size() -> Any:
    """No warning about large graphs: vectors travel in them, so a lost worker does no harm."""
    return dask.config.set({"distributed.admin.large-graph-warning-threshold": "1 TB"})


def _on_cluster(client: Any, calls: list[Lazy], reading: set[Any]) -> list[Any]:
    # taken now: a client that has lost its scheduler no longer knows the address
    place = f"the cluster at {client.scheduler.address}"
    with client.as_current(), _any_size():  # as_current: another client may be the default one
        futures = client.compute(calls)
        try:
            return _awaited(client, futures, reading, place)
        except BaseException as error:
            for future in futures:
                future.release()  # the scheduler drops the work
            if (sentence := _explained(error, place)) is None:
                raise
            raise WorkersLostError(sentence) from error


def _awaited(client: Any, futures: list[Any], reading: set[Any], place: str) -> list[Any]:
    """The results, unless nobody has worked on it for too long.

    The workers are watched until they are here: one that holds a result may be lost too.
    """
    gathering = client.gather(futures, asynchronous=True)
    answer = asyncio.run_coroutine_threadsafe(gathering, client.loop.asyncio_loop)
    limit, seen, read, moves = patience(), time.monotonic(), 0, -1
    while not concurrent.futures.wait([answer], POLL).done:
        news = _asked(client, [future.key for future in futures], reading)
        if news.read > read:
            read = news.read
            runner.report("reading", read, len(reading))
        if news.at_work or news.moves != moves:
            seen = time.monotonic()
        elif time.monotonic() - seen > limit:
            raise WorkersLostError(
                f"{_reason(news, place, format_time(limit))} and run again. dask's setting "
                f"{SETTING} says how long to wait"
            )
        moves = news.moves
    for future in futures:
        if future.status in ("error", "cancelled"):
            future.result()  # raises what went wrong in its own words
    if read < len(reading):
        runner.report("reading", len(reading), len(reading))
    return list(answer.result())


class News(NamedTuple):
    """What a scheduler says about workers, calls that are made, and whether anything goes on.

    moves : how often the state of a task has changed.
    at_work : whether a worker has something to do that it can do.
    paused : the workers that begin nothing because they are short of memory, described.
    """

    workers: int = 0
    read: int = 0
    moves: int = -1
    at_work: bool = False
    paused: Sequence[str] = ()


def _asked(client: Any, keys: list[Any], reading: set[Any]) -> News:
    """The news; those of a cluster without workers if the scheduler cannot be reached."""
    with suppress(OSError, TimeoutError):
        if client.status == "running":
            asked = (_news, keys, list(reading))
            return News(*client.run_on_scheduler(*asked, callback_timeout=ANSWER))
    return News()


def _news(keys: list[Any], reading: list[Any], dask_scheduler: Any) -> tuple[Any, ...]:
    """The same, at the scheduler."""
    tasks, workers = dask_scheduler.tasks, list(dask_scheduler.workers.values())
    read = 0
    if all(key in tasks for key in keys):  # the work has arrived, and what is missing is done
        to_do = ("waiting", "queued", "no-worker", "processing")
        read = sum(call not in tasks or tasks[call].state not in to_do for call in reading)
    running = dask_scheduler.running
    at_work = any(
        worker.executing or (worker.processing and worker in running) for worker in workers
    )
    paused = [
        f"{worker.address} uses {format_bytes(worker.metrics.get('memory', 0))} of "
        f"{format_bytes(worker.memory_limit) if worker.memory_limit else 'no limit'}"
        for worker in workers
        if worker not in running
    ]
    return len(workers), read, dask_scheduler.transition_counter, at_work, paused


def _reason(news: News, place: str, waited: str) -> str:
    """Why a run gives up, and what to do."""
    if news.workers == 0:
        return f"{place} has had no workers for {waited}; start workers"
    if news.paused:
        return (
            f"the work waits for paused workers of {place}, for {waited} now: "
            f"{'; '.join(news.paused)}. Dask pauses a worker that is short of memory: start fewer "
            "and larger workers, raise their memory_limit, or make the chunks smaller"
        )
    return (
        f"no worker of {place} has done anything for {waited}: they may be stuck, or lack what "
        "dask.annotate asks for; restart them"
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
