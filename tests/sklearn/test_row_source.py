"""ColumnSelector on rows read in blocks: the same as on the array, without a copy of it."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.dataset as ds
import pytest

import landmarks as lm

rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 8)) @ rng.standard_normal((8, 8)) + 5.0
weights = rng.random(3000)


def mapped(A: np.ndarray, folder) -> np.ndarray:
    np.save(folder / "X.npy", A)
    return np.load(folder / "X.npy", mmap_mode="r")


@pytest.mark.parametrize(
    "settings",
    [
        {"center": True},
        {"center": True, "scale": True},
        {"center": False, "scale": False},
        {"center": False, "scale": True},
    ],
)
@pytest.mark.parametrize("w", [None, weights])
def test_a_memory_map_gives_what_the_array_gives(settings, w, tmp_path):
    selector = lm.ColumnSelector(3, method="greedy", **settings)
    expected = lm.ColumnSelector(3, method="greedy", **settings).fit(X, sample_weight=w)
    selector.fit(mapped(X, tmp_path), sample_weight=w)
    np.testing.assert_array_equal(selector.indices_, expected.indices_)
    for name in ("mean_", "scale_", "coefficients_", "scores_", "reconstruction_error_"):
        np.testing.assert_allclose(
            getattr(selector, name), getattr(expected, name), rtol=1e-9, atol=1e-12
        )


@pytest.mark.parametrize("missing", ["impute", "pairwise"])
def test_missing_values_are_treated_as_in_memory(missing, tmp_path):
    A = np.where(rng.random(X.shape) < 0.1, np.nan, X)
    selector = lm.ColumnSelector(3, method="greedy", missing=missing, center=True).fit(
        mapped(A, tmp_path)
    )
    expected = lm.ColumnSelector(3, method="greedy", missing=missing, center=True).fit(A)
    np.testing.assert_array_equal(selector.indices_, expected.indices_)
    np.testing.assert_allclose(selector.mean_, expected.mean_, rtol=1e-10)


def test_the_memory_map_is_neither_kept_as_a_copy_nor_written_to(tmp_path):
    A = mapped(X, tmp_path)
    selector = lm.ColumnSelector(3, center=True).fit(A)
    assert selector.selection_.operator.m is None
    assert selector.transform(A).shape == (3000, 3)
    assert selector.score(A) == pytest.approx(lm.ColumnSelector(3, center=True).fit(X).score(X))


def test_names_come_from_an_arrow_dataset():
    table = pa.table({f"c{j}": X[:, j] for j in range(8)})
    selector = lm.ColumnSelector(3, include=["c7"], center=True).fit(ds.dataset(table))
    assert "c7" in selector.get_feature_names_out()


def test_weights_of_an_iterator_are_refused():
    with pytest.raises(ValueError, match="sample_weight needs to know the number of rows"):
        lm.ColumnSelector(3, center=True).fit(iter([X]), sample_weight=weights)


def test_one_row_cannot_be_centred(tmp_path):
    with pytest.raises(ValueError, match="Found array with 1 sample"):
        lm.ColumnSelector(3, center=True).fit(mapped(X[:1], tmp_path))
