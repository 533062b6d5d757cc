"""Tables are read by people, notebooks and pandas."""

import sys

import pytest

from landmarks.errors import UnsupportedError
from landmarks.explain import Table

TABLE = Table({"name": ["a", "<b>"], "n": [1, 20], "x": [0.123456, None]})


def test_text_is_aligned_and_short():
    assert repr(TABLE).splitlines() == ["name   n      x", "a      1  0.123", "<b>   20"]


def test_rows_are_dictionaries():
    assert (
        TABLE.rows[1] == {"name": "<b>", "n": 20, "x": None}
        and len(TABLE) == 2
        and TABLE["n"] == [1, 20]
    )


def test_html_is_escaped():
    assert "<bdi>&lt;b&gt;</bdi></td>" in TABLE._repr_html_() and "<b>" not in TABLE._repr_html_()


def test_long_tables_are_cut_when_shown_only():
    table = Table({"i": list(range(50))})
    assert (
        repr(table).splitlines()[-1] == "… 30 more"
        and table._repr_html_().endswith("<p>… 30 more</p>")
        and len(table.rows) == 50
    )


def test_a_frame_has_the_same_columns():
    pytest.importorskip("pandas", reason="data frames need pandas")
    frame = TABLE.to_frame()
    assert frame.columns.tolist() == ["name", "n", "x"] and frame["x"].isna().tolist() == [
        False,
        True,
    ]


def test_without_pandas_the_frame_says_what_to_use(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(
        UnsupportedError,
        match="to_frame needs pandas, which is not installed; use .rows or .columns",
    ):
        TABLE.to_frame()
