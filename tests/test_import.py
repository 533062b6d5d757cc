"""What `import landmarks` brings in, each seen from a fresh interpreter."""

import subprocess
import sys
from pathlib import Path

import pytest

import landmarks as lm

SOURCES = str(Path(__file__).parent.parent / "src")
HEAVY = (
    "torch",
    "sklearn",
    "matplotlib",
    "dask",
    "distributed",
    "pandas",
    "pyarrow",
    "h5py",
    "zarr",
    "plotly",
    "jinja2",
    "triton",
)


def fresh(program: str) -> str:
    """What a fresh interpreter prints."""
    program = f"import sys; sys.path.insert(0, {SOURCES!r}); {program}"
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    ).stdout


def test_import_brings_in_nothing_heavy_or_optional():
    assert (
        fresh(f"import landmarks; print([name for name in {HEAVY} if name in sys.modules])").strip()
        == "[]"
    )


def test_import_prints_nothing():
    assert fresh("import landmarks") == ""


def test_help_brings_in_nothing_heavy_or_optional():
    program = (
        "from landmarks.cli.main import parser; parser().format_help(); "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert fresh(program).strip() == "[]"


def test_a_selection_on_numpy_arrays_needs_no_optional_library():
    program = (
        "import numpy, landmarks; landmarks.select(numpy.eye(4), 2, method='greedy').factor();"
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    assert fresh(program).strip() == "[]"


def test_global_random_state_is_left_alone():
    program = (
        "import numpy; before = numpy.random.get_state()[1].tobytes(); import landmarks;"
        "landmarks.select(numpy.eye(4), 2, method='uniform'); print(before == "
        "numpy.random.get_state()[1].tobytes())"
    )
    assert fresh(program).strip() == "True"


def test_public_names_exist_and_are_listed_once():
    assert all(hasattr(lm, public) for public in lm.__all__)
    assert len(set(lm.__all__)) == len(lm.__all__)


def test_dir_lists_public_names_only():
    assert set(dir(lm)) == {*lm.__all__, "__version__"}


def test_a_typing_mistake_is_answered_with_what_was_meant():
    with pytest.raises(AttributeError, match="did you mean 'select'"):
        lm.selct
    with pytest.raises(AttributeError, match=r"dir\(landmarks\) lists"):
        lm.qqqq


def test_the_package_says_that_it_is_typed():
    from importlib.resources import files

    assert files("landmarks").joinpath("py.typed").is_file()
