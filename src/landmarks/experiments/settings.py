"""The settings of a figure, read from the TOML file of its name."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from typing import Any

from ..methods.registry import METHODS

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
