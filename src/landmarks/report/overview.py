"""What a selection says about itself: its headline numbers, one line, a table for each place.

The numbers are what is kept by the choice, by the best directions and by random choices. Terminal,
summary, notebook, frame, pipe and JSON take the columns of the table from one list, `COLUMNS`.
"""

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from .._array import Indices, host
from .._shown import Table, aligned, printable, shown_width
from ..linalg.error import spectrum_is_cheap
from ..operators.base import on_workers, product_seconds
from ..operators.pair import Pair
from ..residual.factors import noisy
from ..selection import Selection
from .sentences import limit
from .terminal import Terminal, Words, compared, comparisons, headline

DRAWS = 20
EFFORT = 2e10  # multiplications that the random choices may take together
GAINS = 300  # the most chosen whose gains are computed one by one
LISTED = 10  # the most chosen columns that are printed
SECONDS = 2.0  # the most that printing a selection may take
BOUND_EFFORT = 2e9  # multiplications that the bound of a shown selection may take


@dataclass(frozen=True, eq=False)
class Summary:
    """What is kept, as shares from 0 to 1.

    chosen : by the choice.
    best : by the best k directions, which no choice of k can exceed; None if they cost too much.
    random : by random choices of k, the mean of `draws` of them.
    together : by the first 1, 2, … of the choice; None if that costs too much.
    """

    chosen: float
    best: float | None
    random: float
    draws: int
    together: np.ndarray | None


def summarise(selection: Selection, *, draws: int = DRAWS) -> Summary:
    """The headline numbers of a selection that has its data.

    Examples
    --------
    >>> from landmarks.report.overview import summarise
    >>> summary = summarise(lm.select(np.diag([1.0, 3.0, 2.0]), 2))
    >>> round(summary.chosen, 3), summary.together.round(3).tolist()
    (0.929, [0.643, 0.929])
    """
    operator, k = selection._data, selection.k
    draws = int(np.clip(EFFORT / (operator.n * max(k, 1) * (operator.m or max(k, 1))), 1, draws))
    seed = selection.seed or 0
    drawn = [_drawn(selection, seed + draw) for draw in range(draws)]
    best = None
    if spectrum_is_cheap(operator):
        total = selection._figure("total", None) or 1.0  # in units that cannot overflow
        best = 1 - selection._figure("best_rank", None) / total
    return Summary(
        1 - selection.relative_error(),
        best,
        1 - float(np.mean(drawn)),
        draws,
        nested_shares(selection),
    )


def _drawn(selection: Selection, seed: int) -> float:
    """The relative error of a random choice of the same size."""
    operator, k, objective = selection._data, selection.k, selection.objective
    allowed = np.setdiff1d(np.arange(operator.n), selection.exclude)
    indices = np.random.default_rng(seed).choice(allowed, k, replace=objective.repeats)
    return objective.error(operator, indices) / (objective.total(operator) or 1.0)


def nested_shares(selection: Selection) -> np.ndarray | None:
    """What the first 1, 2, … of the chosen keep; None where that costs too much."""
    operator, objective = selection._data, selection.objective
    if objective.additive:
        return explained_shares(objective.on(operator), selection.indices)
    if operator.n > 3000:
        return None
    return 1 - _nested_errors(selection) / (selection._figure("total", None) or 1.0)


def _nested_errors(selection: Selection) -> np.ndarray:
    """The errors of the first 1, 2, … of the chosen."""
    error, operator = selection.objective.error, selection._data
    sizes = range(1, selection.k + 1)
    return np.array([error(operator, selection.indices[:size]) for size in sizes])


