"""Arrays and points that tests cut into chunks."""

import numpy as np
import pytest

dask = pytest.importorskip("dask", reason="needs dask")
da = pytest.importorskip("dask.array", reason="needs dask")
RNG = np.random.default_rng(0)
TALL = RNG.standard_normal((6000, 12)) @ RNG.standard_normal((12, 20))
WIDE = RNG.standard_normal((9, 3000))
POINTS = RNG.standard_normal((2500, 3))
each_scheduler = pytest.mark.parametrize("scheduler", ["synchronous", "threads"], indirect=True)
