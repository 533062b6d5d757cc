"""Tables as people have them: odd values, thousands, names twice, files larger than memory."""

import json
import re
import warnings

import numpy as np
import pytest

import landmarks as lm
from landmarks.errors import FormatError
from landmarks.readers.table import read

from .doors import command

RNG = np.random.default_rng(0)
X = RNG.standard_normal((50, 4)) @ RNG.standard_normal((4, 8)) * 900 + 2000


def german(number):
    """A number as German spreadsheets write it: 1.107,97."""
    return f"{number:,.2f}".translate(str.maketrans(",.", ".,"))


def write(path, rows, names, delimiter=";"):
    lines = [delimiter.join(row) for row in [names, *rows]]
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture
def messy(tmp_path):
    """Dates, a city, numbers with thousands and some marks, a name twice, a constant column."""
    rows = [[f"{i % 28 + 1:02d}.03.2024", "Bonn", *map(german, row)] for i, row in enumerate(X)]
    for i, j in ((0, 2), (7, 2), (7, 4), (30, 9)):
        rows[i][j] = "k.A."
    rows = [[*row, "1,00"] for row in rows]
    names = ["Datum", "Ort", *(f"v{j}" for j in range(7)), "v3", "fest"]
    return write(tmp_path / "messy.csv", rows, names)


READ = ("--thousands", ".", "--na-values", "k.A.")


@pytest.mark.parametrize("option", [(), ("--numeric-only",)])
def test_the_error_shows_the_odd_values_and_the_options_that_help(messy, option):
    with pytest.raises(ValueError) as caught:
        command("select", messy, "-k", 3, *option)
    message = str(caught.value)
    assert "column 'v0' holds numbers, but" in message and "'k.A.' (line 2)" in message
    assert re.search(r"so do 'v\d', .* and \d more; give", message)
    assert "give --thousands '.' --na-values 'k.A.'" in message and message.count("\n") == 1
    assert len(message) < 700


def test_with_these_options_the_table_is_read(messy):
    asked = ("--numeric-only", "--missing", "impute", "--standardize", "-q", "--json")
    with pytest.warns(UserWarning) as caught:
        found = json.loads(command("select", messy, "-k", 3, *READ, *asked))
    said = [str(warning.message) for warning in caught]
    assert "4 missing values were replaced by the mean of their column" in said
    assert any(note.startswith("numeric_only leaves out 2 of 11 columns: 'Datum'") for note in said)
    assert any(note.startswith("column 'fest' holds one value only") for note in said)
    A = np.round(X, 2)
    A[[0, 7, 7, 30], [0, 0, 2, 7]] = np.nan
    expected = lm.select(lm.data(A, missing="impute", center=True, scale=True), 3)
    assert found["indices"] == [j + 2 for j in expected.indices]
    assert found["settings"]["thousands"] == "." and found["settings"]["na_values"] == ["k.A."]


def test_python_reads_it_the_same_way(messy):
    with pytest.raises(FormatError, match=r"^messy\.csv: column 'v0' holds numbers"):
        lm.select(messy, 3, numeric_only=True)
    reading = {"numeric_only": True, "thousands": ".", "na_values": ["k.A."]}
    with pytest.warns(UserWarning, match="numeric_only leaves out 2 of 11"):
        operator = lm.data(messy, missing="impute", **reading)
    assert operator.n == 9 and operator.names.count("v3") == 2
    np.testing.assert_allclose(operator.factor()[1, :8], np.round(X[1], 2))


