"""Every way into the package as one function: data and settings in, chosen columns out.

A frame is given as it is to the functions of Python and as a file to the commands. Warnings are
those of Python; the notes of the commands are raised as warnings of their text.
"""

import io
import json
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import landmarks as lm
from landmarks.cli.main import main

K = 2


def _select(A, folder, **asked):
    return lm.select(A, K, method="greedy", **asked).chosen_names


def _path(A, folder, **asked):
    curve = lm.path(A, [K], **asked)
    columns = A.collect_schema() if hasattr(A, "collect_schema") else getattr(A, "columns", None)
    names = None if columns is None else list(columns)
    return None if names is None else [names[j] for j in curve.indices]


def _compare(A, folder, **asked):
    return lm.compare(A, K, methods=["greedy"], **asked).best.chosen_names


def _held_out(A, folder, **asked):
    assert lm.held_out(A, [K], cv=3, **asked).errors.shape == (3, 1)


def _data(A, folder, **asked):
    missing = asked.pop("missing", "error")
    reading = {"missing": missing, "numeric_only": asked.pop("numeric_only", False)}
    return lm.select(lm.data(A, **reading, **asked), K, method="greedy").chosen_names


def _load(A, folder, **asked):
    lm.select(A, K, method="greedy", **asked).save(folder / "run.npz")
    return lm.load(folder / "run.npz", data=A).chosen_names


def _selector(A, folder, **asked):
    fitted = lm.ColumnSelector(K, method="greedy", **asked).fit(A)
    return fitted.selection_.chosen_names


def command(*words):
    """The standard output of a command; its notes are warnings, its failure is a ValueError."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = main([str(word) for word in words])
    if code:
        raise ValueError(err.getvalue())
    for line in err.getvalue().splitlines():
        warnings.warn(line.removeprefix("landmarks: note: "), stacklevel=2)
    return out.getvalue()


def _words(A, folder, asked):
    path = A
    if not isinstance(A, str | Path):
        path = folder / "table.csv"
        A.to_csv(path, index=False)
    options = [f"--{name.replace('_', '-')}" for name, value in asked.items() if value is True]
    if asked.get("scale") is False:
        options.append("--no-scale")
    if "missing" in asked:
        options += ["--missing", asked["missing"]]
    return [path, "-k", K, "-q", "--json", *options]


def _command_select(A, folder, **asked):
    printed = command("select", *_words(A, folder, asked), "--method", "greedy")
    return json.loads(printed)["names"]


def _command_compare(A, folder, **asked):
    printed = command("compare", *_words(A, folder, asked), "--methods", "greedy")
    return json.loads(printed)["rows"] and None


DOORS = {
    "select": _select,
    "path": _path,
    "compare": _compare,
    "held_out": _held_out,
    "ColumnSelector": _selector,
    "data": _data,
    "load": _load,
    "landmarks select": _command_select,
    "landmarks compare": _command_compare,
}
