"""Centred and scaled columns of dask arrays."""

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import ConstantWarning
from landmarks.operators.dask import wide
from landmarks.operators.forms import densify

from .arrays import da

pytestmark = pytest.mark.thorough


class TestCentredAndScaledColumns:
    """Against the same columns in memory; rounding is relative to the spread, not to the mean."""

    rng = np.random.default_rng(5)
    tall = 1e4 + rng.standard_normal((5000, 6)) @ rng.standard_normal((6, 6))
    wide = -3.0 + rng.standard_normal((30, 70)) * np.arange(1, 71)

    @pytest.mark.parametrize("settings", [(True, False), (False, True), (True, True)])
    @pytest.mark.parametrize("name", ["tall", "wide"])
    @pytest.mark.parametrize("size", [1.0, 1e200, 1e-200])
    def test_the_gram_matrix_is_that_of_the_array_in_memory(self, settings, name, size):
        center, scale = settings
        X = getattr(self, name) * size
        found = lm.data(da.from_array(X, chunks=(700, 4)), center=center, scale=scale)
        expected = lm.data(X, center=center, scale=scale)
        K = np.ldexp(densify(found), found.exponent - expected.exponent)
        largest = np.abs(densify(expected)).max()
        # about 1e4 of mean to 1 of spread, squared, times the rounding of float64
        np.testing.assert_allclose(K, densify(expected), rtol=0, atol=1e-10 * largest)

    @pytest.mark.parametrize("name", ["tall", "wide"])
    def test_chunks_change_no_bit(self, name, monkeypatch):
        monkeypatch.setattr(wide, "TILE_ENTRIES", 600)  # several tiles
        X = getattr(self, name)
        made = [
            densify(lm.data(da.from_array(X, chunks=chunks), center=True, scale=True))
            for chunks in [(-1, -1), (13, 5), (2500, 3)]
        ]
        np.testing.assert_array_equal(made[0], made[1])
        np.testing.assert_array_equal(made[0], made[2])

    def test_a_constant_column_is_zero(self):
        X = self.tall.copy()
        X[:, 2] = 7.0
        with pytest.warns(ConstantWarning, match="column 2 holds one value only"):
            K = densify(lm.data(da.from_array(X, chunks=1000), center=True, scale=True))
        assert not K[2].any() and K[0, 0] == pytest.approx(len(X))

    def test_select_takes_center_and_scale(self):
        X = self.wide
        found = lm.select(da.from_array(X, chunks=(10, 20)), 4, center=True, scale=True)
        assert found.center and found.scale
        expected = lm.select(X, 4, center=True, scale=True)
        assert found.error() == pytest.approx(expected.error(), rel=1e-9)

    def test_missing_values_are_named_by_their_row(self):
        X = self.tall.copy()
        X[3000, 1] = np.nan
        with pytest.raises(ValueError, match=r"X contains NaN in rows .*first at row 3000, column"):
            lm.data(da.from_array(X, chunks=1000), center=True)
