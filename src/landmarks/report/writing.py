"""Write the page of a selection."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..runs.archive import written
from ..selection import Selection
from .html_page import guessed, page


def write(
    selection: Selection, path: str | Path, *, overwrite: bool = False, **origin: Any
) -> None:
    """Write one HTML page about a selection, to share; it needs no network.

    Parameters
    ----------
    selection : one that has its data.
    path : the page; it is written completely or not at all.
    overwrite : whether to replace an existing file.
    origin : words for the page, the fields of `Origin`: title, noun, measure, command, settings,
        image (the height and width when the candidates are pixels), rows, fingerprint; and
        coordinates (one or two numbers for each candidate) and field (a value for each) for maps.

    Examples
    --------
    >>> import os, tempfile
    >>> from landmarks import report
    >>> from sklearn.datasets import load_wine
    >>> wine = load_wine(as_frame=True).data
    >>> page = os.path.join(tempfile.mkdtemp(), "wine.html")
    >>> s = lm.select(wine, 4, center=True, scale=True)
    >>> report.write(s, page, title="wine", measure="variance")
    >>> os.path.getsize(page) < 2_000_000
    True
    """
    html = page(selection, origin=replace(guessed(selection), **origin))
    with written(path, overwrite=overwrite) as file:
        file.write(html.encode("utf-8"))
