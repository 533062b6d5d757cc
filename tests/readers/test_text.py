"""Text: what is found in it, and what is said about what is wrong."""

import gzip
import io

import numpy as np
import pytest

from landmarks.errors import FormatError, UnknownColumnError
from landmarks.readers.table import read


def table(text, **how):
    return read(io.BytesIO(text if isinstance(text, bytes) else text.encode()), **how)


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found(delimiter):
    found = table(f"a{delimiter}b\n1.5{delimiter}2\n3{delimiter}4\n")
    assert found.names == ("a", "b")
    assert found.values.tolist() == [[1.5, 2], [3, 4]]


def test_a_table_without_header_has_no_names():
    found = table("1,2\n3,4\n")
    assert found.names is None
    assert found.values.shape == (2, 2)


def test_a_header_of_numbers_is_one_when_that_is_said():
    assert table("2001,2002\n3,4\n", header=True).names == ("2001", "2002")


def test_a_decimal_comma_is_found_where_the_comma_does_not_divide():
    assert table("a;b\n1,5;2\n-0,25;1e3\n").values.tolist() == [[1.5, 2], [-0.25, 1000]]


@pytest.mark.parametrize(
    "text",
    [
        "\ufeffa,b\n1,2\n",
        "a,b\r\n1,2\r\n",
        "a,b\r1,2\r",
        "\n\na,b\n\n1,2\n\n",
        'a,"b"\n"1",2',
        " a , b \n 1 , 2 \n",
    ],
    ids=["byte order mark", "carriage returns", "old Macintosh", "empty lines", "quotes", "spaces"],
)
def test_what_programs_write_is_read(text):
    found = table(text)
    assert found.names == ("a", "b")
    assert found.values.tolist() == [[1, 2]]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be"])
def test_utf16_of_spreadsheets_is_read(encoding):
    text = "größe\tb\n" + 40 * "1\t2\n"
    assert table(text.encode(encoding)).names == ("größe", "b")


def test_a_quoted_line_break_is_part_of_a_name_and_lines_are_counted_with_it():
    found = table('"one\ntwo",b\n1,2\n3,x\n'.replace("x", "4"))
    assert found.names == ("one\ntwo", "b")
    assert found.lines.tolist() == [3, 4]


@pytest.mark.parametrize("word", ["", "NA", "nan", "NULL", "?", "n/a"])
def test_missing_values_are_nan(word):
    assert np.isnan(table(f"a,b\n1,{word}\n").values[0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,b\n1,2\n3\n", "line 3, column 2: the line has 1 cells, the header has 2"),
        ("a,b\n1,2\n3,4,5\n", "line 3, column 3: the line has 3 cells"),
        (
            "a,b\n1,2\n3,four\n",
            r"1 of 2 columns do not hold numbers: 'b' \(line 3: 'four'\); .*or with --drop 'b'",
        ),
        ("1,2\n3,x\n", r"column 1 \(line 2: 'x'\)"),
        ("a,b\n1_000,2\n", r"'a' \(line 2: '1_000'\)"),
        ("a;b\n1,5;2\n1.234,5;2\n", "'1.234,5' .line 3.; give --thousands '.'"),
        ("a,b\n", "a header on line 1 and no rows"),
        ("", "empty"),
        ("\n\n", "empty"),
        ('a,b\n1,"2\n', "line 2: .*check the quotes"),
        ("a,b\n1,2\n\0", "line 3 holds a zero byte"),
        (bytes(range(1, 32)) * 20, "control characters"),
    ],
)
def test_what_is_wrong_is_reported_with_line_and_column(text, message):
    with pytest.raises(FormatError, match=message):
        table(text)


def test_text_columns_may_be_left_out():
    found = table("id,a,b\nx1,1,2\nx2,3,4\n", drop=("id",))
    assert found.names == ("a", "b")
    assert table("id,a,b\nx1,1,2\n", columns=("b", "1")).names == ("b", "a")


@pytest.mark.parametrize("how", [{"columns": ("c",)}, {"drop": ("7",)}])
def test_an_unknown_column_is_reported_with_the_known_ones(how):
    with pytest.raises(
        UnknownColumnError, match="there is no column .* among 2; the names are 'a', 'b'"
    ):
        table("a,b\n1,2\n", **how)


def test_a_name_that_occurs_twice_needs_a_number():
    with pytest.raises(UnknownColumnError, match="2 columns are named 'a'.*: 0, 1"):
        table("a,a\n1,2\n", drop=("a",))
    assert table("a,a\n1,2\n", drop=("0",)).values.tolist() == [[2]]


def test_a_first_column_that_counts_the_rows_is_reported():
    assert "--drop 0" in table(",a\n0,5\n1,6\n").notes[0]


def test_gzip_is_unpacked():
    assert table(gzip.compress(b"a,b\n1,2\n")).names == ("a", "b")


def test_a_damaged_gzip_file_is_reported():
    with pytest.raises(FormatError, match="damaged"):
        table(gzip.compress(b"a,b\n1,2\n" * 100)[:-10])


def test_an_endless_stream_is_cut_off():
    class Endless(io.RawIOBase):
        def read(self, size):
            return b"1" * size

    with pytest.raises(FormatError, match="larger than the limit"):
        read(Endless(), max_bytes=1000)
