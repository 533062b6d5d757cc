"""Faults 56 to 60: names in what is written, files from elsewhere, the network."""

import csv
import json
import sys
from dataclasses import dataclass

import numpy as np
import pytest

import landmarks as lm
from landmarks.cli.main import main

FORMULAS = ["=cmd|'/C calc'!A0", "+1", "-1", "@x", "plain"]


@dataclass(frozen=True)
class Ran:
    returncode: int
    stdout: bytes
    stderr: bytes


@pytest.fixture
def program(capfd):
    """Run the command in this process; tests/cli/test_program.py starts the program itself."""

    def run(*arguments):
        capfd.readouterr()
        code = main([str(argument) for argument in arguments])
        out, err = capfd.readouterr()
        return Ran(code, out.encode(), err.encode())

    return run


def table(path, names, rows=12):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(np.random.default_rng(0).standard_normal((rows, len(names))).tolist())
    return path


def test_fault_56_names_that_are_formulas_are_kept_with_a_warning_or_made_harmless(
    tmp_path, program
):
    file = table(tmp_path / "t.csv", FORMULAS)
    verbatim = program("select", file, "--k", 5, "--out", tmp_path / "v.csv")
    assert verbatim.returncode == 0
    assert b"--csv-safe" in verbatim.stderr
    with open(tmp_path / "v.csv", newline="") as written:
        assert set(next(csv.reader(written))) == set(FORMULAS)
    safe = program("select", file, "--k", 5, "--out", tmp_path / "s.csv", "--csv-safe")
    assert safe.returncode == 0
    with open(tmp_path / "s.csv", newline="") as written:
        assert set(next(csv.reader(written))) == {
            "'" + name if name != "plain" else name for name in FORMULAS
        }


HOSTILE = [
    "<script>alert(1)</script>",
    "../../x",
    "a" * 10_000,
    "same",
    "same",
    "",
    "\u202ertl",
    "\x1b[31mred",
    '"><img src=x>',
]


def test_fault_57_hostile_names_are_escaped_in_reports_and_stripped_on_screen(tmp_path, program):
    folder = tmp_path / "in"
    folder.mkdir()
    file = table(folder / "t.csv", HOSTILE)
    report = tmp_path / "page.html"
    run = program("select", file, "--k", 9, "--report", report)
    assert run.returncode == 0, run.stderr
    page = report.read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "<img src=x>" not in page
    assert b"\x1b[31mred" not in run.stdout
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in",
        "page.html",
    ]  # no name became a file


def test_fault_58_latin_1_is_read(tmp_path, program):
    (tmp_path / "t.csv").write_bytes("größe,b\n1,2\n3,4\n5,7\n".encode("latin-1"))
    run = program("select", tmp_path / "t.csv", "--k", 2, "--json")
    assert run.returncode == 0, run.stderr
    assert "größe" in json.dumps(json.loads(run.stdout), ensure_ascii=False)
    assert b"read as Latin-1" in run.stderr


def test_fault_58_an_output_that_exists_is_kept_without_force(tmp_path, program):
    file, out = table(tmp_path / "t.csv", "abc"), tmp_path / "out.csv"
    out.write_text("mine")
    assert program("select", file, "--k", 1, "--out", out).returncode == 4
    assert out.read_text() == "mine"
    assert program("select", file, "--k", 1, "--out", out, "--force").returncode == 0
    assert out.read_text() != "mine"


def test_fault_60_keops_compiles_nothing_unless_it_is_asked_for():
    assert lm.kernel(np.eye(3), lm.rbf(sigma=1.0)).engine == "chunked"
    assert "pykeops" not in sys.modules
