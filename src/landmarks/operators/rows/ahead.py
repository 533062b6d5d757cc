"""Work on some tiles while the next ones are read, with the results in the order of the tiles."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

Result = TypeVar("Result")


def tiles_ahead(bytes_each: int, memory: int) -> int:
    """How many tiles to work on at once: one per BLAS thread and one being read, if they fit."""
    return max(1, min(_threads() + 1, memory // (2 * bytes_each)))


def in_order(
    work: Callable[..., Result], items: Iterable[tuple[Any, ...]], ahead: int
) -> Iterator[Result]:
    """The results of the items in order; up to `ahead` items exist at a time.

    BLAS uses its own threads only if `ahead` is 1; otherwise each item has one thread.

    The items are made in the thread of the caller, since a user's iterator may depend on it.
    """
    if ahead == 1:
        yield from (work(*item) for item in items)
        return
    from threadpoolctl import threadpool_limits

    waiting: deque[Future[Result]] = deque()
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(ahead - 1) as pool:
        for item in items:
            waiting.append(pool.submit(work, *item))
            if len(waiting) == ahead:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _threads() -> int:
    from threadpoolctl import threadpool_info

    return max(
        (int(pool["num_threads"]) for pool in threadpool_info() if pool["user_api"] == "blas"),
        default=1,
    )
