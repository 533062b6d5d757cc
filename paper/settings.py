"""The settings of a figure, read from the TOML file of its name."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from landmarks.methods.registry import METHODS

FIGURES = ("figure1", "figure2", "figure3", "figure4")


def read_settings(name: str, *, quick: bool = False, only: tuple[str, ...] = ()) -> Figure:
    """The settings of a figure; the quick ones have fewer trials, sizes and rows.

    only : the data sets whose panels are wanted; by default all of the figure.

    Examples
    --------
    >>> from paper.settings import read_settings
    >>> read_settings("figure3").trials, read_settings("figure3", quick=True).trials
    (50, 3)
    """
    path = Path(__file__).with_name(f"{name}.toml")
    written = _chosen(tomllib.loads(path.read_text(encoding="utf-8")), quick)
    panels = [_chosen(panel, quick) for panel in written.pop("panel", ())]
    entries = tuple(Entry(**entry) for entry in written.pop("method", ()))
    made = tuple(Panel(**{**panel, "k": tuple(panel["k"])}) for panel in panels)
    figure = Figure(name=name, panels=made, entries=entries, quick=quick, **written)
    known = dict.fromkeys(panel.dataset for panel in made)
    if unknown := [dataset for dataset in only if dataset not in known]:
        raise ValueError(f"{name} has no data set {', '.join(unknown)}; it has {', '.join(known)}")
    return replace(figure, panels=tuple(p for p in made if not only or p.dataset in only))


def _chosen(written: dict[str, Any], quick: bool) -> dict[str, Any]:
    """The settings, with those for quick runs in their place if they are wanted."""
    slow = {name: value for name, value in written.items() if name != "quick"}
    return slow | (written.get("quick", {}) if quick else {})


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
    trials: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def key(self) -> tuple[str, str]:
        """The data set and the kernel width, as the rows of the table have them."""
        return self.dataset, "" if self.sigma is None else f"{self.sigma:g}"


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
