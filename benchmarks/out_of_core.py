"""A file larger than its memory limit: peak memory, seconds, and throughput against a plain pass.

    python benchmarks/out_of_core.py --gigabytes 8 --columns 16 32 64

The file is sparse with values written into some of its blocks, and is deleted at the end. Both
passes are made twice, in turn: from the disk, after the kernel was asked to forget the pages of the
file, and from the page cache. A plain pass reads the bytes into one buffer. The processor seconds
of both do not depend on what else the machine does, and are printed too.
"""

from __future__ import annotations

import argparse
import ctypes
import os
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import landmarks as lm

WRITTEN = 64  # every so many blocks of 4 MiB hold values, the rest are holes
BLOCK = 4 * 2**20


def write(path: Path, size: int, n: int, dtype: str) -> None:
    """A sparse file with a block of correlated columns here and there."""
    rng = np.random.default_rng(0)
    mix = rng.standard_normal((n, n)) * 0.9 ** np.arange(n)
    with open(path, "wb") as file:
        file.truncate(size)
        for start in range(0, size - BLOCK, WRITTEN * BLOCK):
            width = np.dtype(dtype).itemsize * n
            file.seek(start // width * width)
            file.write((rng.standard_normal((BLOCK // width, n)) @ mix).astype(dtype).tobytes())


def plain_pass(path: Path) -> None:
    """Read all bytes into one buffer."""
    buffer = bytearray(BLOCK)
    with open(path, "rb", buffering=0) as file:
        while file.readinto(buffer):
            pass


class PeakAnonymous:
    """A context; afterwards `extra` is the peak of anonymous memory above the start."""

    def __enter__(self) -> PeakAnonymous:
        ctypes.CDLL(None).malloc_trim(
            0
        )  # freed memory that the process still holds would hide what is taken
        self.before, self.extra, self._stop = anonymous(), 0, threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        return self

    def _watch(self) -> None:
        while not self._stop.wait(0.02):
            self.extra = max(self.extra, anonymous() - self.before)

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self.extra = max(self.extra, anonymous() - self.before)


def anonymous() -> int:
    """Bytes of this process that belong to no file, as Linux counts them."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon")) * 1024


def forget(path: Path) -> None:
    """Ask the kernel to drop the pages of the file."""
    with open(path, "rb") as file:
        os.fsync(file.fileno())
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and processor seconds."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def measure(path: Path, n: int, dtype: str) -> None:
    """Two lines of the table."""
    lm.data([np.ones((2**14, n))])  # imports
    for place in ("disk", "cache"):
        if place == "disk":
            forget(path)
        plain = timed(lambda: plain_pass(path))
        if place == "disk":
            forget(path)
        with PeakAnonymous() as memory:
            X = np.memmap(path, dtype=dtype, mode="r").reshape(-1, n)
            ours = timed(lambda X=X: lm.data(X))
            size = X.nbytes
            del X
        print(
            f"{n:4d} columns of {dtype}, {size / 2**30:.1f} GiB from the {place:5s}:"
            f"  plain {plain[0]:5.1f} s ({size / plain[0] / 1e9:.2f} GB/s, CPU {plain[1]:.1f} s)"
            f"  one pass {ours[0]:5.1f} s ({size / ours[0] / 1e9:.2f} GB/s, CPU {ours[1]:.1f} s)"
            f"  ratio {plain[0] / ours[0]:.2f}  extra memory {memory.extra / 2**20:.0f} MiB",
            flush=True,
        )


def main() -> None:
    """Print a line for each number of columns."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gigabytes", type=float, default=8.0)
    parser.add_argument("--columns", type=int, nargs="+", default=[8, 16, 32, 64, 128])
    parser.add_argument("--dtype", default="float32")
    arguments = parser.parse_args()
    unit = np.dtype(arguments.dtype).itemsize
    for n in arguments.columns:
        size = int(arguments.gigabytes * 2**30) // (unit * n) * unit * n
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "X.bin"
            write(path, size, n, arguments.dtype)
            measure(path, n, arguments.dtype)
            os.remove(path)


if __name__ == "__main__":
    main()
