"""The list of chosen columns to download: as CSV, as JSON, as a line of Python."""

from __future__ import annotations

import base64
import csv
import io
import json
from typing import Any

from ..selection import Selection


def downloads(selection: Selection, noun: str) -> list[dict[str, str]]:
    """A name, a file name and an address that holds the file, for each form."""
    names = selection.chosen_names or [int(j) for j in selection.indices]
    record = {"indices": selection.indices.tolist(), "names": _plain(names)}
    forms = {
        "CSV": ("chosen.csv", "text/csv", _csv(selection, names, noun)),
        "JSON": ("chosen.json", "application/json", json.dumps(record, indent=2) + "\n"),
        "Python": ("chosen.py", "text/x-python", f"chosen = {_plain(names)!r}\n"),
    }
    return [
        {"form": form, "file": file, "address": f"data:{kind};charset=utf-8;base64,{_packed(text)}"}
        for form, (file, kind, text) in forms.items()
    ]


def _csv(selection: Selection, names: list[Any], noun: str) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["order", "index", noun])
    for place, (j, name) in enumerate(zip(selection.indices, names, strict=True), 1):
        writer.writerow([place, int(j), _harmless(str(name))])
    return text.getvalue()


def _harmless(name: str) -> str:
    """A name that a spreadsheet does not treat as a formula."""
    return f"'{name}" if name.startswith(("=", "+", "-", "@", "\t", "\r")) else name


def _plain(names: list[Any]) -> list[Any]:
    """Names as text and numbers as numbers; anything else as it is printed."""
    return [name if isinstance(name, str | int) else str(name) for name in names]


def _packed(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
