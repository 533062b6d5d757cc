"""A cluster of worker processes on this machine, its data, and work that kills its worker."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

COLUMNS = 200


@contextmanager
def cluster(n_workers: int, **settings: Any) -> Iterator[Any]:
    """A client of a LocalCluster of processes with one thread each, listening on loopback only.

    By default it closes a worker for good that is not back 15 seconds after it was lost; on a busy
    machine the restart may take longer.
    """
    import dask
    from distributed import Client, LocalCluster

    with (
        dask.config.set({"distributed.deploy.lost-worker-timeout": "10 minutes"}),
        LocalCluster(
            n_workers=n_workers,
            threads_per_worker=1,
            processes=True,
            host="127.0.0.1",
            dashboard_address="127.0.0.1:0",
            **settings,
        ) as local,
        Client(local) as client,
    ):
        yield client


def rows(start: int, stop: int, n: int = COLUMNS) -> np.ndarray:
    """Rows start … stop − 1 of one endless matrix, where groups of ten columns share a part."""
    generator = np.random.Generator(
        np.random.Philox(key=7).advance(start * (n // 4))
    )  # a step of the counter gives four numbers
    groups = generator.random((stop - start, n // 10, 10)) - 0.5
    groups[:, :, 1:] += groups[:, :, :1] * np.linspace(0.8, 2.4, n // 10)[:, None]
    groups[:, :, 0] *= np.linspace(2.0, 4.0, n // 10)
    return groups.reshape(stop - start, n)


def array(m: int, chunk: int, make: Any = rows, n: int = COLUMNS) -> Any:
    """The first m rows as a dask array whose chunks are made by the tasks that use them."""
    import dask.array as da

    sizes = tuple(min(chunk, m - a) for a in range(0, m, chunk))
    return da.map_blocks(
        _made, chunks=(sizes, (n,)), dtype=np.float64, meta=np.empty((0, 0)), make=make, n=n
    )


def _made(make: Any, n: int, block_info: Any = None) -> np.ndarray:
    (start, stop), _ = block_info[None]["array-location"]
    return make(start, stop, n)


def strike(mark: str | None) -> None:
    """Kill this process: always, or the first time only, which leaves the mark."""
    try:
        if mark is not None:
            os.close(os.open(mark, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def kill_a_worker(client: Any) -> None:
    """Kill a worker; one that was killed just before may not answer."""
    pids = client.run(os.getpid, on_error="ignore")
    os.kill(next(iter(pids.values())), signal.SIGKILL)


@dataclass(frozen=True)
class Deadly:
    """The rows, made in a way that kills the worker which comes to row `at`."""

    mark: str | None
    at: int

    def __call__(self, start: int, stop: int, n: int) -> np.ndarray:
        if start <= self.at < stop:
            strike(self.mark)
        return rows(start, stop, n)


@dataclass(frozen=True)
class DeadlyKernel:
    """exp(−|x − y|²); the first worker that meets a point with first coordinate `at` dies."""

    mark: str
    at: float

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if np.any(x[:, 0] == self.at):
            strike(self.mark)
        return np.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))


@dataclass(frozen=True)
class PausingKernel:
    """exp(−|x − y|²); while the mark is there, a worker with point `at` is short of memory."""

    mark: str
    at: float

    def __call__(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        if len(x) > len(y) and np.any(x[:, 0] == self.at) and os.path.exists(self.mark):
            from distributed import get_worker

            share_of_memory(1e-6, get_worker())
            time.sleep(0.5)  # dask looks at the memory ten times a second
        return np.exp(-((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))


def share_of_memory(share: float, dask_worker: Any) -> None:
    """Let dask pause a worker that uses more than this share of its memory."""
    dask_worker.memory_manager.memory_pause_fraction = share


@dataclass(frozen=True)
class Flawed:
    """The rows, one of which lacks a value in column 3."""

    row: int

    def __call__(self, start: int, stop: int, n: int) -> np.ndarray:
        made = rows(start, stop, n)
        if start <= self.row < stop:
            made[self.row - start, 3] = np.nan
        return made


def forget_peak() -> int:
    """Let the peak of this process's memory begin again; returns the bytes in use."""
    Path("/proc/self/clear_refs").write_text("5")
    return _status("VmRSS")


def peak_memory() -> int:
    """The largest resident memory of this process since its peak was reset, in bytes."""
    return _status("VmHWM")


def _status(field: str) -> int:
    fields = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines())
    return int(fields[field].split()[0]) * 1024
