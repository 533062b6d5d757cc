"""The settings of a figure, read from the TOML file of its name, and its panels made ready."""

import platform
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..datasets import load_dataset
from ..kernels import rbf
from ..linalg.error import best_rank_error
from ..methods.registry import METHODS
from ..operators.data import data
from ..operators.kernel import kernel
from ..report.sentences import installed

FIGURES = ("figure1", "figure2", "figure3", "figure4")


@dataclass(frozen=True)
class Panel:
    """One data set of a figure; sigma is the width of a Gaussian kernel on its rows, if any.

    rows : the number of rows to use, spread evenly over the data; None is all.
    needs : the device without which the panel is left out, with a reason in the table.
    """

    dataset: str
    title: str
    k: tuple[int, ...]
    sigma: float | None = None
    rows: int | None = None
    needs: str | None = None
    trials: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Entry:
    """A method of a figure under a label, and how often it is run.

    sweep : all k come from one descent (`Continuous.sweep`).
    at_most : more candidates than this are refused, for the reason `because`.
    """

    label: str
    name: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    trials: int | None = None
    sweep: bool = False
    at_most: int | None = None
    because: str = ""
    group: str = "paper"

    def method(self) -> Any:
        """The method object."""
        if self.name not in METHODS:
            raise ValueError(
                f"{self.label}: method must be one of {', '.join(METHODS)}, got {self.name!r}"
            )
        return METHODS[self.name](**self.settings)


@dataclass(frozen=True)
class Figure:
    """What a figure is made of.

    value : the column of the table that is drawn, "factor" or "value".
    card : whether a graphics card is used when one is asked for.
    """

    name: str
    title: str
    criterion: str
    trials: int
    value: str
    panels: tuple[Panel, ...]
    entries: tuple[Entry, ...]
    dtype: str = "float64"
    card: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    quick: bool = False

    @property
    def stem(self) -> str:
        """The name of its files; quick results are kept apart from full ones."""
        return f"{self.name}-quick" if self.quick else self.name

    def trials_of(self, panel: Panel, entry: Entry) -> int:
        """How often to run a method on a panel: at most as the panel, method or figure says."""
        wanted = panel.trials.get(entry.label, entry.trials or self.trials)
        return min(wanted, self.trials)

    def jobs(self) -> Iterator[tuple[Panel, Entry, tuple[int, ...], int]]:
        """All runs: a panel, a method, the sizes that it serves at once, and a seed."""
        for panel in self.panels:
            for entry in self.entries:
                for sizes in [panel.k] if entry.sweep else [(k,) for k in panel.k]:
                    for seed in range(self.trials_of(panel, entry)):
                        yield panel, entry, sizes, seed


def read_settings(name: str, *, quick: bool = False) -> Figure:
    """The settings of a figure; the quick ones have fewer trials, sizes and rows.

    Examples
    --------
    >>> from landmarks.experiments import read_settings
    >>> read_settings("figure3").trials, read_settings("figure3", quick=True).trials
    (50, 3)
    """
    if name not in FIGURES:
        raise ValueError(f"unknown figure {name!r}; the figures are {', '.join(FIGURES)}")
    written = tomllib.loads(files(__package__).joinpath(f"{name}.toml").read_text(encoding="utf-8"))
    return figure(name, written, quick=quick)


def figure(name: str, written: dict[str, Any], *, quick: bool = False) -> Figure:
    """A figure from what is written in its file."""
    chosen = _chosen(written, quick)
    panels = [_chosen(panel, quick) for panel in chosen.pop("panel", ())]
    entries = tuple(Entry(**entry) for entry in chosen.pop("method", ()))
    return Figure(
        name=name,
        panels=tuple(Panel(**{**panel, "k": tuple(panel["k"])}) for panel in panels),
        entries=entries,
        quick=quick,
        **chosen,
    )


def _chosen(written: dict[str, Any], quick: bool) -> dict[str, Any]:
    """The settings, with those for quick runs in their place if they are wanted."""
    slow = {name: value for name, value in written.items() if name != "quick"}
    return slow | (written.get("quick", {}) if quick else {})


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
