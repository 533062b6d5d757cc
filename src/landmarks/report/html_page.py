"""One HTML page about a selection, which can be shared and read offline.

uPlot, which is included, draws the figures; without scripts they are SVG. Text from the data is
escaped, and a content security policy allows only the page's two scripts. The second half has the
numbers behind the page: error against k, path of t, correlations, and files to download.
"""

import base64
import csv
import hashlib
import io
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from .._array import host
from .._shown import printable
from ..errors import UnsupportedError
from ..explain.alternatives import Alternatives
from ..explain.reasons import Reasons
from ..methods.costs import proof_seconds
from ..operators.data import filled_in
from ..operators.fingerprint import fingerprint
from ..plots.curves import error_curve, sampled
from ..runs.archive import written
from ..selection import Selection
from .drawings import curve_svg, heat_svg, map_pictures
from .overview import Summary, gains_in_nats, summarise, words_of
from .sentences import (
    LONGEST,
    facts,
    harmless,
    limit,
    meaning,
    percent,
    plural,
    rebuilt_title,
    signed,
    signed_percent,
)

ROWS = 2000  # the most rows of the table of dropped columns
# the most that is drawn
TRAJECTORIES = 300
STEPS = 160
OTHERS = 2000
QUICK = 1.0  # estimated seconds in which other choices are looked for unasked


@dataclass(frozen=True)
class Origin:
    """Where a selection comes from: what `Selection.report` takes besides the path.

    filled : how many missing values were filled in.
    alternatives : what `selection.alternatives` found; those within 1 % if that takes a second.
    """

    title: str = "your data"
    noun: str = "column"
    measure: str = "variance"
    command: str | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    image: tuple[int, int] | None = None
    rows: int | None = None
    filled: int = 0
    fingerprint: str | None = None
    coordinates: Any = None
    field: Any = None
    alternatives: Alternatives | None = None


def page(
    selection: Selection, *, origin: Origin | None = None, summary: Summary | None = None
) -> str:
    """The HTML of the page."""
    origin = origin or guessed(selection)
    in_nats = not selection.objective.shares
    if not in_nats:
        summary = summary or summarise(selection)
    _check_image(origin, selection)
    reasons = None if in_nats else selection.why(each=3)
    dropped = [] if reasons is None else reasons.dropped.rows
    drawn = _data(selection, origin)
    # of constant columns that were centred nothing needs to be rebuilt
    zero = host(selection._data.diagonal()) == 0
    empty = set() if selection.objective.target is not None else {*np.flatnonzero(zero).tolist()}
    labels = [label(selection, int(j), origin.noun) for j in selection.indices]
    scripts = (asset("uplot/uPlot.iife.min.js"), asset("report.js"))
    styles = asset("uplot/uPlot.min.css") + asset("report.css")
    return (
        _environment()
        .get_template("page.html")
        .render(
            origin=origin,
            selection=selection,
            summary=summary,
            total=-selection.error() if in_nats else None,
            chosen=_chosen(selection, reasons, summary),
            dropped=[
                {
                    "name": None,
                    "kept_out": None,
                    "empty": row["index"] in empty,
                    **row,
                    "sources": _pairs(row, "source", "weight"),
                }
                for row in dropped[:ROWS]
            ],
            facts=facts(selection, origin.settings, origin.fingerprint),
            data=_as_script(drawn),
            labels=labels,
            meaning=meaning(selection, summary, origin.noun, origin.measure),
            limit=limit(selection, summary),
            rebuilt_title=rebuilt_title(selection),
            rebuilt_count=len(dropped),
            static={
                "curve": drawn["curve"] and curve_svg(drawn["curve"], origin.noun),
                "heat": heat_svg(drawn["heat"], drawn["names"]),
            },
            maps=map_pictures(selection, origin.coordinates, origin.field),
            alternatives=_alternatives(selection, origin),
            downloads=downloads(selection, origin.noun),
            scripts=scripts,
            styles=styles,
            policy=policy(scripts, styles),
            version=__version__,
        )
    )


