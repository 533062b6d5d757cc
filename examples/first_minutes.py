"""Fifty things that people try first, each with its result.

    python examples/first_minutes.py

prints them; the tests compare the output with docs/first_minutes.txt. A wrong call ends in an error
that says what to do.
"""

from __future__ import annotations

import io
import os
import re
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import redirect_stdout
from typing import Any

LINES = """
# columns of a data frame
s = lm.select(df, 5)
s = lm.select(lm.data(df), 5, method="greedy")
s = lm.select(df, 5, center=True, scale=True)
print(s)
s.chosen_names
df[s.chosen_names].shape
s.indices
# what the choice is worth
print(s.summary())
s.proved
round(s.relative_error(), 3)
s.why().chosen.rows[0]["name"]
s.plot().ax_.get_xlabel()
s._repr_html_()[:58]
lm.load(saved).chosen_names == s.chosen_names
# how many, and which method
lm.select(df, 0.1, scale=False).k
lm.path(df, 10, center=True, scale=True)
lm.path(df, 10, center=True, scale=True).smallest(error=0.2)
lm.held_out(df, 3, center=True, scale=True).mean.shape
print(lm.compare(df, 5, center=True, scale=True, methods=["greedy", "uniform"]).table["method"])
# other columns to rebuild, and noise
lm.select(df, 3, target=["mean area", "mean texture"], center=True, scale=True)
lm.select(df, 3, target=df[:10])
round(lm.select(lm.psd(K), 2, noise=0.1).relative_error(), 3)
lm.select(lm.psd(K), 2, noise=-0.1)
# labels that are not strings
numbers.loc[:, lm.select(numbers, 2).chosen_names].shape
two_levels[lm.select(two_levels, 2).chosen_names].shape
days[lm.select(days, 2).chosen_names].shape
lm.ColumnSelector(2, center=True).fit(days).selection_.chosen_names
# text, dates, booleans
lm.select(mixed, 2)
lm.select(mixed, 2, numeric_only=True).chosen_names
lm.select(mixed[["a", "b", "sold"]], 2).names
lm.ColumnSelector(2).fit(mixed)
# files
lm.select(csv, 2, scale=False).chosen_names
lm.select(xlsx, 2, scale=False).chosen_names
lm.select(parquet, 2, scale=False).chosen_names
lm.select("no such file.csv", 2)
# a kernel matrix, and points
lm.select(K, 3)
lm.select(lm.psd(K), 3).k
lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 4, method="greedy").k
lm.select(lm.psd(K), 3, scale=True)
lm.select(X, 3, progress=True).k
# mistakes, and what they say
lm.selct(df, 3)
lm.ColumnSelecter
dir(lm)[:3]
lm.select(df, scale=False)
lm.select(df, 50, scale=False)
lm.select(df, 2.5, scale=False)
lm.select(df, 3, scale=False, method="gredy")
lm.select(df, 3, scale=False, include=["mean radus"])
lm.select(df, 3, scale=False, criterion="trase")
lm.select(df, 5, center="yes")
s.path.plot()
"""


def attempts() -> Iterator[tuple[str, str]]:
    """Each line of code with what it prints, returns, warns of or raises."""
    names = world()
    for line in filter(None, LINES.strip().splitlines()):
        if line.startswith("#"):
            yield line, ""
        else:
            yield line, outcome(line, names)


def outcome(line: str, names: dict[str, Any]) -> str:
    """What a line leads to, in words."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, redirect_stdout(printed):
        warnings.simplefilter("always")
        try:
            result = run(line, names)
        except Exception as error:  # what a user sees is what is shown
            result = f"{type(error).__name__}: {error}"
    warned = [f"{warning.category.__name__}: {warning.message}" for warning in caught]
    words = "\n".join(filter(None, [*warned, printed.getvalue().rstrip(), result]))
    words = re.sub(
        r"one of auto, .+ or a method object", "one of auto, … or a method object", words
    )
    return re.sub(r"in \d+\.\d+ s", "in 0.25 s", words)


def run(line: str, names: dict[str, Any]) -> str:
    """Run a statement, or give the repr of an expression."""
    try:
        code = compile(line, "<first minutes>", "eval")
    except SyntaxError:
        exec(line, names)  # noqa: S102  # a line of this file
        return ""
    value = eval(code, names)  # noqa: S307  # a line of this file
    return "" if value is None else repr(value)


def world() -> dict[str, Any]:
    """What a user has: data frames, files, a kernel matrix."""
    import numpy as np
    import pandas as pd
    from sklearn.datasets import load_breast_cancer

    import landmarks as lm

    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) @ rng.standard_normal((4, 6))
    small = pd.DataFrame(X[:, :4], columns=list("abcd"))
    folder = tempfile.mkdtemp()
    csv, xlsx, parquet, saved = (
        os.path.join(folder, name) for name in ("my.csv", "my.xlsx", "my.parquet", "run.npz")
    )
    small.to_csv(csv, index=False)
    small.to_excel(xlsx, index=False)
    small.to_parquet(parquet)
    df = load_breast_cancer(as_frame=True).data
    lm.select(df, 5, center=True, scale=True).save(saved)
    mixed = small[["a", "b"]].assign(
        name="Ann",
        born=pd.Timestamp("2001-02-03"),
        colour=pd.Categorical(["red"] * len(small)),
        sold=X[:, 4] > 0,
    )
    return {
        "lm": lm,
        "np": np,
        "df": df,
        "X": X,
        "K": np.cov(X.T),
        "points": X[:, :2],
        "numbers": pd.DataFrame(X, columns=range(10, 16)),
        "two_levels": pd.DataFrame(X, columns=pd.MultiIndex.from_product([["u", "v"], [1, 2, 3]])),
        "days": pd.DataFrame(X, columns=pd.date_range("2026-01-01", periods=6)),
        "mixed": mixed,
        "csv": csv,
        "xlsx": xlsx,
        "parquet": parquet,
        "saved": saved,
    }


def shown() -> str:
    """All attempts as one text."""
    parts = []
    for line, result in attempts():
        parts.append(line if line.startswith("#") else f">>> {line}")
        if result:
            parts.append(result)
    return "\n".join(parts)


if __name__ == "__main__":
    print(shown())
