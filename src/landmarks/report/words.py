"""Names, numbers and versions as a page shows them."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from .terminal import printable

LONGEST = 120  # letters of a name that a page holds


def shown(name: object, longest: int = LONGEST) -> str:
    """A name of limited length, without hidden, control or direction characters."""
    text = str(name)
    text = text if len(text) <= longest else text[: longest - 1] + "…"
    return printable(text)


def percent(part: float, digits: int = 1) -> str:
    """A share in percent, with more digits if fewer would print 0 or 100."""
    if 0 < part < 1 and round(100 * part, digits) in (0, 100) and digits < 4:
        return percent(part, digits + 1)
    return f"{100 * part:.{digits}f}\u202f%"


def signed(value: float, digits: int = 2) -> str:
    """A number with its sign."""
    text = f"{value:+.{digits}f}".replace("-", "−")
    return text if float(f"{value:.{digits}f}") else text[1:]


def signed_percent(part: float) -> str:
    """A change as a share in percent, with its sign."""
    return f"{signed(100 * part)}\u202f%"


def plural(count: int, noun: str) -> str:
    """A number with its noun."""
    return f"{count:,}".replace(",", "\u202f") + f" {noun}{'' if count == 1 else 's'}"


def installed(package: str) -> str | None:
    """The version of a package; None where it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None
