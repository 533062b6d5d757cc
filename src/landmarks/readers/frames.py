"""What a column of numbers is, in a data frame, an Arrow table or a text; and what it is called.

Integers, floats, decimals and booleans are numbers, and so is a column in which every value is
missing. Text, dates, durations, categories and nested values are not. Text that is mostly numbers
is neither: it is never left out, but an error that shows the values in the way.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any, NamedTuple

import numpy as np

from ..errors import FormatError, named, warn_user

NUMERIC_ONLY = "numeric_only=True (--numeric-only on the command line)"
REMEDY = f"{NUMERIC_ONLY}, or encode them as numbers, e.g. with pandas.get_dummies"
MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-", "."})
TRUTH = {"true": 1.0, "false": 0.0}
SPACES = " \xa0\u2009\u202f"  # what stands between thousands where a space does
NUMBERLIKE = re.compile(rf"[-+]?(\d+|\d{{1,3}}([.,'’{SPACES}]\d{{3}})+)?([.,]\d*)?([eE][-+]?\d+)?")
# how the names of dtypes of pandas, polars and Arrow begin
NUMERIC = re.compile("u?int[0-9]|(half)?float|double|bool|decimal|complex|null|sparse", re.I)
KINDS = {
    "categories": "categor|enum",
    "dates": "date|period|time(?!delta)",
    "durations": "timedelta|duration",
    "text": "str",
}
ANNOTATED = ("X", "var_names", "obs_names")  # what an AnnData object has
SAMPLE = 1000  # cells from which the notation of a column is guessed


@dataclass(frozen=True)
class Notation:
    """How numbers are written in a text.

    decimal, thousands : the signs within a number; None if there is none between thousands. A space
        is any of SPACES.
    missing : what stands for a missing value, besides the usual words such as NA.
    """

    decimal: str = "."
    thousands: str | None = None
    missing: tuple[str, ...] = ()

    @cached_property
    def plain(self) -> bool:
        """Whether `float` reads the numbers."""
        return self == Notation()

    def number(self, cell: str) -> float | None:
        """The number in a cell, NaN for a missing one, None for anything else."""
        text = cell.strip()
        if text.lower() in self._missing:
            return np.nan
        if text.lower() in TRUTH:
            return TRUTH[text.lower()]
        if self._spaced:
            text = text.translate(dict.fromkeys(map(ord, SPACES), self.thousands))
        if self.thousands is not None and self.thousands in text:
            if self._grouped.fullmatch(text) is None:
                return None
            text = text.replace(self.thousands, "")
        if "_" in text or (self.decimal == "," and "." in text):
            return None
        try:
            number = float(text.replace(",", ".") if self.decimal == "," else text)
        except ValueError:
            return None
        return np.nan if number in self.missing_numbers else number

    @cached_property
    def _spaced(self) -> bool:
        return self.thousands is not None and self.thousands in SPACES

    @cached_property
    def _missing(self) -> frozenset[str]:
        return MISSING | {word.strip().lower() for word in self.missing}

    @cached_property
    def missing_numbers(self) -> set[float]:
        """The numbers that stand for a missing value."""
        plain = Notation(self.decimal, self.thousands)
        return {number for word in self.missing if (number := plain.number(word)) is not None}

    @cached_property
    def _grouped(self) -> re.Pattern[str]:
        sign, point = re.escape(self.thousands or ""), re.escape(self.decimal)
        return re.compile(rf"[-+]?\d{{1,3}}({sign}\d{{3}})+({point}\d*)?([eE][-+]?\d+)?")


@dataclass
class Cells:
    """What the cells of a column of text hold: numbers, however written, and anything else.

    odd : the first values that the notation does not read, and where they are.
    first : the very first of them, after its place.
    words : the different ones that are no number in any notation.
    sample : some cells, to guess how the numbers are written.
    """

    notation: Notation = field(default_factory=Notation)
    present: int = 0
    numbers: int = 0
    odds: int = 0
    odd: list[str] = field(default_factory=list)
    first: str = ""
    words: dict[str, None] = field(default_factory=dict)
    sample: list[str] = field(default_factory=list)

    def add(self, where: str, cell: str) -> None:
        """Take in one more cell, and where it is."""
        text, number = cell.strip(), self.notation.number(cell)
        if number is not None and np.isnan(number):
            return
        self.present += 1
        likely = number is not None or NUMBERLIKE.fullmatch(text) is not None
        self.numbers += likely
        if likely and len(self.sample) < SAMPLE:
            self.sample.append(cell)
        if number is None:
            self.odds += 1
            self.first = self.first or f"{where}: {text[:40]!r}"
            if len(self.odd) < 5:
                self.odd.append(f"{text[:40]!r} ({where})")
            if not likely and len(self.words) < 100:
                self.words[text] = None

    @property
    def mostly_numbers(self) -> bool:
        """Whether this is a column of numbers, perhaps with odd values, rather than of text."""
        return 2 * self.numbers > self.present


def odd_sentence(
    columns: list[tuple[str, Cells]], *, of_file: bool, fine: Iterable[Cells] = ()
) -> str:
    """The message about columns of numbers with odd values: which values, where, and what helps.

    fine : columns whose values are all read, which what helps must go on to read.
    """
    first, cells = columns[0]
    others = [name for name, _ in columns[1:]]
    if cells.odds == 0:
        sentence = f"column {first} holds numbers as text, such as {cells.sample[0][:40]!r}"
    else:
        count = "all" if cells.odds == cells.present else f"{cells.odds} of its"
        sentence = (
            f"column {first} holds numbers, but {count} {cells.present} values are "
            f"not written as such: {named(cells.odd, of=cells.odds)}"
        )
    if others:
        sentence += f"; so {'do' if len(others) > 1 else 'does'} {named(others)}"
    helps = _what_helps([*(cells for _, cells in columns), *fine])
    python = ", ".join(f"{name}={value!r}" for name, value in helps.items())
    if not of_file:
        rest = f", e.g. pandas.read_csv(path, {python})" if helps else ""
        return f"{sentence}; read or convert them as numbers first{rest}"
    drop = "--drop leaves a column out"
    if not helps:
        return f"{sentence}; correct the values; {drop}"
    options = [f"--{name.replace('_', '-')} {','.join(value)!r}" for name, value in helps.items()]
    meant = ""
    if marks := helps.get("na_values"):
        several = len(marks) > 1
        meant = f", if {'they stand' if several else 'it stands'} for a missing value"
    return f"{sentence}; give {' '.join(options)}{meant}, in Python lm.data(path, {python}); {drop}"


def _what_helps(columns: list[Cells]) -> dict[str, Any]:
    """How to read the odd values: the arguments by name."""
    words = list(dict.fromkeys(word for cells in columns for word in cells.words))
    sample = [cell for cells in columns for cell in cells.sample]
    used = columns[0].notation
    ways = [Notation(point, sign) for point, sign in product(".,", (None, *",. '’"))]
    ways = [way for way in ways if way.decimal != way.thousands and used.thousands is None]
    best = max(
        [used, *ways],
        key=lambda way: sum(way.number(cell) is not None for cell in sample),
    )
    found: dict[str, Any] = {}
    if best.decimal != used.decimal:
        found["decimal"] = best.decimal
    if best.thousands != used.thousands:
        found["thousands"] = best.thousands
    if 0 < len(words) <= 5:
        found["na_values"] = words
    return found


def library(table: Any) -> str:
    """The library that a table comes from, which is not imported for the question."""
    return type(table).__module__.partition(".")[0]


class Unpacked(NamedTuple):
    """What was given as a table.

    values : as they are stored; a data frame stays one, a LazyFrame of polars is collected, and
        what dask holds stays with dask.
    labels : of the columns as they are: strings, numbers, tuples, dates; None if they have none.
    kind : "dask", "frame" of pandas or polars, "AnnData", "DataArray" of xarray, or "other".
    """

    values: Any
    labels: tuple[Any, ...] | None
    kind: str

    @property
    def names(self) -> tuple[str, ...] | None:
        """The labels as text."""
        return None if self.labels is None else tuple(map(str, self.labels))


def unpacked(table: Any, layer: str | None = None) -> Unpacked:
    """The values, labels and kind of anything; every kind with labels is known here alone.

    layer : the layer of an AnnData object to use instead of its X.
    """
    if library(table) == "polars" and type(table).__name__ == "LazyFrame":
        table = table.collect()
    kind, values = _kind(table), table
    labels: tuple[Any, ...] | None = None
    if layer is not None and kind != "AnnData":
        raise TypeError(f"layer names a layer of an AnnData object, got {type(table).__name__}")
    if kind == "AnnData":
        values, labels = _annotated(table, layer), tuple(table.var_names)
    elif kind == "DataArray":
        index = table.indexes.get(table.dims[1]) if table.ndim == 2 else None
        values, labels = table.data, None if index is None else tuple(index)
    else:
        columns = getattr(table, "column_names", None)  # first: pyarrow's `columns` are data
        if columns is None:
            columns = getattr(table, "columns", None)
        if columns is not None and not callable(columns):
            labels = tuple(columns)
    return Unpacked(values, labels, "dask" if is_dask(values) else kind)


def _kind(table: Any) -> str:
    if library(table) == "xarray":
        if type(table).__name__ != "DataArray":
            raise TypeError(
                f"X must be a DataArray of xarray with two dimensions, got a "
                f"{type(table).__name__}; use its to_dataarray(), or one of its variables"
            )
        return "DataArray"
    if library(table) in ("pandas", "polars") and type(table).__name__ == "DataFrame":
        return "frame"
    if not is_dask(table) and all(hasattr(table, name) for name in ANNOTATED):
        return "AnnData"
    return "other"


def is_dask(values: Any) -> bool:
    """Whether these are of dask itself; xarray has its methods too, whatever holds the values."""
    homes = {one.__module__.partition(".")[0] for one in type(values).__mro__}
    return not homes.isdisjoint({"dask", "dask_expr"})


def _annotated(table: Any, layer: str | None) -> Any:
    if layer is not None:
        if layer not in table.layers:
            known = ", ".join(map(repr, table.layers)) or "none"
            raise ValueError(f"there is no layer {layer!r}; the layers are {known}")
        return table.layers[layer]
    if table.X is None:
        raise ValueError('the AnnData object has no X; choose a layer: lm.data(A, layer="counts")')
    return table.X


def numbers_only(table: Any, *, numeric_only: bool = False, remedy: str = REMEDY) -> Any:
    """The frame without its columns that hold no numbers; an error unless numeric_only is set.

    remedy : with what such columns may be left out.
    """
    labels, columns, kinds = [repr(label) for label in table.columns], *_kinds(table)
    places = [j for j, kind in enumerate(kinds) if kind is not None]
    refuse_numbers_as_text({labels[j]: columns[j] for j in places if kinds[j] == "text"})
    if not places:
        return table
    others = {j: f"{labels[j]} ({kinds[j]})" for j in places}
    n = len(columns)
    note = without(others, n, n, numeric_only, remedy)
    counted = f"indices count the {n - len(others)} others, chosen_names are labels of the table"
    warn_user(f"{note}; {counted}")
    return taken(table, [j for j in range(n) if j not in others])


def numeric_places(table: Any) -> list[int]:
    """Which columns of a frame hold numbers."""
    return [j for j, kind in enumerate(_kinds(table)[1]) if kind is None]


def taken(table: Any, places: list[int]) -> Any:
    """The columns at these places of a frame, an Arrow table or whatever has labels."""
    if library(table) == "pyarrow":
        return table.select(places)
    return table.iloc[:, places] if hasattr(table, "iloc") else table[:, places]


def _kinds(table: Any) -> tuple[list[Any], list[str | None]]:
    """The columns of a frame, and what each holds if it does not hold numbers."""
    columns = _columns(table)
    return columns, [_kind_of(column) for column in columns]


def _columns(table: Any) -> list[Any]:
    polars = library(table) == "polars"
    return [table[:, j] if polars else table.iloc[:, j] for j in range(table.shape[1])]


def without(
    others: dict[int, str], n: int, total: int, numeric_only: bool, remedy: str = REMEDY
) -> str:
    """A note that the others, of n columns that could be chosen, are left out; or an error.

    others : what to call the columns that hold no numbers. total : all columns of the table.
    """
    listed = named(list(others.values()))
    if len(others) == n:
        raise ValueError(f"none of the {n} columns holds numbers: {listed}")
    if not numeric_only:
        raise ValueError(
            f"{len(others)} of {total} columns do not hold numbers: {listed}; leave them out with "
            f"{remedy}"
        )
    return f"numeric_only leaves out {len(others)} of {total} columns: {listed}"


def refuse_numbers_as_text(
    columns: dict[str, Any], *, notation: Notation | None = None, of_file: bool = False
) -> None:
    """Raise when columns of text are mostly numbers: they are never left out.

    columns : the values of each, by what the column is called.
    """
    odd = []
    for label, column in columns.items():
        cells = Cells(notation or Notation())
        for row, value in enumerate(column):
            if isinstance(value, bytes):
                value = value.decode("utf-8", "replace")
            if not is_missing(value) and value == value:
                cells.add(f"row {row}", str(value))
        if cells.present and cells.mostly_numbers:
            odd.append((label, cells))
    if odd:
        raise FormatError(odd_sentence(odd, of_file=of_file))


def is_missing(value: Any) -> bool:
    """Whether this is None, or the NA or NaT of pandas."""
    return value is None or "NA" in type(value).__name__


def frame_values(table: Any) -> np.ndarray:
    """The numbers of a frame, whose columns all hold numbers; a missing one is NaN."""
    values = table.to_numpy()
    if values.dtype != object:
        return values
    numbers = [[np.nan if is_missing(v) else float(v) for v in c] for c in _columns(table)]
    return np.array(numbers, float).T


def _kind_of(column: Any) -> str | None:
    """What a column of pandas or polars holds; None for numbers, booleans too."""
    dtype = str(column.dtype)
    if NUMERIC.match(dtype):
        return None
    if dtype.lower() == "object":
        return _object_kind(column)
    return next((kind for kind, names in KINDS.items() if re.match(names, dtype, re.I)), dtype)


def _object_kind(column: Any) -> str | None:
    """What a column of Python objects holds; None for numbers and missing values."""
    present = [value for value in column if not is_missing(value)]
    if any(isinstance(value, str | bytes) for value in present):
        return "text"
    try:
        np.asarray(present, dtype=object).astype(np.float64)
    except (TypeError, ValueError):
        return type(present[0]).__name__
    return None


def arrow_kind(kind: Any) -> str | None:
    """The type of an Arrow column that holds no numbers; None for numbers."""
    return None if NUMERIC.match(str(kind)) else str(kind)


def arrow_others(table: Any, schema: Any) -> dict[int, str]:
    """The types of the columns of an Arrow table that hold no numbers.

    Text that is mostly numbers is an error, as far as rows can be looked at without reading all.
    """
    kinds = {j: arrow_kind(field.type) for j, field in enumerate(schema)}
    others = {j: kind for j, kind in kinds.items() if kind is not None}
    if others and (rows := first_rows(table)) is not None:
        refuse_numbers_as_text(
            {repr(schema.field(j).name): arrow_text(rows.column(j)) for j in others}
        )
    return others


def arrow_text(column: Any) -> list[str | None]:
    """The values of an Arrow column of text; none of any other column."""
    is_text = str(column.type) in ("string", "large_string", "string_view")
    return column.to_pylist() if is_text else []


def first_rows(table: Any) -> Any:
    """All rows of a table in memory, the first of a file; None of a stream, which is read once."""
    if hasattr(table, "column"):
        return table
    if hasattr(table, "head"):
        return table.head(SAMPLE)
    return next(table.iter_batches(SAMPLE), None) if hasattr(table, "iter_batches") else None


def arrow_values(batch: Any, dtype: Any = np.float64) -> np.ndarray:
    """A record batch or table of numbers as an array; a missing value is NaN."""
    import pyarrow as pa
    import pyarrow.compute as pc

    batch.validate(full=True)  # a damaged file may point outside its buffers
    block = np.empty((batch.num_rows, batch.num_columns), dtype=dtype, order="F")
    for j, column in enumerate(batch.columns):
        if pa.types.is_boolean(column.type):
            column = pc.cast(column, pa.int8())
        try:
            numbers = pc.cast(column, pa.float64(), safe=False)
        except pa.ArrowException as error:
            name = batch.schema.names[j]
            raise FormatError(f"column {name!r} cannot be turned into numbers: {error}") from error
        chunked = hasattr(numbers, "chunks")
        block[:, j] = numbers.to_numpy() if chunked else numbers.to_numpy(zero_copy_only=False)
    return block


def float_dtype(dtype: Any) -> np.dtype:
    """float32 for itself, in the machine's byte order; float64 for all other numbers."""
    dtype = np.dtype(dtype)
    return np.dtype(np.float32 if dtype.kind == "f" and dtype.itemsize == 4 else np.float64)


def arrow_dtype(schema: Any) -> np.dtype:
    """float32 when all columns are, else float64."""
    single = all(str(field.type) == "float" for field in schema)
    return np.dtype(np.float32 if single else np.float64)
