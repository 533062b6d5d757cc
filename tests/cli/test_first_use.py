"""What a first user types: short options, identifiers, targets, text columns, typing mistakes."""

import csv
import json

import numpy as np
import pytest

from landmarks.cli.main import COMMANDS, parser

from .program import called as run

RNG = np.random.default_rng(0)
X = RNG.standard_normal((12, 4)) @ RNG.standard_normal((4, 5))
HEADER = "name,id,a,b,c,d,e,city,grade"


@pytest.fixture
def table(tmp_path):
    """A table with names and cities in text, identifiers, a class and five measurements."""
    rows = [HEADER]
    for i, numbers in enumerate(X):
        cells = [f"row {i}", str(100 + 7 * i), *map(str, numbers), "Rome", "ab"[i % 2]]
        rows.append(",".join(cells))
    path = tmp_path / "my.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


def written(path):
    with path.open(newline="") as file:
        return list(csv.reader(file))


def test_numeric_only_leaves_them_out_and_identifiers_are_noticed(table, capsys):
    code, out, err = run(capsys, "select", table, "-k", 2, "--numeric-only", "--no-scale")
    assert code == 0 and len(out.splitlines()) == 3
    assert "numeric_only leaves out 3 of 9 columns" in err
    assert "column 'id' seems to identify the rows; --id id keeps it" in err


def test_the_numbers_of_columns_are_those_of_the_file(table, capsys):
    options = ("--drop", "name,city,grade,id", "--json")
    _, out, _ = run(capsys, "select", table, "-k", 5, *options)
    record = json.loads(out)
    names = HEADER.split(",")
    assert [names[j] for j in record["indices"]] == record["names"]
    assert sorted(record["indices"]) == [2, 3, 4, 5, 6]
    _, out, _ = run(capsys, "select", table, "-k", 1, *options, "--include", "4")
    assert json.loads(out)["names"] == ["c"]
    code, _, err = run(capsys, "select", table, "-k", 1, *options, "--include", "1")
    assert code == 2 and "there is no column '1' among 5" in err


def test_an_identifier_is_kept_written_and_never_chosen(table, tmp_path, capsys):
    out = tmp_path / "chosen.csv"
    options = ("--id", "name", "--target", "grade", "--drop", "id,city")
    assert run(capsys, "select", table, "-k", 5, *options, "-o", out, "-q")[0] == 0
    head, *rows = written(out)
    assert head[:2] == ["name", "grade"] and sorted(head[2:]) == list("abcde")
    assert [row[0] for row in rows] == [f"row {i}" for i in range(12)]
    assert [row[1] for row in rows] == ["a", "b"] * 6


@pytest.mark.parametrize("options", [["--rows"], ["--kernel", "rbf", "--method", "greedy"]])
def test_rows_as_candidates_keep_their_identifier(table, tmp_path, capsys, options):
    out = tmp_path / "chosen.csv"
    common = ("--id", "name", "--drop", "id,city,grade", "-o", out)
    code, printed, _ = run(capsys, "select", table, "-k", 3, *common, *options)
    assert code == 0
    names = [line.split("\t")[2] for line in printed.splitlines()[1:]]
    assert all(name.startswith("row ") for name in names)
    assert [row[0] for row in written(out)[1:]] == names


def test_rows_are_the_columns_of_the_transposed_table(table, capsys):
    import landmarks as lm

    options = ("--columns", "a,b,c,d,e", "--rows", "--json")
    _, out, _ = run(capsys, "select", table, "-k", 3, *options)
    assert json.loads(out)["indices"] == lm.select(lm.data(X.T), 3).indices.tolist()


def test_a_supervised_choice_uses_the_target(table, capsys):
    options = ("--target", "grade", "--drop", "id,city,name", "--method", "supervised")
    code, out, _ = run(capsys, "select", table, "-k", 3, *options, "--kernel", "rbf", "--json")
    assert code == 0 and "Supervised" in json.loads(out)["method"]
    code, _, err = run(capsys, "select", table, "-k", 3, *options)
    assert code == 2 and "give --target COLUMN, and --rows or --kernel" in err


