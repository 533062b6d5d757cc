"""What the benchmarks on a graphics card share: data, times and the head of a page."""

from __future__ import annotations

import argparse
import gc
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import landmarks as lm
from paper.data import standardise


def real(data_dir: str, name: str, rows: int) -> np.ndarray:
    """Rows of a data set, drawn once, with columns of mean 0 and variance 1."""
    with np.load(f"{data_dir}/{name}.npz") as archive:
        X = np.asarray(archive["X"], dtype=np.float64)
    drawn = np.random.default_rng(0).permutation(len(X))[:rows]
    return standardise(X[np.sort(drawn)])


def clusters(rows: int, d: int = 9, count: int = 200) -> np.ndarray:
    """Points around so many centres."""
    rng = np.random.default_rng(0)
    centres = 3 * rng.standard_normal((count, d))
    return centres[rng.integers(0, count, rows)] + rng.standard_normal((rows, d))


def kernel(X: np.ndarray, sigma: float, device: str, dtype: Any = torch.float32) -> Any:
    """The kernel matrix of the points, on the device."""
    points = torch.as_tensor(np.ascontiguousarray(X), dtype=dtype, device=device)
    return lm.kernel(points, lm.rbf(sigma))


def timed(run: Callable[[], Any]) -> tuple[Any, float, float]:
    """What a run gives, its seconds, and its peak memory on the card in units of 10⁶ bytes."""
    gc.collect()
    if torch.cuda.is_available():
        torch.cuda.synchronize()
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()
    start = time.perf_counter()
    result = run()
    seconds = time.perf_counter() - start
    memory = torch.cuda.max_memory_allocated() / 1e6 if torch.cuda.is_available() else 0.0
    return result, seconds, memory


def device_line(device: str) -> str:
    """The device and the versions."""
    name = torch.cuda.get_device_name() if device == "cuda" else f"{platform.machine()} CPU"
    return (
        f"Device: {name}; torch {torch.__version__}, landmarks {lm.__version__}, "
        f"Python {platform.python_version()}."
    )


def options(description: str) -> argparse.ArgumentParser:
    """The options that all have."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data-dir", default=".")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--quick", action="store_true", help="small problems: a trial")
    parser.add_argument("--out", type=Path, help="the page to write")
    return parser


class Page:
    """A page that is printed line by line and saved after each: a run that is stopped leaves it."""

    def __init__(self, path: Path | None, lines: list[str]):
        self.path, self.lines = path, []
        for line in lines:
            self.add(line)

    def add(self, line: str) -> None:
        """One more line."""
        self.lines.append(line)
        print(line, flush=True)
        if self.path is not None:
            self.path.write_text("\n".join(self.lines) + "\n")
