"""Faults 56 to 60: names in what is written, files from elsewhere, the network."""

import csv
import json

import numpy as np
from cli.program import called

FORMULAS = ["=cmd|'/C calc'!A0", "+1", "-1", "@x", "plain"]


def table(path, names, rows=12):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(names)
        writer.writerows(np.random.default_rng(0).standard_normal((rows, len(names))).tolist())
    return path


def test_fault_56_names_that_are_formulas_are_kept_with_a_warning_or_made_harmless(
    tmp_path, capsys
):
    file = table(tmp_path / "t.csv", FORMULAS)
    code, _, said = called(capsys, "select", file, "--k", 5, "--out", tmp_path / "v.csv")
    assert code == 0 and "--csv-safe" in said
    with open(tmp_path / "v.csv", newline="") as written:
        assert set(next(csv.reader(written))) == set(FORMULAS)
    safe = tmp_path / "s.csv"
    assert called(capsys, "select", file, "--k", 5, "--out", safe, "--csv-safe")[0] == 0
    with open(safe, newline="") as written:
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


def test_fault_57_hostile_names_are_escaped_in_reports_and_stripped_on_screen(tmp_path, capsys):
    folder = tmp_path / "in"
    folder.mkdir()
    file = table(folder / "t.csv", HOSTILE)
    report = tmp_path / "page.html"
    code, shown, said = called(capsys, "select", file, "--k", 9, "--report", report)
    assert code == 0, said
    page = report.read_text(encoding="utf-8")
    assert "<script>alert(1)" not in page
    assert "<img src=x>" not in page
    assert "\x1b[31mred" not in shown
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "in",
        "page.html",
    ]  # no name became a file


def test_fault_58_latin_1_is_read(tmp_path, capsys):
    (tmp_path / "t.csv").write_bytes("größe,b\n1,2\n3,4\n5,7\n".encode("latin-1"))
    code, printed, said = called(capsys, "select", tmp_path / "t.csv", "--k", 2, "--json")
    assert code == 0 and "read as Latin-1" in said
    assert "größe" in json.dumps(json.loads(printed), ensure_ascii=False)


def test_fault_58_an_output_that_exists_is_kept_without_force(tmp_path, capsys):
    file, out = table(tmp_path / "t.csv", "abc"), tmp_path / "out.csv"
    out.write_text("mine")
    assert called(capsys, "select", file, "--k", 1, "--out", out)[0] == 4
    assert out.read_text() == "mine"
    assert called(capsys, "select", file, "--k", 1, "--out", out, "--force")[0] == 0
    assert out.read_text() != "mine"