def test_columns_that_count_the_rows_are_noticed(tmp_path, capsys):
    path = tmp_path / "counted.csv"
    path.write_text("patient,x\n" + "".join(f"{i},{v}\n" for i, v in enumerate([5, 7, 6, 9])))
    assert "column 'patient' only counts the rows" in run(capsys, "select", path, "-k", 1)[2]
    values = [5, 7, 6, 9, 4, 8, 2, 3, 1, 0]
    path.write_text("patient,x\n" + "".join(f"{1000 + i},{v}\n" for i, v in enumerate(values)))
    assert "column 'patient' rises by one" in run(capsys, "select", path, "-k", 1)[2]


def test_columns_without_numbers_are_counted_among_those_of_the_file(tmp_path, capsys):
    path = tmp_path / "mixed.csv"
    path.write_text("who,a,b,kind,y\n" + "".join(f"n{i},{i * i},{-i},red,{i}\n" for i in range(5)))
    options = ("-k", 1, "--id", "who", "--target", "y", "--numeric-only")
    assert "leaves out 1 of 5 columns: 'kind'" in run(capsys, "select", path, *options)[2]


@pytest.mark.parametrize(
    ("arguments", "meant"),
    [
        (["selct"], "did you mean 'select'?"),
        (["select", "x.csv", "-k", "2", "--standardise"], "did you mean '--standardize'"),
        (["select", "x.csv", "-k", "2", "--criterion", "trce"], "did you mean 'trace'"),
        (["select", "FILE", "-k", "2", "--method", "gredy"], "did you mean 'greedy'"),
        (["compare", "FILE", "-k", "2", "--methods", "gredy"], "did you mean 'greedy'"),
        (["select", "FILE", "-k", "2", "--include", "aa1"], "did you mean 'aa'"),
        (["select", "FILE", "-k", "2", "--drop", "bbb1"], "did you mean 'bbb'"),
        (["select", "FILE"], "say how many to choose: -k 10"),
    ],
)
def test_a_typing_mistake_is_answered_with_what_was_meant(tmp_path, capsys, arguments, meant):
    path = tmp_path / "x.csv"
    path.write_text("aa,bbb,c\n1,2,4\n3,4,8\n5,6,1\n")
    given = [str(path) if word == "FILE" else word for word in arguments]
    code, _, err = run(capsys, *given)
    assert code == 2 and meant in err


def test_a_share_and_short_options_are_accepted(table, capsys):
    options = ("--columns", "a,b,c,d,e", "-q", "--json")
    _, out, _ = run(capsys, "select", table, "-k", 0.4, *options)
    assert json.loads(out)["k"] == 2


@pytest.mark.parametrize("command", COMMANDS)
def test_every_help_text_ends_with_examples_that_parse(command, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args([command, "--help"])
    shown = capsys.readouterr().out
    lines = [line.split(">")[0].split()[1:] for line in shown.splitlines()]
    examples = [words for words in lines if words and words[0] == command]
    examples = [words for words in examples if "[-h]" not in words]
    assert "example" in shown and examples
    for words in examples:
        assert parser().parse_args(words).command == command


def test_a_saved_selection_knows_what_was_done_to_the_columns(table, tmp_path, capsys):
    import landmarks as lm

    pytest.importorskip("pandas", reason="needs pandas")
    out = tmp_path / "run.npz"
    options = ("--columns", "a,b,c,d,e", "--standardize", "-o", out)
    assert run(capsys, "select", table, "-k", 3, *options)[0] == 0
    back = lm.load(out, data=X)
    back.known.clear()
    expected = lm.select(X, 3, center=True, scale=True)
    assert (back.center, back.scale) == (True, True)
    assert back.error() == pytest.approx(expected.error(), rel=1e-9)  # two ways to standardise
