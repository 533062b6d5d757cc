"""AnnData objects, real ones and those that look like them."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import landmarks as lm
from landmarks.adapters.anndata import landmark_genes

X = np.random.default_rng(0).poisson(1.0, (40, 6)).astype(np.float32)
GENES = [f"gene{j}" for j in range(6)]


def lookalike(matrix):
    return SimpleNamespace(X=matrix, var_names=GENES, obs_names=list(range(40)))


def test_names_of_chosen_columns_are_genes():
    s = lm.select(lookalike(X), 2, method="greedy", scale=False)
    assert s.chosen_names == [
        GENES[j] for j in lm.select(X, 2, method="greedy", scale=False).indices
    ]


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


def layered():
    cells = lookalike(np.zeros((40, 6)))
    cells.layers = {"counts": scipy.sparse.csr_matrix(X), "scaled": X * 2}
    cells.var, cells.uns = {}, {}
    return cells


def test_a_layer_stands_for_x():
    s = lm.select(lm.data(layered(), layer="counts", scale=False), 2)
    assert s.chosen_names == lm.select(lookalike(X), 2, scale=False).chosen_names
    with pytest.raises(ValueError, match="no layer 'count'; the layers are 'counts', 'scaled'"):
        lm.data(layered(), layer="count")
    with pytest.raises(TypeError, match="a layer of an AnnData object, got ndarray"):
        lm.data(X, layer="counts")


@pytest.mark.parametrize("layer", ["counts", "scaled"])
def test_chosen_genes_are_marked_in_var(layer):
    cells = layered()
    s = landmark_genes(cells, 3, layer=layer, include=["gene2"])
    assert (
        s.chosen_names
        == lm.select(X, 3, center=True, include=[2]).transform(np.array([GENES]))[0].tolist()
    )
    assert np.flatnonzero(cells.var["landmark"]).tolist() == sorted(s.indices)
    assert cells.var["landmark_rank"][s.indices].tolist() == [1, 2, 3]
    assert np.isnan(cells.var["landmark_rank"]).sum() == 3
    assert cells.uns["landmark"]["kept"] == 1 - s.relative_error()
    assert cells.uns["landmark"]["params"]["layer"] == layer
    with pytest.raises(TypeError, match="must be an AnnData object, got ndarray"):
        landmark_genes(X, 3)


RARE = scipy.sparse.random(300, 40, 0.05, random_state=0, format="csr")
OFTEN = scipy.sparse.random(300, 40, 0.4, random_state=0, format="csr") @ scipy.sparse.diags(
    np.logspace(-4, 4, 40)
)


@pytest.mark.parametrize("counts", [RARE, OFTEN], ids=["rare", "often"])
@pytest.mark.parametrize("asked", [{"center": True}, {"center": True, "scale": True}])
def test_centred_counts_stay_sparse_and_choose_as_an_array_does(counts, asked):
    asked = {"scale": False} | asked
    sparse, dense = (lm.select(A, 5, **asked) for A in (counts, counts.toarray()))
    assert sparse.operator.m == 300
    assert sparse.indices.tolist() == dense.indices.tolist()
    assert sparse.error() == pytest.approx(dense.error(), rel=1e-9)
    assert repr(sparse) == repr(dense)  # columns, of which variance is kept
    K, exact = sparse.operator.columns(np.arange(40)), dense.operator.columns(np.arange(40))
    lengths = np.sqrt(np.diag(exact))
    np.testing.assert_allclose(
        K / lengths / lengths[:, None], exact / lengths / lengths[:, None], atol=1e-12
    )
    np.testing.assert_allclose(sparse.operator.diagonal(), np.diag(exact), rtol=1e-12)
    block = np.random.default_rng(0).standard_normal((3, 2))
    part = {"rows": np.array([4, 9]), "cols": np.array([7, 8, 9])}
    sparse.operator.__dict__["stored"] = None  # by products
    expected = exact[np.ix_(part["rows"], part["cols"])] @ block
    np.testing.assert_allclose(sparse.operator.matmul(block, **part), expected, rtol=1e-9)
    np.testing.assert_allclose(sparse.operator.columns([3, 5]), exact[:, [3, 5]], rtol=1e-7)


@pytest.mark.parametrize("center", [False, True])
def test_the_stability_of_counts_is_that_of_an_array(center):
    shares = [
        lm.select(A, 4, method="greedy", center=center, scale=False).stability(8).frequencies
        for A in (RARE, RARE.toarray())
    ]
    np.testing.assert_allclose(*shares)


@pytest.mark.parametrize("power", [-150, 150])
def test_extreme_counts_neither_overflow_nor_underflow(power):
    found = lm.select(RARE * 10.0**power, 4, center=True)
    plain = lm.select(RARE, 4, center=True)
    assert found.indices.tolist() == plain.indices.tolist()
    assert found.relative_error() == pytest.approx(plain.relative_error(), rel=1e-9)


def test_the_rows_of_counts_can_be_weighted_and_used_as_a_target():
    w = np.random.default_rng(0).random(300)
    fits = [
        lm.ColumnSelector(4, method="greedy", center=True).fit(A, sample_weight=w)
        for A in (RARE, RARE.toarray())
    ]
    assert fits[0].indices_.tolist() == fits[1].indices_.tolist()
    B = RARE.toarray()[:, :3]
    errors = [lm.select(A, 4, center=True, target=B).error() for A in (RARE, RARE.toarray())]
    assert errors[0] == pytest.approx(errors[1], rel=1e-9)
