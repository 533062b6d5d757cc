"""
Choose genes
============

A panel of a few genes should represent thousands. Genes come in modules that rise and fall
together, and a good panel takes one or two of each module. The data are synthetic, so the modules
are known.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import landmarks as lm

rng = np.random.default_rng(0)
n_cells, sizes = 400, [120, 80, 60, 40]
programmes = rng.gamma(2.0, size=(n_cells, 4))
columns = {}
for module, size in enumerate(sizes):
    for i in range(size):
        level = programmes[:, module] * rng.uniform(0.5, 1.5)
        columns[f"M{module}_g{i}"] = np.log1p(rng.poisson(5 * level))
for i in range(100):
    columns[f"noise_g{i}"] = np.log1p(rng.poisson(0.3, n_cells))
expression = pd.DataFrame(columns)

# %%
# With a data frame, the result has the names of the genes.

selector = lm.ColumnSelector(8, random_state=0, center=True).fit(expression)
panel = selector.get_feature_names_out()
print(list(panel))

# %%
# Why these? See what each gene adds, and what could replace it at what cost.

reasons = selector.why()
print(reasons.chosen)

# %%
# How well does the panel rebuild each of the other genes, by module?

r2 = pd.Series(selector.selection_.reconstruction().r2, index=expression.columns)
by_module = r2.drop(panel).groupby(lambda name: name.split("_")[0]).median()
print(by_module.round(2))

figure, ax = plt.subplots(figsize=(6, 3))
by_module.plot.bar(ax=ax, color="#0072B2")
ax.set(
    ylabel="median R² of the genes left out",
    xlabel="module",
    title="How well eight genes predict the others",
)
figure.tight_layout()