@pytest.mark.parametrize(
    ("one", "listed"),
    [
        ({"na_values": "k.A."}, {"na_values": ["k.A."]}),
        ({"na_values": -999}, {"na_values": ("-999",)}),
        ({"columns": "height"}, {"columns": ["height"]}),
        ({"columns": [1, 2]}, {"columns": ["1", "2"]}),
        ({"drop": "name"}, {"drop": ["name"]}),
    ],
)
def test_one_name_or_value_stands_for_a_list_of_one(one, listed, tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("name,height,width\n" + "".join(f"{i},{i * i},{-i}\n" for i in range(9)))
    values = [read(path, **asked).values for asked in (one, listed)]
    np.testing.assert_array_equal(*values)


def test_a_refused_file_shows_one_traceback(messy):
    with pytest.raises(FormatError) as caught:
        lm.select(messy, 3)
    assert caught.value.__cause__ is None and caught.value.__suppress_context__


def test_a_report_says_how_many_values_were_filled_in(messy, tmp_path):
    pytest.importorskip("jinja2", reason="needs Jinja2")
    page = tmp_path / "page.html"
    asked = ("--numeric-only", "--missing", "impute", "--center", "-q", "--report", page)
    with pytest.warns(UserWarning):
        command("select", messy, "-k", 2, *READ, *asked)
    assert "impute (4 values)" in page.read_text()
    how = {"thousands": ".", "na_values": "k.A.", "numeric_only": True}
    with pytest.warns(UserWarning):
        A = lm.data(messy, missing="impute", center=True, **how)
    frame = read(messy, **how).values
    with pytest.warns(UserWarning, match="one value only"):
        of_values = lm.select(frame, 2, missing="impute", center=True)
    for s in (of_values, lm.select(A, 2)):
        s.report(page, overwrite=True)
        assert "4 missing values filled in" in page.read_text().replace("\u202f", " ")


@pytest.mark.parametrize(
    ("cells", "helps"),
    [
        (["1,107.97", "12.5", "2,300.1"], "--thousands ','"),
        (["1.107,97", "12,5", "2.300,1"], "--thousands '.'"),
        (["1 107,97", "12,5", "2 300,1"], "--thousands ' '"),
        (["1'107.97", "12.5", "2'300.1"], '--thousands "\'"'),
        (["1.5", "-999x", "2"], "--na-values '-999x', if it stands for a missing value"),
        (["1", "a9x", "2", "b9x", "3"], "--na-values 'a9x,b9x', if they stand for a missing"),
        (["1.107,97", "kA", "2.300,1", "7,5"], "--thousands '.' --na-values 'kA'"),
    ],
)
def test_the_signs_are_guessed_and_reading_with_them_works(tmp_path, cells, helps):
    path = write(tmp_path / "x.csv", [[cell, "1", "2"] for cell in cells], ["a", "b", "c"])
    with pytest.raises(FormatError) as caught:
        read(path)
    assert helps in str(caught.value)
    python = str(caught.value).split("lm.data(path, ")[1].split("); --drop")[0]
    values = read(path, **eval(f"dict({python})")).values[:, 0]  # noqa: S307  # our own message
    assert np.isfinite(values).sum() == sum("9x" not in cell and cell != "kA" for cell in cells)


def test_numbers_may_stand_for_missing_values(tmp_path):
    path = write(tmp_path / "x.csv", [["-999", "1"], ["2", "-999.0"], ["3", "4"]], ["a", "b"])
    values = read(path, na_values=("-999",)).values
    np.testing.assert_array_equal(values, [[np.nan, 1], [2, np.nan], [3, 4]])


@pytest.mark.parametrize("cell", ["1.5", "12.34.567", "1234.567", "1.2345"])
def test_a_sign_between_other_groups_than_thousands_is_odd(tmp_path, cell):
    rows = [["1.000"], [cell], ["2.000"], ["3.000"]]
    path = write(tmp_path / "x.csv", [[*row, "1"] for row in rows], ["a", "b"])
    with pytest.raises(FormatError, match=r"1 of its 4 values .* \(line 3\)"):
        read(path, thousands=".")


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"thousands": ".", "decimal": "."}, "cannot both have the sign"),
        ({"thousands": ".."}, "one character, got '..'"),
        ({"decimal": "x"}, "one character, got 'x'"),
    ],
)
def test_signs_that_cannot_be_are_refused(tmp_path, how, message):
    path = write(tmp_path / "x.csv", [["1", "2"]], ["a", "b"])
    with pytest.raises(FormatError, match=message):
        read(path, **how)


