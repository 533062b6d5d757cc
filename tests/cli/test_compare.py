"""`landmarks compare` and `landmarks info`: the tables, the plot and the JSON schemas."""

import json
import re
import shutil
import subprocess
import sys
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm
from landmarks.cli.main import CRITERIA, main
from landmarks.objectives import OBJECTIVES

from . import program

X = np.random.default_rng(0).standard_normal((30, 4)) @ np.random.default_rng(1).standard_normal(
    (4, 9)
)


@pytest.fixture
def file(tmp_path):
    np.save(tmp_path / "x.npy", X + 0.1 * np.random.default_rng(2).standard_normal(X.shape))
    return str(tmp_path / "x.npy")


def schema(command):
    """The JSON schema of what a command prints with --json."""
    return json.loads(files("landmarks.cli").joinpath(f"{command}.schema.json").read_text("utf-8"))


def printed(capsys, *arguments):
    assert main(list(arguments)) == 0
    return json.loads(capsys.readouterr().out)


@pytest.mark.parametrize(("ending", "k"), [("png", "3"), ("svg", "2,4"), ("pdf", "3")])
def test_the_plot_is_written(file, tmp_path, capsys, ending, k):
    pytest.importorskip("matplotlib", reason="needs matplotlib")
    out = tmp_path / f"plot.{ending}"
    assert main(["compare", file, "--k", k, "--methods", "greedy,swap", "--plot", str(out)]) == 0
    assert out.read_bytes()[:5] in (b"\x89PNG\r", b"<?xml", b"%PDF-")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", "2", "--methods", "magic"], "method must be one of auto"),
        (["--k", "99"], "k must be between 1 and n = 9, got 99"),
        (["--k", "2", "--plot", "x.gif"], "one of .png, .svg, .pdf"),
    ],
)
def test_wrong_use_is_refused(file, capsys, arguments, message):
    assert main(["compare", file, *arguments]) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["select", "--k", "3"],
        ["select", "--k", "9", "--criterion", "frobenius", "--method", "greedy"],
        ["select", "--k", "4", "--criterion", "logdet", "--alternatives", "0.1"],
        ["select", "--error", "0.1", "--kernel", "rbf", "--method", "greedy"],
        ["compare", "--k", "2,3", "--methods", "greedy,exact,uniform", "--include", "1"],
    ],
    ids=" ".join,
)
def test_json_is_as_the_schema_says(file, capsys, arguments):
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
    record = printed(capsys, arguments[0], file, *arguments[1:], "--json")
    jsonschema.Draft202012Validator.check_schema(schema(arguments[0]))
    jsonschema.validate(record, schema(arguments[0]), cls=jsonschema.Draft202012Validator)


def test_the_command_has_the_criteria_of_the_library():
    assert tuple(OBJECTIVES) == CRITERIA
    assert schema("select")["properties"]["criterion"]["enum"] == [*OBJECTIVES]


def test_a_comparison_by_what_has_no_shares_is_refused_in_the_words_of_the_library(file, capsys):
    assert main(["compare", file, "--k", "3", "--criterion", "logdet"]) == 2
    assert "a share of it means nothing" in capsys.readouterr().err


def test_info_prints_versions_devices_and_threads(capsys):
    assert main(["info"]) == 0
    shown = capsys.readouterr().out
    assert f"numpy              {np.__version__}" in shown and "devices " in shown


@pytest.mark.parametrize("library", ["swaps", "counting"])
@pytest.mark.parametrize(
    ("image", "answer"),
    [
        (None, "landmarks was installed without it.*install a compiler"),
        (b"not a library", "was not compiled from the C files.*install landmarks again"),
    ],
)
def test_info_says_why_there_is_no_compiled_search(tmp_path, library, image, answer):
    """In a copy of the package, one library of which is missing, or is not a library."""
    source, left_out = Path(lm.__file__).parent, shutil.ignore_patterns(f"{library}.so")
    copy = shutil.copytree(source, tmp_path / "landmarks", ignore=left_out)
    if image is not None:
        (path,) = copy.glob(f"**/{library}.c")
        path.with_suffix(".so").write_bytes(image)
    done = subprocess.run(
        [sys.executable, "-m", "landmarks", "info"],
        env=program.ENVIRONMENT | {"PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.search(rf"^compiled search  no: .*{answer}", done.stdout, re.M)
    assert done.stderr == ""
