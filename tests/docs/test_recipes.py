"""Every recipe runs as it is written."""

import doctest
import shutil
from pathlib import Path

import pytest

pytestmark = pytest.mark.thorough

RECIPES = Path(__file__).parents[2] / "docs" / "recipes"
NEEDS = {
    "scikit_learn": ["pandas"],
    "anndata": ["anndata"],
    "arrow": ["duckdb", "polars", "pyarrow", "pandas", "dask"],
    "botorch": ["torch", "botorch"],
    "designs": ["pandas"],
    "gpytorch": ["torch", "gpytorch"],
    "gene_panels": ["scanpy"],
    "isdf": ["pyscf"],
    "pysensors": ["pysensors"],
    "ray": ["ray", "dask"],
    "spark": ["pyspark"],
    "sensors": ["matplotlib", "jinja2"],
}
SLOW = {"gpytorch", "botorch"}


def test_every_recipe_is_run():
    assert {path.stem for path in RECIPES.glob("*.md")} == set(NEEDS)


@pytest.mark.filterwarnings("ignore")  # those of the neighbours about their own dependencies
@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=pytest.mark.slow) if n in SLOW else n for n in NEEDS]
)
def test_the_recipe_runs(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # a recipe may write files
    for library in NEEDS[name]:
        pytest.importorskip(library, reason=f"the recipe needs {library}")
    if name == "spark" and shutil.which("java") is None:
        pytest.skip("Spark needs java")
    failed, tried = doctest.testfile(
        str(RECIPES / f"{name}.md"), module_relative=False, optionflags=doctest.ELLIPSIS
    )
    assert tried > 0 and failed == 0
