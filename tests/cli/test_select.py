"""`landmarks select` on files: right answers, and a message and exit code for every usage error."""

import csv
import json
import os
import re

import numpy as np
import pytest

import landmarks as lm

from .program import called as run
from .program import in_terminal

RNG = np.random.default_rng(0)
X = RNG.standard_normal((30, 3)) @ RNG.standard_normal((3, 8)) + 0.1 * RNG.standard_normal((30, 8))
NAMES = [f"gene {j}" for j in range(8)]


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "\n".join([",".join(NAMES), *(",".join(map(repr, map(float, row))) for row in X)])
    )
    return path


def record(capsys, *arguments):
    code, out, _ = run(capsys, *arguments, "--json")
    assert code == 0
    return json.loads(out)


def test_it_chooses_what_the_library_chooses(file, capsys):
    assert record(capsys, "select", file, "--k", 3)["indices"] == lm.select(X, 3).indices.tolist()


def test_standardizing_is_what_the_estimator_does(file, capsys):
    found = record(capsys, "select", file, "--k", 3, "--standardize")
    estimator = lm.ColumnSelector(3, center=True, scale=True, random_state=0).fit(X)
    assert found["indices"] == estimator.selection_.indices.tolist()
    assert found["kept"]["chosen"] == pytest.approx(
        1 - estimator.selection_.relative_error(), rel=1e-9
    )


def test_error_finds_the_fewest_that_reach_it(file, capsys):
    found = record(capsys, "select", file, "--error", 0.05)
    assert found["indices"] == lm.select(X, "auto", error=0.05).indices.tolist()
    assert found["relative_error"] <= 0.05 < lm.select(X, found["k"] - 1).relative_error()


def test_auto_chooses_k_at_the_knee(file, capsys):
    assert (
        record(capsys, "select", file, "--k", "auto", "--method", "greedy")["k"]
        == lm.select(X, "auto", method="greedy").k
    )


def test_names_and_numbers_say_what_is_included_excluded_and_dropped(file, capsys):
    asked = ("--include", "gene 7,0", "--exclude", "gene 1", "--drop", "gene 2")
    found = record(capsys, "select", file, "--k", 3, *asked)
    assert {"gene 7", "gene 0"} <= set(found["names"])
    assert not {"gene 1", "gene 2"} & set(found["names"])


def test_a_kernel_makes_rows_the_candidates(file, capsys):
    asked = "--k 4 --kernel rbf --sigma 2 --method greedy --criterion frobenius"
    found = record(capsys, "select", file, *asked.split())
    expected = lm.select(lm.kernel(X, lm.rbf(sigma=2.0)), 4, method="greedy", criterion="frobenius")
    assert found["indices"] == expected.indices.tolist()
    assert found["data"]["candidates"] == "row"


def test_the_report_on_a_frobenius_choice_says_what_is_kept(file, tmp_path, capsys):
    asked = ("--criterion", "frobenius", "--report", tmp_path / "p.html")
    record(capsys, "select", file, "--k", 2, *asked)
    assert "squared norm of the kernel matrix" in (tmp_path / "p.html").read_text()


@pytest.mark.parametrize("kernel", ["laplacian", "matern", "polynomial", "linear"])
def test_every_kernel_runs_with_a_width_of_its_own(file, capsys, kernel):
    asked = f"--k 2 --kernel {kernel} --standardize --method greedy"
    assert record(capsys, "select", file, *asked.split())["k"] == 2


def test_the_chosen_columns_are_written_with_their_own_numbers(file, tmp_path, capsys):
    out = tmp_path / "chosen.csv"
    found = record(capsys, "select", file, "--k", 3, "--standardize", "--out", out)
    with out.open(newline="") as opened:
        header, *rows = csv.reader(opened)
    assert header == found["names"]
    np.testing.assert_array_equal(np.array(rows, dtype=float), X[:, found["indices"]])


def test_parquet_npz_and_json_hold_the_same_choice(file, tmp_path, capsys):
    parquet = pytest.importorskip("pyarrow.parquet", reason="needs pyarrow")
    outs = [tmp_path / f"chosen.{ending}" for ending in ("parquet", "npz", "json")]
    codes = [run(capsys, "select", file, "--k", 3, "--out", out)[0] for out in outs]
    assert codes == [0, 0, 0]
    indices = lm.load(outs[1]).indices.tolist()
    assert json.loads(outs[2].read_text())["indices"] == indices
    assert parquet.read_table(outs[0]).column_names == [NAMES[j] for j in indices]


