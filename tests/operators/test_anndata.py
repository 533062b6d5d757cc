"""AnnData objects, real ones and those that look like them."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.operators.data import as_operator
from landmarks.operators.sparse import Sparse

X = np.random.default_rng(0).poisson(1.0, (40, 6)).astype(np.float32)
GENES = [f"gene{j}" for j in range(6)]


def lookalike(matrix):
    return SimpleNamespace(X=matrix, var_names=GENES, obs_names=list(range(40)))


def test_names_of_chosen_columns_are_genes():
    s = lm.select(lookalike(X), 2, method="greedy", scale=False)
    assert s.chosen_names == [
        GENES[j] for j in lm.select(X, 2, method="greedy", scale=False).indices
    ]


def test_it_is_an_operator_like_any_other_data():
    cells, plain = (lm.Problem(as_operator(A), 2).operator for A in (lookalike(X), X))
    np.testing.assert_array_equal(cells.columns([3]), plain.columns([3]))
    assert list(cells.names) == GENES


def test_a_sparse_matrix_of_cells_stays_sparse():
    s = lm.select(
        lookalike(scipy.sparse.csr_matrix(X)), 2, method="greedy", include=["gene3"], scale=False
    )
    assert isinstance(s.operator, Sparse) and s.chosen_names[0] == "gene3"


def test_an_object_without_x_is_reported():
    with pytest.raises(ValueError, match="has no X; choose a layer"):
        lm.select(lookalike(None), 2)


@pytest.mark.filterwarnings("ignore")  # of anndata about its own dependencies
@pytest.mark.parametrize("store", [np.asarray, scipy.sparse.csr_matrix], ids=["dense", "sparse"])
def test_a_real_anndata_object_gives_the_same(store):
    anndata = pytest.importorskip("anndata", reason="anndata is not installed")
    cells = anndata.AnnData(store(X))
    cells.var_names = GENES
    assert (
        lm.select(cells, 2, method="greedy").chosen_names
        == lm.select(lookalike(X), 2, method="greedy").chosen_names
    )
    half = cells[:, 3:]
    assert set(lm.select(half, 2, method="greedy").chosen_names) <= set(GENES[3:])
