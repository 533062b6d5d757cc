"""How results show themselves: as a sentence, as a table, and as both in a notebook."""

import html
import re
import shutil
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, TextIO

from .errors import UnsupportedError

#: control, direction, surrogates, private, line separators
HIDDEN = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"})
PRINTED_ROWS = 20
USUAL = 80  # columns of a terminal
SHORTEST = 8  # letters that a name in a list keeps
ESCAPE = re.compile(r"\033\[[0-9;]*m")  # our own colours; names contain no escape characters
LEFT = " style='text-align:left'"  # notebooks align cells on the right


@dataclass(frozen=True, eq=False)
class Table:
    """Columns by name, each a list; None where there is no value.

    Attributes
    ----------
    columns : name -> values.
    forms : name -> how its numbers are written, where that is not with three digits.
    most : how many rows are printed.

    Examples
    --------
    >>> from landmarks.explain import Table
    >>> table = Table({"name": ["age", "bmi"], "r2": [0.251, 1.0]})
    >>> table
    name     r2
    age   0.251
    bmi       1
    >>> table.rows[0]
    {'name': 'age', 'r2': 0.251}
    """

    columns: dict[str, list[Any]]
    forms: dict[str, str] = field(default_factory=dict)
    most: int = PRINTED_ROWS

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), []))

    def __getitem__(self, name: str) -> list[Any]:
        if name not in self.columns:
            raise KeyError(f"no column {name!r}; there are {', '.join(self.columns)}")
        return self.columns[name]

    @property
    def labels(self) -> list[Any]:
        """The names of the rows, or their indices if they have none."""
        return self.columns.get("name", self["index"])

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The rows, each a dictionary."""
        return [
            dict(zip(self.columns, row, strict=True))
            for row in zip(*self.columns.values(), strict=True)
        ]

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame."""
        return pandas(".rows or .columns").DataFrame(self.columns)

    def __repr__(self) -> str:
        columns = [[name, *self._texts(name)] for name in self.columns]
        right = [not _has_text(values) for values in self.columns.values()]
        return "\n".join([*aligned(list(zip(*columns, strict=True)), right), *self._more])

    def _repr_html_(self) -> str:
        head, columns = "", []
        for name, values in self.columns.items():
            left = LEFT if _has_text(values) else ""
            head += f"<th{left}>{html.escape(printable(name))}</th>"
            cells = map(html.escape, self._texts(name))
            columns.append([f"<td{left}>{f'<bdi>{c}</bdi>' if left else c}</td>" for c in cells])
        body = "".join(f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" + "".join(
            f"<p>{line}</p>" for line in self._more
        )

    def _texts(self, name: str) -> list[str]:
        """The rows of a column that are printed."""
        form = self.forms.get(name, ".3g")
        return [_text(value, form) for value in self.columns[name][: self.most]]

    @property
    def _more(self) -> list[str]:
        return [f"… {len(self) - self.most} more"] if len(self) > self.most else []


def pandas(instead: str) -> Any:
    """The library pandas; where it is missing, an error says what to use instead of a frame."""
    try:
        import pandas
    except ImportError:
        raise UnsupportedError(
            f"to_frame needs pandas, which is not installed; use {instead}"
        ) from None
    return pandas


def _text(value: Any, form: str) -> str:
    if value is None:
        return ""
    fraction = isinstance(value, Real) and not isinstance(value, Integral)
    return f"{value:{form}}" if fraction else printable(value, 200)


def _has_text(values: list[Any]) -> bool:
    return any(isinstance(value, str) for value in values)


def columns_of(stream: TextIO) -> int:
    """How wide a terminal is; as usual if the stream is none."""
    return shutil.get_terminal_size((USUAL, 24)).columns if stream.isatty() else USUAL


def listed(names: Sequence[str], width: int) -> str:
    """A list of names in a line of at most that width; long names are cut, all to one width."""
    for each in range(max(width, SHORTEST), SHORTEST - 1, -1):
        line = ", ".join(printable(name, each) for name in names)
        if shown_width(line) <= width:
            break
    return printable(line, width)


def wrapped(text: str, width: int) -> Iterator[str]:
    """The words of a text in lines of at most that width; a longer word has a line of its own."""
    line, *words = text.split(" ")
    for word in words:
        if shown_width(f"{line} {word}") > width:
            yield line
            line = word
        else:
            line = f"{line} {word}"
    yield line


def aligned(rows: Sequence[Sequence[str]], right: Sequence[bool]) -> Iterator[str]:
    """The rows as lines, each column as wide as its widest cell."""
    widths = [max(shown_width(row[j]) for row in rows) for j in range(len(right))]
    for row in rows:
        cells = (
            _padded(cell, width, side) for cell, width, side in zip(row, widths, right, strict=True)
        )
        yield "  ".join(cells).rstrip()


def shown_width(text: str) -> int:
    """The width of a text on a terminal: 2 for wide letters, 0 for combining marks."""
    text = ESCAPE.sub("", text)
    return sum(_cells(letter) for letter in text)


def _cells(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in "WF" else 1


def _padded(cell: str, width: int, right: bool) -> str:
    space = " " * (width - shown_width(cell))
    return space + cell if right else cell + space


def printable(name: object, width: int | None = None) -> str:
    """A name for a terminal, without characters that control it or change the direction.

    width : on a terminal; a longer name is cut.
    """
    text = "".join(
        "�" if unicodedata.category(letter) in HIDDEN else letter
        for letter in str(name)[: None if width is None else 4 * width]
    )
    if width is None or shown_width(text) <= width:
        return text
    kept, room = 0, width - 1
    for letter in text:
        room -= _cells(letter)
        if room < 0:
            break
        kept += 1
    return text[:kept] + "…"


class Shown:
    """A result that prints as one line, and in a notebook with its table.

    A class that derives from it has `sentence`, `table` and `plot`.
    """

    sentence: Any
    table: Any

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            One row for each row of `table`.

        Examples
        --------
        >>> lm.path(np.diag([3.0, 2.0, 1.0]), 2).to_frame()["k"].tolist()
        [1, 2]
        """
        return self.table.to_frame()

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {printable(self.sentence)}"

    def _repr_html_(self) -> str:
        sentence = html.escape(printable(self.sentence))
        return f"<p><b>{type(self).__name__}</b>: {sentence}</p>{self.table._repr_html_()}"


class ShownAsBars(Shown):
    """A result that is drawn as bars: their names, their lengths, and what these are."""

    bars: Any

    def plot(self, ax: Any = None, *, at_most: int = 20) -> Any:
        """Draw the bars, the first on top; above `at_most` only the first ones."""
        from .plots.axes import bars

        names, lengths, label = self.bars
        return bars(names, lengths, label, ax, at_most)