def test_nothing_is_left_next_to_the_output(file, tmp_path, capsys):
    run(capsys, "select", file, "--k", 2, "--out", tmp_path / "chosen.csv")
    assert sorted(os.listdir(tmp_path)) == ["chosen.csv", "table.csv"]


@pytest.mark.parametrize("out", ["missing/chosen.csv", "."])
def test_an_output_that_cannot_be_written_is_reported_before_the_work(file, tmp_path, capsys, out):
    code, _, err = run(capsys, "select", file, "--k", 2, "--out", tmp_path / out)
    assert code == 4
    assert "does not exist; make it first" in err or "is a folder" in err


FAULTS = {
    "missing": ("nothing.csv", None, "there is no file .*nothing.csv"),
    "folder": (".", None, "is a folder"),
    "garbage": ("x.csv", bytes(range(256)) * 9, "line 1 holds a zero byte"),
    "empty": ("x.csv", b"", "empty"),
    "header only": ("x.csv", b"a,b\n", "header on line 1 and no rows"),
    "ragged": ("x.csv", b"a,b\n1,2\n3\n", "line 3, column 2"),
    "text": ("x.csv", b"a,b\n1,2\n3,red\n", "'b' \\(line 3: 'red'\\); leave them out"),
    "NaN": (
        "x.csv",
        b"a,b\n1,2\n3,NaN\n",
        "line 3, column 'b': the value is missing \\(NaN; 1 in all\\); .*--missing drop",
    ),
    "gap": ("x.csv", b"a;b\r\n1;2\r\n;4\r\n", "line 3, column 'a': the value is missing"),
    "infinity": ("x.csv", b"a,b\n1,inf\n3,4\n", "line 2, column 'b': the value is infinite"),
    "zero byte in name": ("a\0b", None, "there is no file"),
    "too large": ("x.csv", b"a,b\n" + b"1,2\n" * 1000, "more than the limit"),
    "pickle": ("x.npy", b"\x80\x04\x95\x0f\x00\x00\x00", "header cannot be read"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_fault_58_bad_data_end_with_3_and_are_reported_by_their_place(tmp_path, capsys, fault):
    name, content, message = FAULTS[fault]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    limit = "2k" if fault == "too large" else "1M"
    code, out, err = run(capsys, "select", tmp_path / name, "--k", 1, "--max-bytes", limit)
    assert (code, out) == (3, "")
    assert re.search(message, err), err
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--k", 99], "k must be between 1 and n = 8, got 99"),
        (["--k", 0], "k must be between 1 and n = 8, got 0"),
        (
            ["--k", "many"],
            "k must be an integer between 1 and n = 8, got 'many'; it may also be a share",
        ),
        ([], "say how many to choose: -k 10"),
        (["--k", 2, "--error", 0.1], "not allowed with argument"),
        (["--error", 7], "error must be a number from 0 to below 1"),
        (["--k", 2, "--method", "magic"], "method must be one of auto"),
        (["--k", 2, "--include", "gene 99"], "there is no column 'gene 99'"),
        (["--k", 2, "--drop", "gene 99"], "there is no column 'gene 99'"),
        (["--k", 2, "--include", "0", "--exclude", "0"], "both included and excluded"),
        (["--k", 2, "--out", "x.xlsx"], "one of .csv, .tsv, .parquet, .json, .npz"),
        (["--k", 2, "--report", "x.pdf"], "--report must end in one of .html, .htm"),
        (["--k", 2, "--seed", -1], "seed must be a whole number"),
        (["--k", 2, "--budget", -1], "budget must be a positive number"),
        (["--k", 2, "--max-bytes", "lots"], "a size is a positive number of bytes"),
        (["--k", 2, "--delimiter", "ab"], "a delimiter is one character"),
        (["--k", 2, "--kernel", "rbf", "--sigma", "-1"], "sigma must be a positive number"),
        (["--k", 2, "--kernel", "rbf", "--missing", "pairwise"], "use --missing impute"),
        (["--k", 2, "--image", "8"], "written as in 8x8"),
        (["--k", 2, "--alternatives", "some"], "a share is written as 1% or 0.01"),
        (["--k", 2, "--image", "3x3"], "images of 3 x 3 have 9 pixels, the data have 8 columns"),
        (["--k", 2, "--out", "same.html", "--report", "same.html"], "need different files"),
    ],
)
def test_wrong_use_ends_with_2_and_a_sentence(file, capsys, arguments, message):
    code, out, err = run(capsys, "select", file, *arguments)
    assert (code, out) == (2, "")
    assert message in err


