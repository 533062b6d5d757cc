"""One door: the same data get the same answer, the same warning, the same error everywhere."""

import re
import warnings
from decimal import Decimal

import numpy as np
import pytest
import scipy.sparse
from sklearn.pipeline import make_pipeline

import landmarks as lm
from landmarks.errors import ScaleWarning, SymmetryWarning

from .doors import DOORS, command

pd = pytest.importorskip("pandas", reason="needs pandas")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3)) @ RNG.standard_normal((3, 6)) + RNG.standard_normal((40, 6)) / 9
FRAME = pd.DataFrame(X, columns=list("abcdef"))
CHOSEN = lm.select(FRAME, 2, method="greedy").chosen_names
every_door = pytest.mark.parametrize("door", DOORS)


def without(*names):
    return pytest.mark.parametrize("door", [door for door in DOORS if door not in names])


def through(door, A, folder, **asked):
    """What is chosen, or CHOSEN where the door shows no names; and the warnings as text."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        chosen = DOORS[door](A, folder, **asked)
    return CHOSEN if chosen is None else chosen, [str(warning.message) for warning in caught]


@every_door
def test_plain_data_are_chosen_from_without_a_word(door, tmp_path):
    assert through(door, FRAME, tmp_path) == (CHOSEN, [])


@every_door
@pytest.mark.parametrize("center", [False, True])
def test_fault_97_decimals_are_numbers(door, center, tmp_path):
    pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rounded = FRAME.round(6)
    cells = [Decimal(f"{value:.6f}") for value in rounded["b"]]
    table = pa.table({name: cells if name == "b" else rounded[name].to_numpy() for name in FRAME})
    parquet.write_table(table, tmp_path / "x.parquet")
    expected = lm.select(rounded, 2, method="greedy", center=center).chosen_names
    chosen, said = through(door, str(tmp_path / "x.parquet"), tmp_path, center=center)
    assert said == [] and chosen in (expected, CHOSEN)


@pytest.mark.parametrize("form", ["pandas", "polars", "arrow"])
def test_fault_97_decimals_are_numbers_in_memory(form):
    cells = [Decimal(f"{value:.6f}") for value in X[:, 0]]
    frame = FRAME.assign(a=pd.Series(cells, dtype=object))
    if form == "polars":
        frame = pytest.importorskip("polars", reason="needs polars").DataFrame(
            {name: cells if name == "a" else X[:, j] for j, name in enumerate(FRAME)}
        )
    if form == "arrow":
        pa = pytest.importorskip("pyarrow", reason="needs pyarrow")
        frame = pa.Table.from_pandas(frame, preserve_index=False)
    assert lm.select(frame, 2, method="greedy").chosen_names == CHOSEN


@without("landmarks select", "landmarks compare")  # they take files
def test_a_lazy_frame_is_chosen_from_as_the_frame_it_collects_to(door, tmp_path):
    pl = pytest.importorskip("polars", reason="needs polars")
    lazy = pl.DataFrame(X, schema=list("abcdef")).lazy()
    assert through(door, lazy, tmp_path) == (CHOSEN, [])
    if door != "load":
        lazy = lazy.with_columns(word=pl.lit("x"))
        chosen, said = through(door, lazy, tmp_path, numeric_only=True)
        assert (chosen, len(said)) == (CHOSEN, 1) and "'word' (text)" in said[0]


TAKEN = {
    "kernel": lambda A: lm.select(lm.kernel(A, lm.rbf(sigma=1.0)), 3).indices,
    "psd": lambda A: lm.psd(A.head(6) if hasattr(A, "head") else A).diagonal(),
    "target": lambda A: lm.select(X, 2, target=A).indices,
    "target of a kernel": lambda A: lm.select(lm.psd(X @ X.T), 2, target=A).indices,
    "target of held_out": lambda A: lm.held_out(X, [1, 2], cv=3, target=A).errors,
    "y": lambda A: lm.ColumnSelector(2, target="y").fit(X, A).score(X, A),
    "transform": lambda A: lm.select(FRAME, 2).transform(A),
    "ColumnSelector.transform": lambda A: lm.ColumnSelector(2).fit(FRAME).transform(A),
    "partial_fit": lambda A: lm.ColumnSelector(2).partial_fit(A).indices_,
    "score": lambda A: lm.ColumnSelector(2).fit(FRAME).score(A),
    "rebuild": lambda A: lm.select(FRAME, 2).reconstruction().rebuild(A),
    "Nystroem": lambda A: lm.Nystroem(n_components=3).fit(A).transform(A),
}


@pytest.mark.parametrize("call", TAKEN.values(), ids=TAKEN)
def test_what_takes_a_frame_takes_a_lazy_one(call):
    pl = pytest.importorskip("polars", reason="needs polars")
    values = X.copy()
    values[:6] = np.eye(6)  # of which the first rows are a kernel matrix
    frame = pl.DataFrame(values, schema=list("abcdef"))
    np.testing.assert_array_equal(np.asarray(call(frame.lazy())), np.asarray(call(frame)))


class Thing:
    """Neither an array nor a table."""


@pytest.mark.parametrize("call", [lambda A: lm.select(A, 2), *TAKEN.values()])
def test_what_is_no_array_is_named_by_its_type(call):
    with pytest.raises(ValueError, match="got (a )?Thing"):
        call(Thing())


@without("data")  # `data` says that they are data
def test_fault_98_a_symmetric_table_is_warned_of(door, tmp_path):
    asked = {"scale": False}
    _, said = through(door, FRAME.corr(), tmp_path, **asked)
    assert "symmetric square matrix" in said[0]
    if not door.startswith("landmarks"):
        with pytest.warns(SymmetryWarning):
            DOORS[door](FRAME.corr(), tmp_path, **asked)


@without("load")  # the choice was made before
def test_fault_99_means_that_decide_are_warned_of(door, tmp_path):
    _, said = through(door, FRAME + 1000, tmp_path)
    assert len(said) == 1 and said[0].startswith("the means of the columns make up 100% of the sum")
    assert "center=True" in said[0] and "--center" in said[0]
    for asked in ({"center": True}, {"scale": False}, {"scale": True}):
        assert through(door, FRAME + 1000, tmp_path, **asked)[1] == []


@pytest.mark.parametrize("form", ["array", "float32", "sparse", "csr", "rows", "map", "torch"])
def test_fault_99_the_share_of_the_means_is_the_same_however_the_numbers_come(form, tmp_path):
    import scipy.sparse

    Y = X + 2.0
    share = len(Y) * np.sum(Y.mean(axis=0) ** 2) / np.sum(Y**2)
    np.save(tmp_path / "Y.npy", Y)
    make = {
        "array": lambda: Y,
        "float32": lambda: Y.astype(np.float32),
        "sparse": lambda: scipy.sparse.csc_array(Y),
        "csr": lambda: scipy.sparse.csr_matrix(Y),
        "rows": lambda: iter(np.array_split(Y, 7)),
        "map": lambda: np.load(tmp_path / "Y.npy", mmap_mode="r"),
        "torch": lambda: pytest.importorskip("torch", reason="needs torch").asarray(Y),
    }
    given = lm.data(make[form]()) if form == "rows" else make[form]()
    with pytest.warns(ScaleWarning, match=f"make up {share:.0%} of the sum of squares"):
        lm.select(given, 2, method="greedy")


@without("load")
def test_large_columns_are_warned_of_and_means_not_as_well(door, tmp_path):
    _, said = through(door, FRAME * [1, 1e4, 1, 1, 1, 1], tmp_path)
    assert len(said) == 1 and said[0].startswith("column 'b' holds numbers over 100 times larger")


@pytest.mark.parametrize(
    "call",
    [
        lambda A: lm.select(A, 2),
        lambda A: lm.path(A, 2),
        lambda A: lm.compare(A, 2, methods=["greedy"]),
        lambda A: lm.held_out(A, 2),
        lambda A: lm.select(lm.data(A), 2),
        lambda A: lm.ColumnSelector(2).fit(A),
        lambda A: make_pipeline(lm.ColumnSelector(2)).fit(A),
        lambda A: lm.Nystroem("sigmoid", n_components=2).fit(A),
        lambda A: lm.select(np.ones((5, 3)), 2, scale=False),
    ],
)
def test_a_warning_points_at_the_line_that_called(call):
    with pytest.warns(UserWarning) as caught:
        call(X * [1, 1e4, 1, 1, 1, 1])
    assert caught[0].filename == __file__


@without("load")
def test_columns_of_one_value_are_noted_where_they_are_centred(door, tmp_path):
    table = FRAME.assign(g=7.0)
    _, said = through(door, table, tmp_path, center=True)
    assert len(said) == 1 and said[0].startswith("column 'g' holds one value only")


GAPS = FRAME.mask(RNG.random(FRAME.shape) < 0.05)


@every_door
def test_missing_values_are_an_error_that_names_the_column(door, tmp_path):
    _, column = np.argwhere(GAPS.isna().to_numpy())[0]
    with pytest.raises(ValueError, match="NaN") as caught:
        through(door, GAPS, tmp_path)
    if door != "ColumnSelector":  # there scikit-learn says it
        assert repr(FRAME.columns[column]) in str(caught.value)
        assert "--missing drop" in str(caught.value)


@without("load", "ColumnSelector")  # a row cannot be left out of the result of `transform`
def test_rows_with_missing_values_are_left_out_when_asked(door, tmp_path):
    complete = GAPS.dropna()
    chosen, said = through(door, GAPS, tmp_path, missing="drop")
    left_out = len(GAPS) - len(complete)
    assert said == [f"{left_out} of 40 rows have a missing value and were left out"]
    assert chosen in (through(door, complete, tmp_path)[0], CHOSEN)
    few = FRAME.assign(a=FRAME["a"].where(FRAME.index % 4 == 0))
    message = '30 of 40 rows have a missing value and were left out; missing="impute" '
    assert through(door, few, tmp_path, missing="drop")[1][0].startswith(message)


@without("load")
def test_the_mean_is_filled_in_when_asked(door, tmp_path):
    chosen, said = through(door, GAPS, tmp_path, missing="impute")
    assert chosen in (through(door, GAPS.fillna(GAPS.mean()), tmp_path)[0], CHOSEN)
    filled = int(GAPS.isna().to_numpy().sum())
    note = f"{filled} missing values were replaced by the mean of their column"
    assert said == ([note] if door.startswith("landmarks") else [])


@without("load", "held_out")
def test_pairs_of_known_values_serve_when_asked(door, tmp_path):
    expected = lm.ColumnSelector(2, method="greedy", missing="pairwise").fit(GAPS)
    chosen, said = through(door, GAPS, tmp_path, missing="pairwise")
    assert said == [] and chosen in (expected.selection_.chosen_names, CHOSEN)


@pytest.mark.parametrize("form", ["frame", "array", "sparse", "file", "map"])
@pytest.mark.parametrize(
    "door", ["select", "path", "compare", "held_out", "data", "ColumnSelector"]
)
def test_each_way_with_missing_values_that_an_error_names_is_taken(door, form, tmp_path):
    GAPS.to_csv(tmp_path / "gaps.csv", index=False)
    np.save(tmp_path / "gaps.npy", GAPS.to_numpy())
    given = {
        "frame": GAPS,
        "array": GAPS.to_numpy(),
        "sparse": scipy.sparse.csr_array(GAPS.to_numpy()),
        "file": str(tmp_path / "gaps.csv"),
        "map": np.load(tmp_path / "gaps.npy", mmap_mode="r"),
    }[form]
    with pytest.raises(ValueError, match="missing=") as error:
        through(door, given, tmp_path)
    ways = re.findall('"([a-z]+)" ', str(error.value))
    assert "impute" in ways
    for way in ways:
        through(door, given, tmp_path, missing=way)


def test_held_out_rows_need_every_value():
    with pytest.raises(ValueError, match="errors on held-out rows need every value"):
        lm.held_out(GAPS, [2], missing="pairwise")


def test_held_out_rows_are_filled_by_the_training_rows():
    folds = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
    found = lm.held_out(GAPS, [2], cv=folds, missing="impute").errors[:, 0]
    for error, (train, _) in zip(found, folds, strict=True):
        filled = GAPS.fillna(GAPS.iloc[train].mean())
        fold = [next(pair for pair in folds if pair[0] is train)]
        expected = lm.held_out(filled, [2], cv=fold * 2).errors[0, 0]
        assert error == pytest.approx(expected, rel=1e-10)


@without("load", "ColumnSelector")
@pytest.mark.parametrize("left", [0, 1])
def test_too_few_complete_rows_are_an_error(door, left, tmp_path):
    table = FRAME.copy()
    table.iloc[: 40 - left, 3] = np.nan
    with pytest.raises(ValueError, match=f"only {left} of 40 rows have every value, too few"):
        through(door, table, tmp_path, missing="drop")


@pytest.mark.parametrize("left", [3, 4])  # any four columns rebuild four rows
def test_no_more_complete_rows_than_columns_wanted_are_an_error(left, tmp_path):
    table = FRAME.copy()
    table.iloc[left:, 3] = np.nan
    table.to_csv(tmp_path / "x.csv", index=False)
    message = f"only {left} of 40 rows have every value, too few to choose 4 columns from"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(ValueError, match=message):
            lm.select(table, 4, missing="drop")
        with pytest.raises(ValueError, match=message):
            lm.path(table, 4, missing="drop")
        with pytest.raises(ValueError, match=message):
            command("select", tmp_path / "x.csv", "-k", 4, "--missing", "drop")


@every_door
def test_two_columns_of_one_name_are_accepted(door, tmp_path):
    table = FRAME.set_axis(list("aacdef"), axis=1)
    expected = ["aacdef"["abcdef".index(name)] for name in CHOSEN]
    chosen, said = through(door, table, tmp_path)
    assert said == [] and chosen in (expected, CHOSEN)


def test_a_name_of_two_columns_cannot_be_included(tmp_path):
    table = FRAME.set_axis(list("abcaef"), axis=1)
    with pytest.raises(ValueError, match="2 columns named 'a'; give the index of one"):
        lm.select(table, 2, include="a")
    table.assign(text="x").iloc[:, [6, 0, 1, 2, 3, 4, 5]].to_csv(tmp_path / "x.csv", index=False)
    asked = (tmp_path / "x.csv", "-k", 2, "--numeric-only", "--include")
    with pytest.raises(ValueError, match="2 columns are named 'a'; give the number of one.*: 1, 4"):
        command("select", *asked, "a")


def test_a_column_selector_transforms_a_table_with_two_columns_of_one_name():
    table = FRAME.set_axis(list("aacdef"), axis=1)
    selector = lm.ColumnSelector(2, method="greedy").fit(table)
    assert np.array_equal(selector.transform(table), X[:, np.sort(selector.indices_)])
    assert selector.score(table) == pytest.approx(
        lm.ColumnSelector(2, method="greedy").fit(X).score(X)
    )
    lm.Nystroem(n_components=2).fit(table).transform(table)


@without("load", "ColumnSelector")  # there columns are left out by hand
def test_text_is_an_error_or_left_out(door, tmp_path):
    table = FRAME.assign(name="Ann", city="Rome")
    with pytest.raises(ValueError, match="2 of 8 columns do not hold numbers: 'name'"):
        through(door, table, tmp_path)
    chosen, said = through(door, table, tmp_path, numeric_only=True)
    assert chosen == CHOSEN
    assert len(said) == 1 and said[0].startswith("numeric_only leaves out 2 of 8 columns: 'name'")


@every_door
def test_numbers_with_odd_values_are_never_left_out(door, tmp_path):
    table = FRAME.astype(object)
    table.iloc[[3, 9], 1] = "k.A."
    asked = {} if door in ("ColumnSelector", "load") else {"numeric_only": True}
    with pytest.raises(
        ValueError, match="column 'b' holds numbers, but 2 of its 40 values"
    ) as caught:
        through(door, table, tmp_path, **asked)
    assert "'k.A.' (" in str(caught.value) and "na_values=['k.A.']" in str(caught.value)
    assert len(str(caught.value)) < 600


@without("load")
def test_integers_that_may_be_missing_are_numbers(door, tmp_path):
    table = (FRAME * 100).round().astype("Int64")
    table.iloc[3, 2] = pd.NA
    with pytest.raises(ValueError, match="NaN"):
        through(door, table, tmp_path)
    chosen, _ = through(door, table, tmp_path, missing="impute")
    plain = (FRAME * 100).round()
    plain.iloc[3, 2] = np.nan
    assert chosen in (through(door, plain, tmp_path, missing="impute")[0], CHOSEN)


@pytest.mark.parametrize(
    "call",
    [
        lambda: lm.select(FRAME + 1000, 2, method="gredy"),
        lambda: lm.select(FRAME + 1000, 2, include=["x"]),
        lambda: lm.select(FRAME + 1000, 2, seed=-1),
        lambda: lm.path(FRAME + 1000, [2, 99]),
        lambda: lm.path(FRAME + 1000, 2, include=["x"]),
        lambda: lm.compare(FRAME + 1000, 2, methods=["gredy"]),
        lambda: lm.compare(FRAME + 1000, 2, include=["x"]),
        lambda: lm.compare(FRAME + 1000, 2, criterion="x"),
        lambda: lm.held_out(FRAME + 1000, 99),
        lambda: lm.held_out(FRAME + 1000, 2, method="gredy"),
        lambda: lm.ColumnSelector(2, method="gredy").fit(FRAME + 1000),
        lambda: lm.ColumnSelector(2, include=["x"]).fit(FRAME + 1000),
    ],
)
def test_a_warning_comes_after_errors_about_arguments(call):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(ValueError):
            call()
    assert caught == []


@pytest.mark.parametrize("door", [lm.select, lm.path, lm.compare, lm.held_out])
def test_an_argument_that_is_not_there_is_answered_with_what_was_meant(door):
    with pytest.raises(TypeError, match="'standardize'; center=True, scale=True gives"):
        door(FRAME, 2, standardize=True)
    with pytest.raises(TypeError, match="no argument 'centre'; did you mean 'center'"):
        door(FRAME, 2, centre=True)


@pytest.mark.parametrize("door", [lm.select, lm.path, lm.compare])
@pytest.mark.parametrize("argument", ["layer", "na_values", "thousands"])
def test_arguments_of_data_are_answered_with_data(door, argument):
    with pytest.raises(TypeError, match=rf"pass lm\.data\(A, {argument}=…\) instead of A"):
        door("x.csv", 2, **{argument: "x"})


@pytest.mark.parametrize("source", [FRAME, "x.csv"])
def test_data_answers_an_argument_that_is_not_there_too(source):
    with pytest.raises(TypeError, match="data has no argument 'standardize'; center=True"):
        lm.data(source, standardize=True)
    with pytest.raises(TypeError, match="no argument 'numeric'; did you mean 'numeric_only'"):
        lm.data(source, numeric=True)


@pytest.mark.parametrize(
    "form", ["array", "list", "sparse", "torch", "frame", "names twice", "objects"]
)
@pytest.mark.parametrize("fit", ["fit", "partial_fit"])
def test_a_column_selector_names_a_missing_value_in_any_array(form, fit):
    values = GAPS.to_numpy()
    row, column = np.argwhere(np.isnan(values))[0]
    where, data = f"row {row}, column {column};", values
    if form == "list":
        data = values.tolist()
    elif form == "sparse":
        data = scipy.sparse.csr_array(values)
        column, row = np.argwhere(np.isnan(values.T))[0]  # they are looked for by columns
        where = f"row {row}, column {column};"
    elif form == "torch":
        data = pytest.importorskip("torch", reason="needs torch").asarray(values)
    elif form != "array":
        where = f"row {row}, column {column} {FRAME.columns[column]!r};"
        data = GAPS.set_axis(list("aacdef"), axis=1) if form == "names twice" else GAPS
        data = GAPS.astype(object).where(GAPS.notna(), pd.NA) if form == "objects" else data
    with pytest.raises(ValueError, match=f'first at {where}.*missing="impute" fills') as caught:
        getattr(lm.ColumnSelector(2), fit)(data)
    assert len(str(caught.value)) < 300
    asked = {"method": "greedy", "missing": "impute"}
    fitted = lm.ColumnSelector(2, **asked).fit(data)
    assert np.array_equal(fitted.indices_, lm.select(GAPS, 2, **asked).indices)


@pytest.mark.parametrize("form", ["pairs", "blocks", "an iterator", "dask"])
def test_columns_are_columns_however_their_rows_were_read(form, tmp_path):
    A, asked = X, {}
    if form == "pairs":
        A, asked = GAPS.to_numpy(), {"missing": "pairwise"}
    elif form == "blocks":
        A = [X[:10], X[10:]]
    elif form == "an iterator":
        A = lm.data(iter([X[:10], X[10:]]))
    else:
        A = pytest.importorskip("dask.array", reason="needs dask").from_array(X, chunks=(10, 6))
    s = lm.select(A, 2, method="greedy", **asked)
    assert re.fullmatch(
        r"Selection: 2 of 6 columns keep \S+ of the sum of squares: column \d, column \d", str(s)
    )
    s.save(tmp_path / "run.npz")
    assert str(lm.load(tmp_path / "run.npz")) == str(s)
    stored = str(lm.select(lm.psd(X.T @ X), 2, method="greedy"))
    assert "2 of 6 landmarks" in stored and "trace of the matrix" in stored


def test_an_operator_takes_no_preparation():
    with pytest.raises(ValueError, match=r"use lm\.data\(X, center=…, scale=…, missing=…\)"):
        lm.select(lm.psd(np.eye(3)), 2, missing="impute")
    with pytest.raises(ValueError, match="missing must be one of 'error', 'impute', 'drop', 'pair"):
        lm.select(FRAME, 2, missing="ignore")


def test_one_gram_matrix_to_the_last_bit_whichever_way_the_rows_come(tmp_path):
    """In memory in both orders, in blocks, from a file, on dask; centred, scaled, as they are."""
    da = pytest.importorskip("dask.array", reason="needs dask")
    table = np.cumsum(RNG.standard_normal((30_000, 40)), axis=0) + 1e3  # levels change all the time
    np.save(tmp_path / "x.npy", table)

    def blocks():
        return iter(np.array_split(table, 7))

    small = 2**20  # too little to load the table
    for asked in ({}, {"center": True}, {"scale": True}, {"center": True, "scale": True}):
        ways = {
            "Fortran order": lm.data(np.asfortranarray(table), **asked),
            "frame": lm.data(pd.DataFrame(table), **asked),
            "blocks": lm.data(blocks, memory=small, **asked),
            "file": lm.data(tmp_path / "x.npy", memory=small, **asked),
            "dask": lm.data(da.from_array(table, chunks=(1700, 11)), **asked),
        }
        expected = lm.data(table, **asked).columns(range(40))
        for name, operator in ways.items():
            assert np.array_equal(operator.columns(range(40)), expected), (name, asked)


def _forms(table, folder):
    """The same table as everything that a user may hold."""
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    anndata, pl = pytest.importorskip("anndata"), pytest.importorskip("polars")
    pa, torch = pytest.importorskip("pyarrow"), pytest.importorskip("torch")
    frame = pd.DataFrame(table, columns=list("abcdef"))
    frame.to_csv(folder / "x.csv", index=False)
    np.save(folder / "x.npy", table)
    return {
        "array": table,
        "Fortran order": np.asfortranarray(table),
        "list": table.tolist(),
        "pandas": frame,
        "polars": pl.DataFrame(dict(zip(frame, table.T, strict=True))),
        "arrow": pa.Table.from_pandas(frame, preserve_index=False),
        "sparse": scipy.sparse.csr_array(table),
        "csv": str(folder / "x.csv"),
        "npy": folder / "x.npy",
        "blocks": [table[:25], table[25:]],
        "dask": da.from_array(table, chunks=(20, 6)),
        "dask frame": dd.from_pandas(frame, npartitions=2),
        "tensor": torch.tensor(table),
        "AnnData": anndata.AnnData(table, var=pd.DataFrame(index=list("abcdef"))),
    }


def _answer(door, A):
    """What a door of Python says about any form of the table, and the warnings."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if door == "path":
            found = lm.path(A, [2]).indices
        elif door == "compare":
            found = lm.compare(A, 2, methods=["greedy"]).best.indices
        elif door == "held_out":
            found = lm.held_out(A, [2], cv=3).errors.round(9)
        elif door == "ColumnSelector":
            found = lm.ColumnSelector(2, method="greedy").fit(A).selection_.indices
        else:
            found = lm.select(A, 2, method="greedy").indices
    ours = [w for w in caught if issubclass(w.category, ScaleWarning | SymmetryWarning)]
    return found.tolist(), [str(w.message) for w in ours]