def explained_shares(pair: Pair, picks: Indices) -> np.ndarray:
    """The share of the total that the first 1, 2, … picks explain; dependent ones add nothing."""
    total, picks = pair.total(pair.operator.diagonal()), np.asarray(picks)
    if total <= 0:
        return np.ones(len(picks))
    columns = host(pair.operator.columns(picks)).astype(np.float64)
    among = noisy(columns[picks], pair, picks)
    kept, gains = np.arange(len(picks)), np.zeros(len(picks))
    factor, info = scipy.linalg.lapack.dpotrf(among, lower=1)
    while info > 0:
        kept = np.delete(kept, info - 1)
        factor, info = scipy.linalg.lapack.dpotrf(among[np.ix_(kept, kept)], lower=1)
    if len(kept):
        F = scipy.linalg.solve_triangular(factor, columns[:, kept].T, lower=True)
        gains[kept] = np.sum(F**2 * (1.0 if pair.weights is None else pair.weights), axis=1)
    return np.cumsum(gains) / total


@dataclass(frozen=True, eq=False)
class Row:
    """One of the chosen ones.

    index : its place among the candidates; number : the same as the user's file counts.
    label : what people call it; name : its label in the data, if there is one.
    kept : the share that it and those before it keep, if known.
    """

    selection: Selection
    place: int
    index: int
    number: int
    label: str
    name: Any
    kept: float | None


@dataclass(frozen=True, eq=False)
class Column:
    """A column of the table of the chosen ones; an entry of `COLUMNS` is all that it needs.

    value : what a row has in it.
    title : what people read above it, with {noun} for what a candidate is; None: not for people.
    form : how the value is written for people; texts are on the left and cut to what is free.
    bar : whether a terminal draws the value, a share, as a bar too.
    frame, pipe, record : its name in a data frame, for a pipe and in JSON; None where it is not.
    """

    value: Callable[[Row], Any]
    title: str | None = None
    form: str = ""
    text: bool = False
    bar: bool = False
    frame: str | None = None
    pipe: str | None = None
    record: str | None = None

    def shown(self, row: Row, width: int | None = None) -> str:
        """The value for people; empty where there is none."""
        value = self.value(row)
        if self.text:
            return printable(value, width)
        return "" if value is None else f"{value:{self.form}}"

    def cell(self, row: Row) -> str:
        """The value for a pipe; empty where there is none."""
        value = self.value(row)
        if value is None:
            return ""
        return f"{value:.6g}" if isinstance(value, float) else printable(value)


COLUMNS = (
    Column(lambda row: row.place, title="", pipe="place"),
    Column(lambda row: row.number, frame="index", pipe="index", record="indices"),
    Column(lambda row: row.label, title="{noun}", text=True, pipe="name"),
    Column(lambda row: row.name, frame="name", record="names"),
    Column(
        lambda row: row.kept,
        title="kept so far",
        form=".1%",
        bar=True,
        frame="kept so far",
        pipe="kept",
        record="kept_together",
    ),
)


@dataclass(frozen=True, eq=False)
class Chosen:
    """The chosen ones in order of choice, of which each place shows the columns that it has."""

    selection: Selection
    words: Words
    together: np.ndarray | None = None

    def rows(self, most: int | None = None) -> list[Row]:
        """The first of the choice, all unless `most` is given."""
        selection, number, label = self.selection, self.words.number, self.words.label
        names = selection.chosen_names or [None] * selection.k
        kept = [None] * selection.k if self.together is None else self.together.tolist()
        return [
            Row(selection, place + 1, j, number(j), label(j), names[place], kept[place])
            for place, j in enumerate(selection.indices[:most].tolist())
        ]

    def values(self, column: Column) -> list[Any] | None:
        """The values of a column; None where it has none."""
        values = [column.value(row) for row in self.rows()]
        return None if values and all(value is None for value in values) else values

    def titled(self) -> list[tuple[Column, str]]:
        """The columns with values that people read, and their titles."""
        return [
            (column, column.title.format(noun=self.words.noun))
            for column in COLUMNS
            if column.title is not None and self.values(column) is not None
        ]

    def lines(self, terminal: Terminal, most: int) -> Iterator[str]:
        """The table for a terminal; names have the width that the other columns leave."""
        rows, grid = self.rows(most), []
        for column, title in self.titled():
            if column.bar:
                bars = [terminal.bar(column.value(row), 20, chosen=True) for row in rows]
                grid.append((["", *bars], False, False))
            texts = [column.shown(row) for row in rows]
            grid.append(([title, *texts], column.text, not column.text))
        taken = 2 + sum(2 + max(map(shown_width, cells)) for cells, text, _ in grid if not text)
        room = max(12, min(44, terminal.columns - taken))
        cut = [
            [printable(cell, room) if text else cell for cell in cells] for cells, text, _ in grid
        ]
        yield from aligned(list(zip(*cut, strict=True)), [right for _, _, right in grid])

    def table(self, most: int) -> Table:
        """The table for a notebook."""
        columns = self.titled()
        values = {title: self.values(column) or [] for column, title in columns}
        return Table(values, {title: column.form for column, title in columns}, most)

    def piped(self) -> Iterator[str]:
        """The table for a pipe, with tabs between its columns."""
        columns = [column for column in COLUMNS if column.pipe is not None]
        yield "\t".join(str(column.pipe) for column in columns)
        for row in self.rows():
            yield "\t".join(column.cell(row) for column in columns)

    def record(self) -> dict[str, Any]:
        """The columns of the record, by their names there; None where there are no values."""
        return {column.record: self.values(column) for column in COLUMNS if column.record}


