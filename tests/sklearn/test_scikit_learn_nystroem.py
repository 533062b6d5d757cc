"""scikit-learn's own tests of Nystroem, with ours in its place."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from libraries import LIBRARIES, library
from sklearn import config_context

import landmarks as lm

ROOT = Path(__file__).parent.parent.parent
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5))


@pytest.mark.slow
def test_all_pass_but_the_one_that_counts_kernel_calls():
    pytest.importorskip("array_api_strict", reason="needs array-api-strict")
    run = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "sklearn_nystroem")],
        capture_output=True,
        text=True,
        check=False,
        env={"PYTHONPATH": str(ROOT / "src"), "PATH": "", "OMP_NUM_THREADS": "1"},
    )
    if run.returncode == 2 and "without its tests" in run.stdout:
        pytest.skip("scikit-learn was installed without its tests")
    assert run.returncode == 0, run.stdout
    assert int(re.search(r"(\d+) passed", run.stdout)[1]) > 30
    assert "1 xfailed" in run.stdout and "test_nystroem_callable" in run.stdout


@pytest.mark.parametrize("name", [name for name in LIBRARIES if name != "numpy"])
@pytest.mark.parametrize("selection", ["auto", "greedy", "uniform"])
@pytest.mark.parametrize("kernel", ["rbf", "chi2"])
def test_every_library_gives_the_landmarks_and_features_of_numpy(name, selection, kernel):
    xp = library(name)
    points, y = np.abs(X), (X[:, 0] > 0).astype(np.int64)
    options = {"kernel": kernel, "n_components": 6, "selection": selection, "random_state": 0}
    expected = lm.Nystroem(**options).fit(points, y)
    try:
        context = config_context(array_api_dispatch=True)
        with context:
            found = lm.Nystroem(**options).fit(xp.asarray(points), xp.asarray(y))
            features = found.transform(xp.asarray(points))
    except (ImportError, RuntimeError) as error:
        pytest.skip(f"array_api_dispatch is not available: {error}")
    assert isinstance(features, type(xp.asarray(points)))
    chosen = [int(j) for j in found.component_indices_]
    assert chosen == expected.component_indices_.tolist()
    # the features differ by rounding of two kernels and two singular value decompositions
    np.testing.assert_allclose(np.asarray(features), expected.transform(points), atol=1e-9)