def test_more_text_than_numbers_is_text(tmp_path):
    rows = [[name, str(i * i)] for i, name in enumerate(["A7", "B", "12", "C-1", "x"])]
    path = write(tmp_path / "x.csv", rows, ["code", "a"])
    with pytest.raises(FormatError, match=r"'code' \(line 2: 'A7'\); leave them out"):
        read(path)
    assert read(path, numeric_only=True).names == ("a",)


def test_no_message_is_longer_than_a_screen(tmp_path):
    names = [f"column number {j}" for j in range(225)]
    rows = [["1.5"] * 225 for _ in range(50)]
    rows[7] = ["k.A."] * 225
    path = write(tmp_path / "odd.csv", rows, names)
    text = write(tmp_path / "text.csv", [["word"] * 224 + ["1"]] * 3, names)
    for file, option, last in (
        (path, (), "'column number 5' and 219 more"),
        (path, ("--numeric-only",), "'column number 5' and 219 more"),
        (text, (), "and 219 more; leave them out with"),
        (text, ("--columns", "nothing"), "and 220 more"),
    ):
        with pytest.raises(ValueError) as caught:
            command("select", file, "-k", 2, *option)
        assert last in str(caught.value) and len(str(caught.value)) < 800


@pytest.mark.parametrize("ending", ["npy", "parquet", "feather", "zarr", "h5"])
def test_a_file_larger_than_memory_is_read_in_blocks(tmp_path, ending):
    pd = pytest.importorskip("pandas", reason="needs pandas")
    A = RNG.standard_normal((3000, 3)) @ RNG.standard_normal((3, 6))
    A += RNG.standard_normal((3000, 6)) / 5
    path = tmp_path / f"x.{ending}"
    frame = pd.DataFrame(A, columns=list("abcdef"))
    if ending == "npy":
        np.save(path, A)
    elif ending == "zarr":
        pytest.importorskip("zarr", reason="needs zarr").save_array(str(path), A)
    elif ending == "h5":
        with pytest.importorskip("h5py", reason="needs h5py").File(path, "w") as file:
            file["A"] = A
    else:
        {"parquet": frame.to_parquet, "feather": frame.to_feather}[ending](path)
    out = tmp_path / "out.csv"
    asked = ("-k", 2, "-q", "--json", "--max-bytes", "100k", "--center", "-o", out, "--force")
    found = json.loads(command("select", path, *asked))
    expected = lm.select(A, 2, center=True)
    assert found["indices"] == expected.indices.tolist() and found["data"]["rows"] == 3000
    assert found["error"] == pytest.approx(expected.error(), rel=1e-9)
    written = np.loadtxt(out, delimiter=",", skiprows=1)
    np.testing.assert_array_equal(written, A[:, expected.indices])
    part = json.loads(command("select", path, *asked, "--drop", "0"))
    assert part["indices"] == [j + 1 for j in lm.select(A[:, 1:], 2, center=True).indices]
    with pytest.raises(ValueError, match="more than the limit"):
        command("select", path, *asked, "--rows")


def test_groups_and_costs_are_lists_or_files(tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, X - 2000)
    labels = list("aabbccdd")
    (tmp_path / "labels.txt").write_text("\n".join(labels))
    expected = lm.select(X - 2000, 2, groups=labels).indices.tolist()
    for given in (",".join(labels), tmp_path / "labels.txt"):
        found = json.loads(command("select", path, "-k", 2, "-q", "--json", "--groups", given))
        assert found["indices"] == expected
    costs = [3, 1, 4, 1, 5, 9, 2, 6]
    asked = ("--costs", ",".join(map(str, costs)), "--budget-cost", 6)
    found = json.loads(command("select", path, "-k", 3, "-q", "--json", *asked))
    expected = lm.select(X - 2000, 3, costs=costs, budget_cost=6).indices.tolist()
    assert found["indices"] == expected
    with pytest.raises(ValueError, match="--costs must be numbers"):
        command("select", path, "-k", 2, "--costs", "a,b,c,d,e,f,g,h", "--budget-cost", 2)
    with pytest.raises(ValueError, match="--groups has 2 entries, but there are 8 columns"):
        command("select", path, "-k", 2, "--groups", "a,b")