@dataclass(frozen=True, eq=False, repr=False)
class Overview:
    """The table of a selection: it prints as text and shows itself in notebooks."""

    selection: Selection
    summary: Summary | None

    def __repr__(self) -> str:
        words = words_of(self.selection)
        listed = lines(self.selection, self.summary, words, Terminal(), most=LISTED)
        return "\n".join(line.rstrip() for line in listed)

    def _repr_html_(self) -> str:
        return as_html(self.selection, self.summary)


def overview(selection: Selection) -> Overview:
    """The table of a selection that has its data."""
    return Overview(selection, summarise(selection) if selection.objective.shares else None)


def lines(
    selection: Selection, summary: Summary | None, words: Words, terminal: Terminal, *, most: int
) -> Iterator[str]:
    """The headline, the chosen ones with what they keep, and how that compares.

    summary : None for a log determinant, of which nothing is kept.
    """
    yield "  " + terminal.bold(_title(selection, words, summary))
    yield ""
    table = Chosen(selection, words, None if summary is None else summary.together)
    yield from ("  " + line for line in table.lines(terminal, most))
    if selection.k > most:
        yield f"      … {selection.k - most} more"
    yield ""
    if summary is not None:
        yield "  kept by"
        yield from compared(selection.k, summary, words, terminal)
        yield ""
    if promise := limit(selection, summary):
        yield "  " + promise
    yield "  " + terminal.dim(_made(selection, words))


def _made(selection: Selection, words: Words) -> str:
    kernel = f" on {words.kernel}" if words.kernel else ""
    seconds, precision = selection.ledger.seconds, selection.ledger.precision
    made = f"by {selection.method}{kernel}, seed {selection.seed}, in {seconds:.2f} s"
    return made if precision in ("", "float64") else f"{made}, in {precision}"


def words_of(selection: Selection) -> Words:
    """The words for the data that the selection itself knows."""

    def label(j: int) -> str:
        return f"{noun} {j}" if selection.names is None else selection.names[j]

    noun = selection._noun
    return Words(noun, target_measure(_measure(selection), selection), label)


def target_measure(measure: str, selection: Selection) -> str:
    """The measure of the columns, or of the target; the noise is named.

    measure : that of the data, where the objective has none of its own.
    """
    objective = selection.objective
    measure = objective.measure or measure
    if objective.target is not None:
        rows = objective.rebuilds_rows
        measure = f"{measure} of the target" if rows else f"weighted {measure}"
    return measure if objective.noise is None else f"{measure}, measured with noise"


def _measure(selection: Selection) -> str:
    if selection.center:
        return "variance"
    if selection.from_rows is None:  # loaded from an older file
        return "total"
    return "sum of squares" if selection.from_rows else "trace of the matrix"


