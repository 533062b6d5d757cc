"""A table is appended to row by row and survives being cut off."""

from dataclasses import replace

import pytest

from landmarks.experiments.table import ResultsFile, Row, read_rows

ROW = Row(
    "figure3",
    "wine",
    "",
    "greedy",
    "Greedy()",
    3,
    0,
    "trace",
    n=13,
    value=1.25,
    seconds=0.5,
    products=3,
    note='with "quotes", and\nlines',
)


def test_rows_come_back_as_they_were_written(tmp_path):
    table = ResultsFile(tmp_path / "t.csv")
    table.append([ROW, replace(ROW, seed=1, value=None, skip="no reason")])
    first, second = read_rows(tmp_path / "t.csv")
    assert (
        first == replace(ROW, note='with "quotes", and lines')
        and second.value is None
        and second.skip == "no reason"
    )


def test_a_line_that_was_cut_off_is_dropped_and_written_over(tmp_path):
    path = tmp_path / "t.csv"
    ResultsFile(path).append([ROW])
    whole = path.read_bytes()
    path.write_bytes(whole + b"figure3,wine,,gre")
    assert len(read_rows(path)) == 1
    ResultsFile(path).append([replace(ROW, seed=1)])
    assert [row.seed for row in read_rows(path)] == [0, 1] and path.read_bytes().startswith(whole)


def test_a_skipped_row_is_not_counted_as_done_and_gives_way_to_a_value(tmp_path):
    table = ResultsFile(tmp_path / "t.csv")
    skipped = replace(ROW, value=None, skip="needs a card")
    table.append([skipped])
    assert ROW not in table and table.news([skipped]) == [] and table.news([ROW]) == [ROW]
    table.append([ROW])
    assert ROW in ResultsFile(table.path) and len(read_rows(table.path)) == 1


def test_nothing_is_written_when_there_is_nothing_to_write(tmp_path):
    ResultsFile(tmp_path / "t.csv").append([])
    assert not (tmp_path / "t.csv").exists()


def test_another_file_is_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(
        ValueError, match=r"t.csv is not a table of this version: its columns are \['a', 'b'\]"
    ):
        ResultsFile(tmp_path / "t.csv")