TEXT = {"Ort": ["Bonn"] * 50} | {f"v{j}": [f"{v:,.2f}" for v in X[:, j]] for j in range(8)}
TEXT["v2"][4] = TEXT["v5"][9] = "k.A."


def columnar(form, columns, folder):
    """The columns as a file, a table in memory or a dataset of Arrow."""
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    table = pa.table(columns) if isinstance(columns, dict) else columns
    path = folder / f"x.{'feather' if form == 'feather' else 'parquet'}"
    if form == "feather":
        pytest.importorskip("pyarrow.feather").write_feather(table, path)
    else:
        pytest.importorskip("pyarrow.parquet").write_table(table, path)
    if form == "dataset":
        return pytest.importorskip("pyarrow.dataset").dataset(path)
    return {"table": table, "batch": table.combine_chunks().to_batches()[0]}.get(form, path)


FILES = ["parquet", "feather"]
FORMS = [*FILES, "table", "batch", "dataset"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    "call",
    [
        lambda A: lm.select(A, 2, numeric_only=True),
        lambda A: lm.held_out(A, 2, numeric_only=True),
        lambda A: lm.ColumnSelector(2, numeric_only=True).fit(A),
        lambda A: command("select", A, "-k", 2, "--numeric-only"),
    ],
)
def test_numbers_that_columnar_files_hold_as_text_are_never_left_out(form, call, tmp_path):
    A = columnar(form, TEXT | {"z": X[:, 0]}, tmp_path)
    if form not in FILES and call.__code__.co_names[0] == "command":
        pytest.skip("a command reads files")
    with pytest.raises(ValueError) as caught:
        call(A)
    message = str(caught.value)
    assert "column 'v0' holds numbers, but" in message and "so do 'v1', 'v2'" in message
    helps = "thousands=',', na_values=['k.A.']"
    assert helps in message and len(message) < 600
    assert ("--thousands ',' --na-values 'k.A.'" in message) == (form in FILES)


@pytest.mark.parametrize("form", FILES)
def test_columnar_files_with_numbers_as_text_are_read_as_texts_are(form, tmp_path):
    path = columnar(form, TEXT, tmp_path)
    rows = [list(row) for row in zip(*TEXT.values(), strict=True)]
    text = write(tmp_path / "x.csv", rows, list(TEXT))
    how = {"thousands": ",", "na_values": ["k.A."], "numeric_only": True}
    read_as_text, found = read(text, **how), read(path, **how)
    assert found.names == read_as_text.names == tuple(f"v{j}" for j in range(8))
    np.testing.assert_array_equal(found.values, read_as_text.values)
    with pytest.warns(UserWarning, match="numeric_only leaves out 1 of 9 columns: 'Ort'"):
        s = lm.select(lm.data(path, missing="impute", **how), 2, scale=False)
    asked = ("--numeric-only", "--missing", "impute", "--no-scale", "-q", "--json", *READ[2:])
    with pytest.warns(UserWarning):
        record = json.loads(command("select", path, "-k", 2, "--thousands", ",", *asked))
    assert record["names"] == s.chosen_names


