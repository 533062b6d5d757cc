"""Genes of an AnnData object that represent all genes, written where scanpy looks for them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._select import select
from ..operators.data import data
from ..readers.frames import ANNOTATED
from ..selection import Selection


def landmark_genes(
    adata: Any,
    k: Any,
    *,
    layer: str | None = None,
    key_added: str = "landmark",
    center: bool = True,
    scale: bool = False,
    missing: str = "error",
    **asked: Any,
) -> Selection:
    """Choose genes, and mark them in `adata.var` as `scanpy.pp.highly_variable_genes` does.

    `adata.var[key_added]` says which genes were chosen, `adata.var[key_added + "_rank"]` in which
    order, from 1, with NaN for the others. `adata.uns[key_added]` has the method and what is kept.

    Parameters
    ----------
    adata : the AnnData object; cells are rows, genes are the candidates.
    k : how many genes, as for `landmarks.select`.
    layer : the layer to use instead of `adata.X`.
    key_added : the name of the columns that are written.
    center, scale, missing : as for `landmarks.select`; a sparse matrix stays sparse.
    asked : other arguments of `landmarks.select`, such as method, include or costs.

    Returns
    -------
    Selection
        As from `landmarks.select`.

    Examples
    --------
    >>> import anndata
    >>> counts = np.random.default_rng(0).poisson(1.0, (100, 20)).astype(np.float32)
    >>> cells = anndata.AnnData(counts)
    >>> from landmarks.adapters.anndata import landmark_genes
    >>> s = landmark_genes(cells, 5)
    >>> int(cells.var["landmark"].sum()), cells[:, cells.var["landmark"]].shape
    (5, (100, 5))
    """
    if not all(hasattr(adata, name) for name in ANNOTATED):
        raise TypeError(f"adata must be an AnnData object, got {type(adata).__name__}")
    operator = data(adata, layer=layer, center=center, scale=scale, missing=missing)
    found = select(operator, k, **asked)
    chosen, rank = np.zeros(found.n, dtype=bool), np.full(found.n, np.nan)
    chosen[found.indices] = True
    rank[found.indices] = np.arange(1, found.k + 1)
    adata.var[key_added], adata.var[f"{key_added}_rank"] = chosen, rank
    parameters = {"layer": layer or "X", "center": center, "scale": scale, "method": found.method}
    kept = {} if not found.objective.shares else {"kept": 1 - found.relative_error()}
    adata.uns[key_added] = {"params": parameters} | kept
    return found
