"""
A table of your own
===================

Tables as people have them: dates, names, numbers written ``1.107,97``, a mark such as ``k.A.`` for
missing values, two columns of one name, and one that never changes. Which five measurements of such
a table tell the most about all of them?
"""

import tempfile
import warnings
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import landmarks as lm

# %%
# The table is written here, so that you can see what is in it: forty measurements of 300 samples,
# which six causes move, as a German spreadsheet writes them.

rng = np.random.default_rng(0)
causes = rng.standard_normal((300, 6)) @ rng.standard_normal((6, 40))
values = (20 + causes + 0.5 * rng.standard_normal((300, 40))) * 10 ** rng.uniform(0, 3, 40)
names = [f"reading {j}" for j in range(40)]
names[7] = names[3]


def written(value: float) -> str:
    """A number with a decimal comma and points between the thousands; one of fifty is missing."""
    text = f"{value:,.2f}".translate({ord(","): ".", ord("."): ","})
    return "k.A." if rng.random() < 0.02 else text


rows = ["date;sample;" + ";".join(names) + ";version"]
for i, row in enumerate(values):
    cells = [f"2026-03-{1 + i % 28:02d}", f"S{i:03d}", *map(written, row), "7"]
    rows.append(";".join(cells))
path = Path(tempfile.mkdtemp()) / "samples.csv"
path.write_text("\n".join(rows), encoding="utf-8")
print("\n".join(line[:72] + " …" for line in rows[:3]))

# %%
# Ask, and the error says what is in the way. No column is left out silently.

try:
    lm.select(path, 5)
except ValueError as error:
    print(error)

# %%
# With the mark and the sign between thousands it is a table of numbers. ``numeric_only`` leaves out
# the dates and the names of the samples, ``missing`` says what to do about the values that are not
# there, and ``center`` and ``scale`` give all readings the same weight. Warnings say what was done.
# In a terminal::
#
#     landmarks select samples.csv -k 5 --thousands . --na-values k.A. --numeric-only \
#         --missing impute --standardize --report samples.html

how = {"thousands": ".", "na_values": "k.A.", "numeric_only": True, "missing": "impute"}
with warnings.catch_warnings(record=True) as notes:
    warnings.simplefilter("always")
    table = lm.data(path, center=True, scale=True, **how)
for note in notes:
    print("note:", note.message)

# %%
# The choice, what it keeps, and what five random readings and the best five directions would keep:

s = lm.select(table, 5)
s.summary()

# %%
# Are five enough? The picture shows the error of the choice, of greedy choices of each size, and of
# the best directions, which no choice can beat.

figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
curve = s.plot(ax)

# %%
# What each of the five adds, and which reading could take its place at what cost:

s.why(each=1)

# %%
# Would other samples have given other readings? This is how often each is chosen when the rows are
# drawn again.

s.stability(10)

# %%
# One page with all of this, for those who do not use Python.

s.report(path.with_suffix(".html"), title="samples")
print(path.with_suffix(".html").stat().st_size // 1000, "kB")
