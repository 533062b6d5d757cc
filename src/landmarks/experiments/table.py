"""The table of results: one row per choice, appended at once, so that a run can be continued."""

import csv
import io
import os
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Row:
    """One choice of k columns and what it was worth.

    value : the error by the criterion; best : that of the best rank-k approximation; factor : their
        ratio. Empty when not computed.
    seconds, products : what the method used; each row of a sweep says what the sweep used.
    skip : why there is no value; note : the warnings of the run.
    """

    figure: str
    dataset: str
    sigma: str
    label: str
    method: str
    k: int
    seed: int
    criterion: str
    n: int | None = None
    value: float | None = None
    best: float | None = None
    factor: float | None = None
    seconds: float | None = None
    products: int | None = None
    device: str = ""
    versions: str = ""
    skip: str = ""
    note: str = ""

    @property
    def key(self) -> tuple[object, ...]:
        """What makes the row the one that was asked for: all before its results."""
        return astuple(self)[: COLUMNS.index("n")]


COLUMNS = [column.name for column in fields(Row)]
NUMBERS = {
    "n": int,
    "k": int,
    "seed": int,
    "value": float,
    "best": float,
    "factor": float,
    "seconds": float,
    "products": int,
}


class ResultsFile:
    """The rows of a CSV file; a last line that a crash cut off is dropped before more are added."""

    def __init__(self, path: Path):
        self.path = path
        self.rows = {row.key: row for row in read_rows(path)} if path.is_file() else {}

    def __contains__(self, row: Row) -> bool:
        """Whether the row has a value; one that was skipped may have one on another device."""
        return row.key in self.rows and not self.rows[row.key].skip

    def news(self, rows: Iterable[Row]) -> list[Row]:
        """The rows that are not in the table already: rows skipped for the same reason are."""
        return [
            row
            for row in rows
            if not (row.skip and row.key in self.rows and self.rows[row.key].skip == row.skip)
        ]

    def append(self, rows: Iterable[Row]) -> None:
        """Add rows in one write, which reaches the disk before anything else is computed."""
        rows = list(rows)
        if not rows:
            return
        with open(self.path, "ab") as stream:
            end = complete_length(self.path)
            stream.truncate(end)
            header = b"" if end else _line(COLUMNS)
            stream.write(header + b"".join(_line(map(_cell, astuple(row))) for row in rows))
            stream.flush()
            os.fsync(stream.fileno())
        self.rows.update({row.key: row for row in rows})


def read_rows(path: Path) -> list[Row]:
    """The rows of a table without a last line that was cut off; of equal keys the last counts."""
    text = path.read_bytes()[: complete_length(path)].decode("utf-8")
    reader = csv.DictReader(io.StringIO(text, newline=""))
    if text and reader.fieldnames != COLUMNS:
        raise ValueError(
            f"{path} is not a table of this version: its columns are {reader.fieldnames}, expected "
            f"{COLUMNS}; move it away"
        )
    rows = [Row(**{name: _read(name, cell) for name, cell in line.items()}) for line in reader]
    return list({row.key: row for row in rows}.values())


def complete_length(path: Path) -> int:
    """The bytes of the file up to the end of its last complete line."""
    return path.read_bytes().rfind(b"\n") + 1


def _read(name: str, cell: str) -> Any:
    if name not in NUMBERS:
        return cell
    return None if cell == "" else NUMBERS[name](cell)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.8g}"
    return str(value).replace("\n", " ")


def _line(cells: Iterable[str]) -> bytes:
    stream = io.StringIO(newline="")
    csv.writer(stream, lineterminator="\n").writerow(cells)
    return stream.getvalue().encode("utf-8")
