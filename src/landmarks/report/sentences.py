"""Words of the page: names, numbers, versions, and sentences that hold for any choice."""

from __future__ import annotations

import decimal
import math
import platform
from collections.abc import Iterable
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

from .. import __version__
from .._shown import printable

if TYPE_CHECKING:
    from ..selection import Selection
    from .overview import Summary


DEFAULTS = {"missing": "error"}  # settings that the page omits at their default
WORDS = {
    "k": "asked for",
    "criterion": "minimised",
    "error": "may be lost",
    "numeric_only": "left out columns of text",
    "id": "names of the rows",
}
VERSIONS = ("numpy", "scipy", "scikit-learn", "torch")
POOR = 0.5  # if a choice keeps less, the page says so
USELESS = 0.995  # a larger gap is not mentioned
LONGEST = 120  # most characters of a name on a page


def rebuilt_title(selection: Selection) -> str:
    """The heading of the table of what is rebuilt."""
    if selection.objective.plain:
        return f"The other {selection.n - selection.k} and what rebuilds them"
    if selection.objective.rebuilds_rows:
        return "The target and what rebuilds it"
    return "All candidates and how well they are known"


def meaning(selection: Selection, summary: Summary | None, noun: str, measure: str) -> str:
    """What the headline means, in a sentence or two."""
    k, n = selection.k, selection.n
    if summary is None:
        noisy = "" if selection.objective.noise is None else ", measured with noise"
        return f"It is the log determinant of the chosen {noun}s{noisy}, in nats; more is better."
    who = f"This {noun} reproduces" if k == 1 else f"Together these {k} {noun}s reproduce"
    kept, left = percent(summary.chosen), n - k
    if not selection.objective.plain:
        return f"{who} {kept} of the {measure}."
    if k == n:
        return f"All {plural(n, noun)} were chosen, so nothing is lost."
    others = f"all {plural(n, noun)}"
    if summary.chosen >= POOR:
        return f"{who} {kept} of the {measure} of {others}."
    rest = "the other one carries" if left == 1 else f"the other {left} carry"
    return (
        f"{who} only {kept} of the {measure} of {others}: {rest} much information that the choice "
        "does not. To keep more of it, choose more."
    )


def limit(selection: Selection, summary: Summary | None) -> str:
    """How much better another choice could be; empty where the bound would cost too much."""
    if summary is not None and summary.best is None and not selection.proved:
        return ""
    return better(selection)


def better(selection: Selection) -> str:
    """How much better another choice could be; empty where all are chosen or nothing is known.

    Better means that less is lost. The bound must be known already, or cheap.
    """
    repeats = selection.objective.repeats
    if selection.k == selection.n and not repeats:
        return ""
    if selection.n - len(selection.exclude) == selection.k and not repeats:
        return "The constraints leave no other choice."
    if selection.proved:
        return f"This is the best {_which(selection)}."
    gap = selection.gap()
    if not selection.objective.shares:
        return _efficiency(selection, gap)
    lost = selection.relative_error()
    if gap > USELESS:
        return ""
    now, least = _apart(100 * lost, 100 * lost * (1 - gap))
    return f"This choice loses {now}%; no other {_which(selection)} can lose less than {least}%."


def _efficiency(selection: Selection, gap: float) -> str:
    """The same for a log determinant, with the efficiency of a design for as many parameters."""
    if not math.isfinite(gap):
        return ""
    parameters = min(selection.k, selection._data.m or selection.k)
    efficiency = math.floor(1000 * math.exp(-gap / parameters)) / 10
    return (
        f"No other {_which(selection)} is more than {gap:.3g} nats better: the D-efficiency is at "
        f"least {efficiency:.1f}%."
    )


def _apart(number: float, lower: float) -> tuple[str, str]:
    """Both in enough digits to differ, at least three; the lower is never rounded up."""
    for digits in range(3, 13):
        shown = f"{number:.{digits}g}"
        floor = decimal.Context(digits, decimal.ROUND_FLOOR).create_decimal_from_float(lower)
        if float(floor) < float(shown):
            break
    return shown, f"{float(floor):.{digits}g}"


def _which(selection: Selection) -> str:
    """The choices that are compared: those of the same size and with the same constraints."""
    if selection.most is not None:
        return "choice that the groups and costs allow"
    if selection.include or selection.exclude or selection.constraints:
        return f"choice of {selection.k} that the constraints allow"
    return f"choice of {selection.k}"


def is_formula(name: str) -> bool:
    """Whether a spreadsheet takes a name for a formula."""
    return name.startswith(("=", "+", "-", "@", "\t", "\r"))


def harmless(name: str) -> str:
    """A name that a spreadsheet does not take for a formula."""
    return f"'{name}" if is_formula(name) else name


def percent(part: float) -> str:
    """A share in percent; less than all never prints as 100 %, more than nothing never as 0 %."""
    for digits in range(1, 5):
        shown = f"{100 * part:.{digits}f}"
        if not 0 < part < 1 - 1e-12 or float(shown) not in (0, 100):
            return f"{shown}%"
    return "over 99.9999%" if part > 0.5 else "under 0.0001%"


def signed(value: float) -> str:
    """A number with its sign."""
    text = f"{value:+.2f}".replace("-", "−")
    return text if float(f"{value:.2f}") else text[1:]


def signed_percent(part: float) -> str:
    """A change as a share in percent, with its sign."""
    return f"{signed(100 * part)}%"


def plural(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,}".replace(",", "\u202f") + f" {noun}{'' if count == 1 else 's'}"


def installed(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def facts(
    selection: Selection, settings: dict[str, Any], fingerprint: str | None
) -> list[tuple[str, str]]:
    """How the selection was made, as pairs of words."""
    given = {
        WORDS.get(name, name): _in_words(value)
        for name, value in settings.items()
        if value not in (None, (), [], False) and DEFAULTS.get(name) != value
    }
    given |= {
        "method": selection.method,
        "minimised": selection.objective.minimised,
        "seed": str(selection.seed),
        "time": f"{selection.ledger.seconds:.2f} seconds",
    }
    packages = {name: installed(name) for name in VERSIONS}
    versions = {"landmarks": __version__, "Python": platform.python_version()} | packages
    given["versions"] = ", ".join(f"{name} {known}" for name, known in versions.items() if known)
    if fingerprint:
        given["data"] = fingerprint
    return list(given.items())


def _in_words(value: Any) -> str:
    if isinstance(value, Iterable) and not isinstance(value, str):
        return ", ".join(printable(entry, LONGEST) for entry in value)
    return "yes" if value is True else printable(value, LONGEST)