def _alternatives(selection: Selection, origin: Origin) -> Alternatives | None:
    """The choices that are nearly as good, if they are given or estimated to take a second."""
    if origin.alternatives is not None or not selection.proved:
        return origin.alternatives
    if selection.n - len(selection.exclude) == selection.k and not selection.objective.repeats:
        return None
    with suppress(UnsupportedError):
        if proof_seconds(selection.problem()) <= QUICK:
            return selection.alternatives(at_most=OTHERS)
    return None


def guessed(selection: Selection) -> Origin:
    """The origin as far as the selection knows it."""
    operator = selection._data
    words = words_of(selection)
    stored = fingerprint(operator).get("sha256")
    known = stored and f"sha256:{stored}"
    return Origin(
        noun=words.noun,
        measure=words.measure,
        rows=operator.m,
        fingerprint=known,
        filled=filled_in(operator),
    )


def _check_image(origin: Origin, selection: Selection) -> None:
    if origin.image is not None and origin.image[0] * origin.image[1] != selection.n:
        height, width = origin.image
        raise ValueError(
            f"images of {height} × {width} have {height * width} pixels, "
            f"the data have {selection.n} {origin.noun}s"
        )


@cache
def asset(name: str) -> str:
    """A file of the package for its pages."""
    return files(__package__).joinpath("assets", name).read_text("utf-8")