@pytest.mark.parametrize("ending", ["npy", "npz", "h5", "parquet", "feather", "csv"])
def test_a_number_stands_for_a_missing_value_in_every_format(tmp_path, ending):
    values, path = X.copy(), tmp_path / f"x.{ending}"
    values[3, 2] = -999
    if ending in FILES:
        path = columnar(ending, {f"v{j}": values[:, j] for j in range(8)}, tmp_path)
    elif ending == "csv":
        np.savetxt(path, values, delimiter=",")
    elif ending == "h5":
        with pytest.importorskip("h5py", reason="needs h5py").File(path, "w") as file:
            file["X"] = values
    else:
        np.save(path, values) if ending == "npy" else np.savez(path, X=values)
    with pytest.raises(ValueError, match="the value is missing .NaN; 1 in all"):
        lm.data(path, na_values=-999)
    gaps = np.where(values == -999, np.nan, values)
    expected = lm.select(gaps, 2, missing="impute", scale=False).indices
    found = lm.select(lm.data(path, na_values=-999, missing="impute"), 2, scale=False)
    assert np.array_equal(found.indices, expected)


def test_marks_for_missing_values_in_a_sparse_matrix_are_refused(tmp_path):
    (tmp_path / "x.mtx").write_text(
        "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 -999\n2 2 1\n"
    )
    with pytest.raises(FormatError, match="na_values cannot be told from numbers in a sparse"):
        lm.data(tmp_path / "x.mtx", na_values=-999)


