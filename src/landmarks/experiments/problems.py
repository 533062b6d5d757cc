"""The operator of a panel on a device: standardised columns, or a Gaussian kernel on the rows."""

from __future__ import annotations

import platform
from pathlib import Path

import numpy as np

from .. import __version__
from ..datasets import load_dataset
from ..kernels import rbf
from ..linalg.error import best_rank_error
from ..operators.data import data
from ..operators.kernel import kernel
from ..report.sentences import installed
from .settings import Figure, Panel


class Task:
    """A panel made ready: its operator, and the best rank-k errors that its factors need."""

    def __init__(self, figure: Figure, panel: Panel, device: str, data_dir: str | Path | None):
        self.figure, self.panel, self.device = figure, panel, device
        X = load_dataset(panel.dataset, data_dir).standardised()
        X = spread(X, panel.rows).astype(figure.dtype)
        if device != "cpu":
            import torch

            X = torch.as_tensor(X, device=device)
        self.operator = (
            data(X, scale=False) if panel.sigma is None else kernel(X, rbf(sigma=panel.sigma))
        )
        self._best: dict[int, float] = {}

    @property
    def n(self) -> int:
        """The number of candidates."""
        return self.operator.n

    def best(self, k: int) -> float | None:
        """The best rank-k error if the figure draws factors; computed before methods are timed."""
        if self.figure.value != "factor":
            return None
        if k not in self._best:
            best = best_rank_error(self.operator, k, self.figure.criterion)
            self._best[k] = float(np.ldexp(best, self.operator.exponent * self.power))
        return self._best[k]

    @property
    def power(self) -> int:
        """The power of the units of K in the criterion."""
        return 1 if self.figure.criterion == "trace" else 2


def spread(X: np.ndarray, rows: int | None) -> np.ndarray:
    """That many rows of X, spread evenly."""
    if rows is None or rows >= len(X):
        return X
    return X[np.linspace(0, len(X) - 1, rows).astype(int)]


def versions(device: str) -> str:
    """The versions that a result depends on."""
    libraries = ["numpy", "scipy", "scikit-learn"] + (["torch"] if device != "cpu" else [])
    return "; ".join(
        [
            f"landmarks {__version__}",
            f"Python {platform.python_version()}",
            *(f"{name} {installed(name) or 'unknown'}" for name in libraries),
        ]
    )


def device_name(device: str) -> str:
    """The device in words: the processor, or the name of the graphics card."""
    if device == "cpu":
        return f"cpu {platform.machine()}"
    import torch

    return torch.cuda.get_device_name(device)


def check_device(device: str) -> str:
    """The device, if it exists."""
    if device == "cpu":
        return device
    sentence = f'device must be "cpu", or "cuda" where torch sees a graphics card, got {device!r}'
    if not device.startswith("cuda"):
        raise ValueError(sentence)
    try:
        import torch
    except ImportError as error:
        raise ImportError(f"--device {device} needs torch: pip install torch triton") from error
    if not torch.cuda.is_available():
        raise ValueError(sentence)
    return device
