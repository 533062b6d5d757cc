"""The record of a run, as --json prints it, and the files of `landmarks select`."""

from __future__ import annotations

import argparse
import csv
import io
import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from importlib.resources import files
from typing import Any, BinaryIO

import numpy as np

from .. import __version__
from ..comparison import factor
from ..operators.data import rows_in_blocks
from ..operators.fingerprint import fingerprint, fingerprint_of_values
from ..report import Summary
from ..report.overview import target_measure
from ..selection import Selection
from .outcome import NO_OUTPUT, Failure, note, written
from .source import Source, on_a_map

ENDINGS = (".csv", ".tsv", ".parquet", ".json", ".npz")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet takes such a cell for a formula
SETTINGS = (
    *("k", "error", "method", "criterion", "seed", "budget", "include", "exclude"),
    *("target_columns", "noise", "groups", "costs", "budget_cost", "coordinates", "min_distance"),
    *("columns", "drop", "standardize", "center", "scale", "id", "target", "numeric_only", "rows"),
    *("missing", "na_values", "thousands", "decimal"),
)


def write_out(
    chosen_from: Source, selection: Selection, summary: Summary, arguments: argparse.Namespace
) -> None:
    """Write the format that the ending of --out names."""
    ending = arguments.out.lower().rsplit(".", 1)[-1]
    if ending == "npz":
        selection.save(arguments.out)
        return
    with written(arguments.out, force=arguments.force) as file:
        if ending == "json":
            printed = record(chosen_from, selection, summary, arguments)
            file.write((json.dumps(printed, indent=2, allow_nan=False) + "\n").encode())
        elif ending == "parquet":
            _write_parquet(file, chosen_part(chosen_from, selection))
        else:
            part = chosen_part(chosen_from, selection)
            part = replace(part, names=_safe(part.names, arguments.csv_safe))
            _write_text(file, part, "," if ending == "csv" else "\t")


def write_report(
    chosen_from: Source, selection: Selection, summary: Summary, arguments: argparse.Namespace
) -> None:
    """Write the page."""
    from ..report.html_page import Origin, page  # here: it loads what draws

    settings = record(chosen_from, selection, summary, arguments)["settings"]
    if chosen_from.filled:
        settings["missing"] = f"{arguments.missing} ({chosen_from.filled} values)"
    origin = Origin(
        title=chosen_from.title,
        noun=chosen_from.noun,
        measure=target_measure(chosen_from.measure, selection),
        command=arguments.command_line,
        settings=settings,
        image=arguments.image,
        rows=described(chosen_from)["rows"],
        filled=chosen_from.filled,
        fingerprint=described(chosen_from)["fingerprint"],
        coordinates=on_a_map(chosen_from, arguments),
    )
    html = page(selection, origin=origin, summary=summary)
    with written(arguments.report, force=arguments.force) as file:
        file.write(html.encode("utf-8"))


def chosen_part(chosen_from: Source, selection: Selection) -> Part:
    """The chosen columns, or all columns of the chosen rows, as the file has them."""
    table, rows = chosen_from.table, chosen_from.noun == "row"
    if table.stored:
        names = [_name(chosen_from, int(j)) for j in selection.indices]
        blocks = rows_in_blocks(table).read(2**26)
        return Part(names, np.concatenate([block[:, selection.indices] for block in blocks]), {})
    columns = np.arange(table.values.shape[1]) if rows else selection.indices
    names = [_name(chosen_from, int(j)) for j in columns]
    if not rows:
        return Part(names, _dense(table.values[:, columns]), dict(table.aside))
    values = table.values.tocsr() if hasattr(table.values, "tocsr") else table.values
    aside = {
        name: tuple(texts[i] for i in selection.indices) for name, texts in table.aside.items()
    }
    return Part(names, _dense(values[selection.indices]), aside)


@dataclass(frozen=True, eq=False)
class Part:
    """What is written: names, numbers, and the columns of text (ids, a target)."""

    names: list[str]
    values: np.ndarray
    aside: dict[str, tuple[str, ...]]


def _name(chosen_from: Source, j: int) -> str:
    names = chosen_from.table.names
    return f"column_{chosen_from.table.number(j)}" if names is None else names[j]


def _dense(values: Any) -> np.ndarray:
    return values.toarray() if hasattr(values, "toarray") else values


def _safe(names: Sequence[str], safe: bool) -> list[str]:
    """The names as they are, with a note when a spreadsheet would run one; or made harmless."""
    risky = [name for name in names if name.startswith(FORMULA)]
    if risky and not safe:
        note(
            f"the name {risky[0][:40]!r} looks like a formula to a spreadsheet ({len(risky)} such "
            "names); --csv-safe puts ' before them"
        )
    return [f"'{name}" if safe and name.startswith(FORMULA) else name for name in names]


def _write_text(file: BinaryIO, part: Part, delimiter: str) -> None:
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow([*part.aside, *part.names])
    for row, cells in enumerate(_cells(part.values)):
        writer.writerow([*(texts[row] for texts in part.aside.values()), *cells])
    text.detach()


def _cells(values: np.ndarray) -> Iterator[list[str]]:
    """Numbers with all the digits that distinguish them; empty for a missing one."""
    for row in values:
        yield ["" if np.isnan(value) else str(value).removesuffix(".0") for value in row]


def _write_parquet(file: BinaryIO, part: Part) -> None:
    pa, pq = _pyarrow()
    columns = [pa.array(texts) for texts in part.aside.values()]
    columns += [pa.array(column, from_pandas=True) for column in part.values.T]
    pq.write_table(pa.Table.from_arrays(columns, names=[*part.aside, *part.names]), file)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise Failure(NO_OUTPUT, "writing parquet needs pyarrow: pip install pyarrow") from error
    return pyarrow, pyarrow.parquet


def record(
    chosen_from: Source, selection: Selection, summary: Summary, arguments: argparse.Namespace
) -> dict[str, Any]:
    """The record of a selection for JSON; indices count from 0 as in the file."""
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
    table = chosen_from.table
    if table.stored:
        source = rows_in_blocks(table)
        m, n, known = source.m, source.n, fingerprint(chosen_from.operator)
        digest = f"sha256:{known['sha256']}" if "sha256" in known else f"sketch:{known['sketch']}"
    else:
        (m, n), digest = table.values.shape, fingerprint_of_values(table.values)
    return {
        "file": chosen_from.title,
        "rows": m,
        "columns": n,
        "candidates": chosen_from.noun,
        "fingerprint": digest,
    }


def finite(value: float) -> float | None:
    """A number for JSON, which has neither NaN nor infinity."""
    return value if math.isfinite(value) else None


def schema(command: str) -> dict[str, Any]:
    """The JSON schema of what a command prints with --json."""
    return json.loads(files("landmarks.cli").joinpath(f"{command}.schema.json").read_text("utf-8"))
