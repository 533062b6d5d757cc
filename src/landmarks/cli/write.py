"""The files of `landmarks select`: the chosen columns or rows with their own numbers, the record, the selection, the page."""

from __future__ import annotations

import argparse
import csv
import io
import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np

from .outcome import NO_OUTPUT, Failure
from .output import written
from .record import described, record
from .screen import note

if TYPE_CHECKING:
    from ..report import Summary
    from ..selection import Selection
    from .source import Source

ENDINGS = (".csv", ".tsv", ".parquet", ".json", ".npz")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a cell that begins so is a formula to a spreadsheet


def write_out(
    chosen_from: Source, selection: Selection, summary: Summary, arguments: argparse.Namespace
) -> None:
    """Write what the ending of --out asks for."""
    ending = arguments.out.lower().rsplit(".", 1)[-1]
    if ending == "npz":
        selection.save(arguments.out)
        return
    with written(arguments.out, force=arguments.force) as file:
        if ending == "json":
            file.write(
                (
                    json.dumps(
                        record(chosen_from, selection, summary, arguments),
                        indent=2,
                        allow_nan=False,
                    )
                    + "\n"
                ).encode()
            )
        elif ending == "parquet":
            _write_parquet(file, *chosen_part(chosen_from, selection))
        else:
            names, values = chosen_part(chosen_from, selection)
            _write_text(
                file, _safe(names, arguments.csv_safe), values, "," if ending == "csv" else "\t"
            )


def write_report(
    chosen_from: Source, selection: Selection, summary: Summary, arguments: argparse.Namespace
) -> None:
    """Write the page."""
    from ..report.html_page import Origin, page

    origin = Origin(
        title=chosen_from.title,
        noun=chosen_from.noun,
        measure=chosen_from.measure,
        command=arguments.command_line,
        settings=record(chosen_from, selection, summary, arguments)["settings"],
        image=arguments.image,
        rows=chosen_from.table.values.shape[0],
        fingerprint=described(chosen_from)["fingerprint"],
    )
    html = page(selection, origin=origin, summary=summary)
    with written(arguments.report, force=arguments.force) as file:
        file.write(html.encode("utf-8"))


def chosen_part(chosen_from: Source, selection: Selection) -> tuple[list[str], np.ndarray]:
    """The chosen columns, or all columns of the chosen rows, as the file has them."""
    values, names = chosen_from.table.values, chosen_from.table.names
    columns = np.arange(values.shape[1]) if chosen_from.noun == "row" else selection.indices
    part = (
        values.tocsr()[selection.indices]
        if chosen_from.noun == "row" and hasattr(values, "tocsr")
        else None
    )
    part = (
        part
        if part is not None
        else values[selection.indices]
        if chosen_from.noun == "row"
        else values[:, columns]
    )
    part = part.toarray() if hasattr(part, "toarray") else part
    return [f"column_{j}" if names is None else names[j] for j in columns], part


def _safe(names: Sequence[str], safe: bool) -> list[str]:
    """The names as they are, with a note when a spreadsheet would run one; or made harmless."""
    risky = [name for name in names if name.startswith(FORMULA)]
    if risky and not safe:
        note(
            f"the name {risky[0][:40]!r} would be a formula to a spreadsheet ({len(risky)} such names); --csv-safe puts ' before them"
        )
    return [f"'{name}" if safe and name.startswith(FORMULA) else name for name in names]


def _write_text(file: BinaryIO, names: list[str], values: np.ndarray, delimiter: str) -> None:
    text = io.TextIOWrapper(file, "utf-8", newline="", write_through=True)
    writer = csv.writer(text, delimiter=delimiter, lineterminator="\n")
    writer.writerow(names)
    writer.writerows(_cells(values))
    text.detach()


def _cells(values: np.ndarray) -> Iterator[list[str]]:
    """Numbers with as many digits as tell them apart; nothing for a missing one."""
    for row in values:
        yield ["" if np.isnan(value) else str(value).removesuffix(".0") for value in row]


def _write_parquet(file: BinaryIO, names: list[str], values: np.ndarray) -> None:
    pa, pq = _pyarrow()
    columns = [pa.array(values[:, j], from_pandas=True) for j in range(values.shape[1])]
    pq.write_table(pa.Table.from_arrays(columns, names=names), file)


def _pyarrow() -> tuple[Any, Any]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise Failure(
            NO_OUTPUT, "writing parquet needs pyarrow: pip install 'landmarks[io]'"
        ) from error
    return pyarrow, pyarrow.parquet