@cache
def _environment() -> Any:
    try:
        import jinja2
    except ImportError as error:
        raise ImportError("a report needs Jinja2: pip install jinja2") from error
    environment = jinja2.Environment(
        loader=jinja2.FunctionLoader(asset),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters |= {
        "shown": partial(printable, width=LONGEST),
        "shown_line": partial(printable, width=4000),
        "percent": percent,
        "signed": signed,
        "signed_percent": signed_percent,
    }
    environment.globals |= {"plural": plural}
    return environment


def policy(scripts: tuple[str, ...], styles: str) -> str:
    """The content security policy: nothing from outside, no script or style but these."""
    allowed = " ".join(_hash(script) for script in scripts)
    return (
        f"default-src 'none'; script-src {allowed}; style-src {_hash(styles)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _as_script(data: dict[str, Any]) -> str:
    """JSON that cannot close its script element."""
    text = json.dumps(data, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")


def _data(selection: Selection, origin: Origin) -> dict[str, Any]:
    """The data that the scripts draw."""
    parts = {
        "curve": _curve(selection) if selection.objective.shares else None,
        "path": trajectories(selection),
        "heat": correlations(selection),
    }
    needed = {
        *selection.indices.tolist(),
        *(parts["path"] or {}).get("column", ()),
        *(parts["heat"] or {}).get("other", ()),
    }
    needed = needed if origin.image is None else set(range(selection.n))
    names = {str(j): label(selection, j, origin.noun) for j in sorted(needed)}
    return parts | {
        "names": names,
        "noun": origin.noun,
        "image": origin.image,
        "order": selection.indices.tolist(),
    }


def label(selection: Selection, j: int, noun: str) -> str:
    """The name of a candidate, or its number."""
    return f"{noun} {j}" if selection.names is None else printable(selection.names[j], LONGEST)


def _chosen(selection: Selection, reasons: Reasons | None, summary: Summary | None) -> list[Any]:
    """A row per chosen candidate: what it adds, what is kept up to it, what could replace it.

    For a log determinant it is what it adds to the one of those before it.
    """
    together = None if summary is None else summary.together
    kept = [None] * selection.k if together is None else together.tolist()
    if reasons is None:
        gains: Sequence[float | None] = gains_in_nats(selection) or [None] * selection.k
        names = selection.names or [None] * selection.n
        rows = [
            {"index": j, "name": names[j], "adds": gain}
            for j, gain in zip(selection.indices.tolist(), gains, strict=True)
        ]
    else:
        rows = reasons.chosen.rows
    return [
        {"name": None, **row, "together": share, "substitutes": _pairs(row, "substitute", "cost")}
        for row, share in zip(rows, kept, strict=True)
    ]


def _pairs(row: dict[str, Any], first: str, second: str) -> list[tuple[Any, float]]:
    """The entries first_1, second_1, first_2, … of a row, as pairs."""
    places = (q for q in range(1, 4) if row.get(f"{first}_{q}") is not None)
    return [(row[f"{first}_{q}"], row[f"{second}_{q}"]) for q in places]


def write(
    selection: Selection, path: str | Path, *, overwrite: bool = False, **origin: Any
) -> None:
    """Write the page as `Selection.report` promises."""
    html = page(selection, origin=replace(guessed(selection), **origin))
    try:
        with written(path, overwrite=overwrite) as file:
            file.write(html.encode("utf-8"))
    except FileExistsError as error:
        raise FileExistsError(f"{error}; overwrite=True replaces it") from error


def _curve(selection: Selection) -> dict[str, Any]:
    """The error in percent of greedy choices and of the best directions, up to about twice k."""
    curve, best = error_curve(selection, at_most=40)
    return {
        "k": curve.ks.tolist(),
        "greedy": _percent(curve.relative),
        "best": None if best is None else _percent(best),
        "chosen": [selection.k, *_percent(np.array([selection.relative_error()]))],
    }


def trajectories(selection: Selection) -> dict[str, Any] | None:
    """The weights of the chosen and some other columns over the steps of a relaxation."""
    if not selection.path:
        return None
    t = np.asarray(selection.path.t)
    steps = np.unique(np.linspace(0, len(t) - 1, min(len(t), STEPS)).round().astype(int))
    chosen = np.zeros(selection.n, dtype=bool)
    chosen[selection.indices] = True
    columns = sampled(chosen, TRAJECTORIES, seed=0)
    others = columns[~chosen[columns]][: max(0, TRAJECTORIES - selection.k)]
    columns = np.concatenate([others, np.flatnonzero(chosen)])
    levels = np.rint(255 * np.clip(t[np.ix_(steps, columns)], 0, 1)).astype(np.uint8)
    return {
        "step": steps.tolist(),
        "column": columns.tolist(),
        "chosen": chosen[columns].tolist(),
        "t": _packed(levels.T),
    }


def correlations(selection: Selection) -> dict[str, Any] | None:
    """The chosen against the others, those that resemble the same chosen one side by side."""
    operator = selection._data
    others = np.setdiff1d(np.arange(selection.n), selection.indices)
    if len(others) == 0 or selection.k == 0:
        return None
    others = others[np.linspace(0, len(others) - 1, min(len(others), OTHERS)).astype(int)]
    # K_ij/√(K_ii K_jj): the correlation of centred columns, the cosine of others
    lengths = np.sqrt(np.maximum(host(operator.diagonal()).astype(np.float64), 0.0))
    products = host(operator.columns(selection.indices)).astype(np.float64)[others].T
    scale = np.outer(lengths[selection.indices], lengths[others])
    C = np.divide(products, scale, out=np.zeros_like(products), where=scale > 0)
    nearest = np.argmax(np.abs(C), axis=0)
    order = np.lexsort((-np.abs(C).max(axis=0), nearest))
    levels = np.rint(127 * np.clip(C[:, order], -1, 1)).astype(np.int8)
    return {
        "chosen": selection.indices.tolist(),
        "other": others[order].tolist(),
        "levels": _packed(levels),
    }


def _percent(parts: np.ndarray) -> list[float]:
    return [float(f"{100 * part:.5g}") for part in parts]


def _packed(levels: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(levels).tobytes()).decode("ascii")


def downloads(selection: Selection, noun: str) -> list[dict[str, str]]:
    """A name, a file name and an address that holds the file, for each form."""
    names = selection.chosen_names or [int(j) for j in selection.indices]
    # names as text and numbers as numbers; anything else as it is printed
    plain = [name if isinstance(name, str | int) else str(name) for name in names]
    record = {"indices": selection.indices.tolist(), "names": plain}
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["order", "index", noun])
    for place, (j, name) in enumerate(zip(selection.indices, names, strict=True), 1):
        writer.writerow([place, int(j), harmless(str(name))])
    forms = {
        "CSV": ("chosen.csv", "text/csv", table.getvalue()),
        "JSON": ("chosen.json", "application/json", json.dumps(record, indent=2) + "\n"),
        "Python": ("chosen.py", "text/x-python", f"chosen = {plain!r}\n"),
    }
    listed = []
    for form, (file, kind, text) in forms.items():
        encoded = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        address = f"data:{kind};charset=utf-8;base64,{encoded}"
        listed.append({"form": form, "file": file, "address": address})
    return listed
