"""The record of a run: what `--json` prints, as docs/cli.md and the schemas here describe it."""

from __future__ import annotations

import argparse
import json
import math
from dataclasses import asdict
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ... import __version__

if TYPE_CHECKING:
    from ...report import Summary
    from ...selection import Selection
    from .source import Source

SETTINGS = (
    "k",
    "error",
    "method",
    "criterion",
    "seed",
    "budget",
    "include",
    "exclude",
    "target_columns",
    "noise",
    "coordinates",
    "min_distance",
    "columns",
    "drop",
    "standardize",
    "center",
    "scale",
    "id",
    "target",
    "numeric_only",
    "rows",
    "missing",
)


def record(
    chosen_from: Source, selection: Selection, summary: Summary, arguments: argparse.Namespace
) -> dict[str, Any]:
    """The record of a selection for JSON; indices count from 0 as in the file."""
    from ...comparison import factor

    return {
        "schema": "landmarks/select/1",
        "version": __version__,
        "data": described(chosen_from),
        "settings": {name: getattr(arguments, name) for name in SETTINGS}
        | {"kernel": chosen_from.kernel},
        "k": selection.k,
        "n": selection.n,
        "indices": [chosen_from.number(int(j)) for j in selection.indices],
        "names": None if selection.names is None else list(selection.chosen_names or ()),
        "criterion": selection.criterion,
        "method": selection.method,
        "seed": selection.seed,
        "error": finite(selection.error()),
        "relative_error": finite(selection.relative_error()),
        "kept": {
            "chosen": summary.chosen,
            "best": summary.best,
            "random": summary.random,
            "draws": summary.draws,
        },
        "kept_together": None if summary.together is None else summary.together.tolist(),
        "factor": factor(selection),
        "gap": None if summary.best is None else finite(selection.gap()),
        "proved": selection.proved,
        "ledger": asdict(selection.ledger),
        "command": arguments.command_line,
    }


def described(chosen_from: Source) -> dict[str, Any]:
    """The data of a run: their name, shape, kind of candidates and fingerprint."""
    from ...operators.fingerprint import fingerprint_of_values

    m, n = chosen_from.table.values.shape
    return {
        "file": chosen_from.title,
        "rows": m,
        "columns": n,
        "candidates": chosen_from.noun,
        "fingerprint": fingerprint_of_values(chosen_from.table.values),
    }


def finite(value: float) -> float | None:
    """A number for JSON, which has neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def schema(command: str) -> dict[str, Any]:
    """The JSON schema of what a command prints with --json."""
    return json.loads(files("landmarks.cli").joinpath(f"{command}.schema.json").read_text("utf-8"))