def test_all_choices_that_are_about_as_good_are_listed(file, capsys, tmp_path):
    s = lm.select(X, 3)
    known = s.alternatives(within=0.3)
    asked = ["select", file, "--k", 3, "--alternatives", "30%"]
    found = record(capsys, *asked)["alternatives"]
    assert [row["indices"] for row in found["choices"]] == known.choices.tolist()
    assert (found["within"], found["complete"], len(known) > 1) == (0.3, True, True)
    _, out, _ = run(capsys, *asked)
    assert len(out.split("\n\nerror\tabove\tchoice\n")[1].splitlines()) == len(known)
    pytest.importorskip("jinja2", reason="needs Jinja2")
    run(capsys, *asked, "--report", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"{len(known)} choices of 3 are within 30% of the best" in html


def test_alternatives_that_cannot_be_compared_are_a_sentence(tmp_path, capsys, monkeypatch):
    np.save(tmp_path / "x.npy", RNG.standard_normal((60, 90)))
    quick = {"at_most": 9, "budget": 0.01, "callback": None}
    monkeypatch.setattr(lm.Selection.alternatives, "__kwdefaults__", quick)
    code, _, err = run(capsys, "select", tmp_path / "x.npy", "--k", 12, "--alternatives", 0.1)
    assert code == 2 and "could not all be compared" in err


def test_a_rank_that_is_too_small_is_a_note(tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.ones((4, 3)))
    code, _, err = run(capsys, "select", tmp_path / "x.npy", "--k", 2)
    assert code == 0
    assert err.count("numerical rank 1 < k = 2") == 1


def test_the_report_agrees_and_names_the_command_that_makes_it(file, tmp_path, capsys):
    pytest.importorskip("jinja2", reason="needs Jinja2")
    found = record(capsys, "select", file, "--k", 3, "--center", "--report", tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert f"<em>{100 * found['kept']['chosen']:.1f}%</em> of the variance" in html
    assert f"landmarks select {file} --k 3 --center --report" in html
    assert found["data"]["fingerprint"] in html
    assert all(name in html for name in found["names"])


def test_a_log_determinant_is_chosen_printed_and_written(file, tmp_path, capsys):
    """It has no shares: they are empty or null, and other choices are compared in nats."""
    asked = ("select", file, "--k", 4, "--criterion", "logdet", "--noise", 0.5, "-q")
    expected = lm.select(X, 4, criterion="logdet", noise=0.5)
    value = -expected.error()
    printed = record(capsys, *asked, "--alternatives", 0.1)
    assert printed["indices"] == expected.indices.tolist()
    assert printed["error"] == pytest.approx(-value) and printed["proved"]
    shares = ("relative_error", "kept", "kept_together", "factor")
    assert [printed[name] for name in shares] == [None] * 4
    above = [choice["above"] for choice in printed["alternatives"]["choices"]]
    assert above[0] == 0 and all(0 <= nats <= 0.1 for nats in above)
    _, piped, _ = run(capsys, *asked)
    first = expected.indices[0]
    assert piped.splitlines()[1] == f"1\t{first}\t{NAMES[first]}\t"
    page, out = tmp_path / "page.html", tmp_path / "run.npz"
    code, shown = in_terminal(*asked, "--alternatives", 0.1, "--report", page, "--out", out)
    sentence = f"4 of 8 columns of table.csv have the log determinant {value:.6g}"
    assert code == 0 and sentence in shown and "0.1 nats" in shown
    assert "log determinant" in page.read_text()
    assert lm.load(out).error() == pytest.approx(-value)
    plain = re.sub(r"\033\[[0-9;]*m", "", shown)
    listed = [f"  {place}  {NAMES[j]}" for place, j in enumerate(expected.indices, 1)]
    below = plain[plain.index(sentence) :].splitlines()[1:]
    assert below[:8] == ["", "     column", *listed, "", "  This is the best choice of 4."]