@pytest.mark.parametrize("door", ["select", "path", "compare", "held_out", "ColumnSelector"])
@pytest.mark.parametrize("offset", [0.0, 1000.0], ids=["plain", "far from zero"])
def test_every_form_gets_one_answer_and_one_warning_at_every_door(door, offset, tmp_path):
    answers = {form: _answer(door, A) for form, A in _forms(X + offset, tmp_path).items()}
    assert len(answers["array"][1]) == (offset > 0)
    assert [form for form, answer in answers.items() if answer != answers["array"]] == []


@pytest.mark.parametrize("shape", [(60, 6), (3, 6)], ids=["tall", "wide"])
@pytest.mark.parametrize("center", [False, True])
def test_a_missing_value_on_dask_is_named_with_what_helps_there(shape, center):
    da, dd = pytest.importorskip("dask.array"), pytest.importorskip("dask.dataframe")
    X = np.random.default_rng(0).standard_normal(shape)
    X[2, 1] = np.nan
    frame = pd.DataFrame(X, columns=list("abcdef"))
    forms = {
        "row 2, column 1": da.from_array(X, chunks=(1, 2)),
        "row 2, column 1 'b'": dd.from_pandas(frame, npartitions=2),
    }
    for place, A in forms.items():
        with pytest.raises(ValueError, match=place) as refused:
            lm.select(A, 2, center=center)
        assert "dask.array.where, or fillna" in str(refused.value)
        assert "missing=" not in str(refused.value)
    lm.select(dd.from_pandas(frame, npartitions=2).fillna(0.0), 2, center=center)


@pytest.mark.parametrize("labels", [[10, 11, 12, 13], [("a", 1), ("a", 2), ("b", 1), ("b", 2)]])
def test_labels_stay_as_they_are_on_dask(labels):
    dd = pytest.importorskip("dask.dataframe")
    columns = pd.MultiIndex.from_tuples(labels) if isinstance(labels[0], tuple) else labels
    frame = pd.DataFrame(np.random.default_rng(0).standard_normal((40, 4)), columns=columns)
    table = dd.from_pandas(frame, npartitions=2)
    expected, s = lm.select(frame, 2).chosen_names, lm.select(table, 2)
    assert s.chosen_names == expected and set(expected) <= set(labels)
    pd.testing.assert_frame_equal(s.transform(table).compute(), frame[expected])