@pytest.mark.parametrize("form", FORMS)
def test_columnar_data_may_have_two_columns_of_one_name(form, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    names = list("aacdefgh")
    table = pa.Table.from_arrays([pa.array(column) for column in X.T], names)
    if form == "dataset":
        pytest.skip("pyarrow has no datasets with equal names")
    A, expected = columnar(form, table, tmp_path), lm.select(X, 3, scale=False).indices
    assert np.array_equal(lm.select(A, 3, scale=False).indices, expected)
    assert np.array_equal(lm.ColumnSelector(3, scale=False).fit(A).indices_, expected)
    s = lm.select(table, 3, scale=False)
    assert s.transform(table).column_names == [names[j] for j in s.indices]
    selector = lm.ColumnSelector(3, scale=False).fit(table)
    assert np.array_equal(selector.transform(table), X[:, np.sort(expected)])
    assert lm.Nystroem(gamma=1e-7, n_components=3).fit(table).transform(table).shape == (50, 3)


@pytest.mark.parametrize("form", ["table", "batch", "dataset"])
def test_a_column_selector_leaves_text_out_of_arrow_tables(form, tmp_path):
    columns = {"name": ["x"] * 50} | {f"v{j}": X[:, j] for j in range(8)}
    A = columnar(form, columns, tmp_path)
    rows = columnar("table", columns, tmp_path)
    selector = lm.ColumnSelector(3, numeric_only=True, scale=False)
    with pytest.warns(UserWarning, match="numeric_only leaves out 1 of 9 columns: 'name'"):
        selector.fit(A)
    assert np.array_equal(selector.transform(rows), X[:, np.sort(selector.indices_)])
    with pytest.warns(UserWarning, match="leaves out"):
        selector.partial_fit(rows)
    assert np.array_equal(selector.transform(rows), X[:, np.sort(selector.indices_)])


@pytest.mark.parametrize(
    "estimator", [lm.ColumnSelector(2, scale=False), lm.Nystroem(gamma=1e-7, n_components=2)]
)
def test_rows_to_transform_are_no_path(estimator):
    with pytest.raises(TypeError, match="X must be rows, got the path 'x.csv'; read the file"):
        estimator.fit(X).transform("x.csv")


@pytest.mark.parametrize("start", [0, 1])
@pytest.mark.parametrize("index", [False, True])
def test_names_that_count_the_columns_are_names(tmp_path, start, index):
    pd = pytest.importorskip("pandas", reason="needs pandas")
    frame = pd.DataFrame(X, columns=range(start, start + 8))
    frame.to_csv(tmp_path / "x.csv", index=index)
    asked = {"drop": "" if index else ()}
    with pytest.warns(UserWarning, match="line 1 counts the columns and was read as their names"):
        s = lm.select(lm.data(tmp_path / "x.csv", **asked), 2, scale=False)
    assert np.array_equal(s.indices, lm.select(X, 2, scale=False).indices)
    assert s.chosen_names == [str(j + start) for j in s.indices]
    as_numbers = read(tmp_path / "x.csv", header=False)
    assert as_numbers.values.shape == (51, 8 + index)


def test_a_column_without_a_name_can_be_set_aside_where_another_is_named_0(tmp_path):
    pd = pytest.importorskip("pandas", reason="needs pandas")
    pd.DataFrame(X).to_csv(tmp_path / "x.csv")
    chosen = [str(j) for j in lm.select(X, 2, scale=False).indices]
    asked = ("select", tmp_path / "x.csv", "-k", 2, "--no-scale", "-q", "--json")
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        command(*asked)
        assert json.loads(command(*asked, "--id", ""))["names"] == chosen
    notes = [str(warning.message) for warning in caught]
    assert "column '' only counts the rows; --id '' keeps it as the name of the rows" in notes


@pytest.mark.parametrize("space", [" ", "\xa0", "\u2009", "\u202f"])
def test_any_space_between_thousands_is_named_and_read_as_one_that_can_be_typed(tmp_path, space):
    rows = [[german(x).replace(".", space) for x in row] for row in X]
    path = write(tmp_path / "spaces.csv", rows, "abcdefgh")
    with pytest.raises(FormatError, match=r"--thousands ' ', in Python .*thousands=' '"):
        lm.select(path, 3)
    found = lm.select(lm.data(path, thousands=" "), 3, scale=False)
    assert found.indices.tolist() == lm.select(X.round(2), 3, scale=False).indices.tolist()


def test_what_is_proposed_reads_the_columns_that_were_read_before_too(tmp_path):
    whole = [[f"{x:,.0f}".replace(",", ".") for x in row] for row in X]
    rows = [
        [f"{row[0] / 1000:.1f}".replace(".", ","), *cells]
        for row, cells in zip(X, whole, strict=True)
    ]
    path = write(tmp_path / "mixed.csv", rows, "abcdefghi")
    with pytest.raises(FormatError, match=r"give --decimal ',' --thousands '\.'"):
        lm.select(path, 3)
    assert read(path, decimal=",", thousands=".").values[:, 1:].tolist() == X.round().tolist()


@pytest.mark.parametrize(("sign", "delimiter"), [(".", ";"), (",", ";"), (".", ",")])
def test_whole_numbers_with_thousands_are_not_read_as_decimals_in_silence(
    tmp_path, sign, delimiter
):
    rows = [[f"{x:,.0f}".replace(",", sign) for x in row] for row in X]
    path = write(tmp_path / "whole.csv", rows, "abcdefgh", delimiter)
    with pytest.warns(UserWarning, match=rf"if thousands are written so.*--thousands '\{sign}'"):
        lm.select(path, 3, scale=False)
    assert read(path, thousands=sign).values.tolist() == X.round().tolist()


@pytest.mark.parametrize("text", ["{:.3f}", "{:.4g}", "{:.2f}", "{:.0f}"])
def test_decimals_are_not_taken_for_thousands(tmp_path, text):
    rows = [[text.format(x / 1000) for x in row] for row in X]
    assert read(write(tmp_path / "plain.csv", rows, "abcdefgh")).notes == ()


def test_a_list_of_groups_may_be_longer_than_the_name_of_a_file(tmp_path):
    wide = RNG.standard_normal((20, 120))
    path = write(tmp_path / "wide.csv", wide.astype(str), [f"c{j}" for j in range(120)])
    groups = ",".join(f"group {j // 2}" for j in range(120))
    found = json.loads(command("select", path, "-k", 4, "-q", "--json", "--groups", groups))
    chosen = found["indices"]
    assert len(chosen) == 8 and {j ^ 1 for j in chosen} == set(chosen)