def one_line(selection: Selection) -> str:
    """The choice in one line; the error where it is known or costs little."""
    words = words_of(selection)
    names = [printable(words.label(int(j)), 40) for j in selection.indices[:LISTED]]
    rest = f", … {selection.k - LISTED} more" if selection.k > LISTED else ""
    return f"Selection: {_title(selection, words)}: {', '.join(names)}{rest}"


def gains_in_nats(selection: Selection) -> list[float] | None:
    """By how much each of the choice raises the log determinant of those before it."""
    if selection.k > GAINS or not np.isfinite(selection.error()):
        return None
    return (-np.diff(_nested_errors(selection), prepend=0.0)).tolist()


def _title(selection: Selection, words: Words, summary: Summary | None = None) -> str:
    """How many were chosen, and what they keep where that is known or costs little."""
    if not selection.objective.shares:
        counted = f"{selection.k} of {words.counted(selection.n)}{words.of}"
        return f"{counted} have the log determinant {-selection.error():.6g}"
    kept = _kept(selection) if summary is None else summary.chosen
    if kept is None:
        return f"{selection.k} of {words.counted(selection.n)}"
    return headline(selection, kept, words)


def as_table(selection: Selection) -> Table:
    """The chosen ones in order of choice, with what they keep up to there."""
    shares = selection.objective.shares and selection.operator is not None
    together = nested_shares(selection) if shares else None
    chosen = Chosen(selection, words_of(selection), together)
    named = {column.frame: chosen.values(column) for column in COLUMNS if column.frame}
    return Table({name: values for name, values in named.items() if values is not None})


def as_html(selection: Selection, summary: Summary | None = None) -> str:
    """The choice as a table for a notebook; with a summary also how it compares."""
    words = words_of(selection)
    title = _title(selection, words, summary)
    together = None if summary is None else summary.together
    if summary is None and selection.objective.shares and _is_cheap(selection):
        together = nested_shares(selection)
    table = Chosen(selection, words, together).table(LISTED)._repr_html_()
    made = html.escape(f"by {selection.method}, seed {selection.seed}")
    return (
        f"<p><b>{html.escape(title)}</b></p>{table}{_bars(selection, summary, words)}"
        f"{_promise(selection, summary)}<p><small>{made}; see also summary(), plot(), why(), "
        "stability(), report(path)</small></p>"
    )


def _bars(selection: Selection, summary: Summary | None, words: Words) -> str:
    """What the choice, random choices and the best directions keep, as bars."""
    if summary is None:
        return ""
    rows = ""
    for what, part, chosen in comparisons(selection.k, summary, words):
        colour = "#0072b2" if chosen else "#999999"
        bar = f"<div style='background:{colour};height:0.7em;width:{100 * part:.1f}%'></div>"
        rows += (
            f"<tr><td>{html.escape(what)}</td><td><div style='width:16em'>{bar}</div></td>"
            f"<td>{part:.1%}</td></tr>"
        )
    return f"<table><thead><tr><th>kept by</th><th></th><th></th></tr></thead>{rows}</table>"


def _promise(selection: Selection, summary: Summary | None) -> str:
    """How much better another choice could be, when that is known or costs little."""
    operator, known = selection.operator, f"rank_bound:{selection.criterion}" in selection.known
    if operator is not None and not known:
        m, n = operator.m or operator.n, operator.n
        known = _is_cheap(selection) and n * m * min(n, m) <= BOUND_EFFORT
    known = known or selection.searched or summary is not None
    sentence = limit(selection, summary) if known else ""
    return f"<p>{sentence}</p>" if sentence else ""


def _kept(selection: Selection) -> float | None:
    """The part of the total that is kept, when it is known or costs little."""
    figures = [f"{kind}:{selection.criterion}" for kind in ("error", "total")]
    if all(figure in selection.known for figure in figures) or _is_cheap(selection):
        return 1 - selection.relative_error()
    return None


def _is_cheap(selection: Selection) -> bool:
    """Whether the errors can be computed here in a second or two."""
    operator = selection.operator
    if operator is None or on_workers(operator) or "columns" not in operator.cheap:
        return False
    return selection.k * product_seconds(operator) <= SECONDS
