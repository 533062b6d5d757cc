"""Selections as files: all is read back, and files that are not ours are refused."""

import json
import zipfile

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import FormatError, RankWarning
from landmarks.runs import archive


def test_a_saved_selection_is_read_back(tmp_path, X, selection):
    figures = [selection.factor("trace"), selection.factor("frobenius")]
    selection.save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz")
    assert (
        np.array_equal(back.indices, selection.indices)
        and back.method == selection.method
        and back.ledger == selection.ledger
    )
    assert [back.factor("trace"), back.factor("frobenius")] == figures


@pytest.mark.parametrize("criterion", ["trace", "frobenius", "logdet"])
def test_saving_computes_the_figures_of_the_criterion_alone(tmp_path, X, criterion):
    lm.select(X, 3, criterion=criterion, method="greedy").save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz")
    assert back.error() >= back.lower_bound()
    other = "trace" if criterion == "frobenius" else "frobenius"
    with pytest.raises(ValueError, match=r"give them with load\(path, data=…\)"):
        back.error(other)


def test_the_path_of_a_run_is_saved_with_it(tmp_path, X):
    found = lm.select(X, 3, method=lm.Continuous(strategy="path"))
    found.save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz").path
    for name in ("t", "value", "active", "steps"):
        np.testing.assert_array_equal(getattr(back, name), getattr(found.path, name))


def test_a_saved_selection_with_its_data_can_do_everything(tmp_path, X, selection):
    selection.save(tmp_path / "run.npz")
    assert_allclose(
        lm.load(tmp_path / "run.npz", data=X).nystrom().factor, selection.nystrom().factor
    )
    with pytest.raises(ValueError, match="loaded without its data"):
        lm.load(tmp_path / "run.npz").nystrom()
    with pytest.raises(FormatError, match="^the data have n = 7"):
        lm.load(tmp_path / "run.npz", data=X[:, :7])


@pytest.mark.parametrize("center", [False, True])
def test_fault_89_other_data_are_refused(tmp_path, X, center):
    lm.select(X, 3, center=center, scale=center).save(tmp_path / "run.npz")
    rng = np.random.default_rng(1)
    others = [rng.standard_normal(X.shape), X[:, ::-1], X * [1, 1, 1, 1, 1, 1, 1, 1 + 1e-3]]
    if center:
        others[2] = X + np.outer(X[:, 0], np.arange(8) == 7)  # scaled columns are equally long
    for other in others:
        with pytest.raises(FormatError, match="belongs to a run on other data"):
            lm.load(tmp_path / "run.npz", data=other)
    lm.load(tmp_path / "run.npz").save(tmp_path / "again.npz")  # the data are not at hand
    assert lm.load(tmp_path / "again.npz", data=X).error() > 0
    with pytest.raises(FormatError, match="belongs to a run on other data"):
        lm.load(tmp_path / "again.npz", data=others[0])


def test_fault_89_the_smallest_column_is_seen_as_the_largest_is(tmp_path, X):
    graded = X * np.logspace(0, -9, 8)
    lm.select(graded, 3, scale=False).save(tmp_path / "run.npz")
    other = graded.copy()
    other[:, 7] = -2 * other[::-1, 7]
    with pytest.raises(FormatError, match="other data"):
        lm.load(tmp_path / "run.npz", data=other)


@pytest.mark.parametrize("zero", [np.zeros((5, 3)), lm.psd(np.zeros((3, 3)))], ids=["X", "K"])
def test_a_run_on_zeros_is_read_back(tmp_path, zero):
    with pytest.warns(RankWarning):
        s = lm.select(zero, 2)
    s.save(tmp_path / "run.npz")
    assert lm.load(tmp_path / "run.npz", data=zero).error() == s.error() == 0


FORMS = {
    "columns in a row": np.asfortranarray,
    "sparse": scipy.sparse.csr_array,
    "rows in another order": lambda X: X[::-1],
    "rows in blocks": lambda X: lm.data([X[:8], X[8:]]),
    "as text has it": lambda X: X * (1 + 1e-15),
    "the matrix of products": lambda X: lm.psd(X.T @ X),
    "a product": lambda X: lm.function(lambda V: X.T @ (X @ V), n=8, diagonal=(X**2).sum(0)),
}


@pytest.mark.parametrize("form", FORMS)
def test_the_same_numbers_are_the_same_data_however_they_are_held(tmp_path, X, form):
    X = X - 0.1
    lm.select(X, 3, method="greedy").save(tmp_path / "run.npz")
    if form != "a product":  # its columns are not read for a comparison
        back = lm.load(tmp_path / "run.npz", data=FORMS[form](X))
        assert back.operator is not None
    lm.select(FORMS[form](X), 3, method="greedy").save(tmp_path / "run.npz")
    assert lm.load(tmp_path / "run.npz", data=FORMS[form](X)).operator is not None


def test_data_with_gaps_are_prepared_as_for_the_run(tmp_path, X):
    gaps = np.where(np.eye(20, 8) > 0, np.nan, X)
    lm.select(gaps, 3, center=True, missing="impute").save(tmp_path / "run.npz")
    assert lm.load(tmp_path / "run.npz", data=gaps, missing="impute").nystrom().factor.shape
    with pytest.raises(ValueError, match="^Input X contains NaN"):
        lm.load(tmp_path / "run.npz", data=gaps)


def test_saving_leaves_no_temporary_file_and_replaces_the_old_one(tmp_path, selection):
    selection.save(tmp_path / "run.npz")
    selection.save(tmp_path / "run.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


def rewrite(path, without=(), **changes):
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    record = {
        name: value
        for name, value in json.loads(bytes(arrays["record"])).items()
        if name not in without
    } | changes
    arrays["record"] = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": 99}, "format version 99"),
        ({"format": "other"}, "not a selection"),
        ({"n": 2}, "damaged"),
        ({"known": 3}, "damaged"),
    ],
)
def test_files_that_are_not_ours_are_refused(tmp_path, selection, changes, message):
    path = tmp_path / "run.npz"
    selection.save(path)
    rewrite(path, **changes)
    with pytest.raises(FormatError, match=message):
        lm.load(path)


def test_what_files_of_0_1_call_otherwise_is_found(tmp_path, X):
    path, target = tmp_path / "run.npz", np.arange(len(X))
    s = lm.select(X, 3, method="exact", groups=np.arange(X.shape[1]) // 2, target=target)
    assert s.proved and s.most == 6
    s.save(path)
    with np.load(path) as saved:
        record = json.loads(bytes(saved["record"]))
    old = {"aim": record["objective"], "known": record["known"] | {"proved": 1.0, "columns": 6.0}}
    rewrite(path, **old, without=("objective", "searched", "most"))
    found = lm.load(path, data=X, target=target)
    assert found.proved and found.most == 6 and found.error() == s.error()


HOSTILE = {
    "bound": ["x", np.nan, -3.0, 1e300, [1], True],
    "exponent": [1e30, 10**30, "0", None],
    "names": [["a"], "abcdefgh", [1] * 8, [["a"]] * 8, 3],
    "labels": [[1], "abcdefgh", [{"tuple": 5}] * 8, [{"a": 1, "b": 2}] * 8, [{"date": "x"}] * 8],
    "criterion": ["<script>", 3, None, ["trace"]],
    "method": [3, {"a": 1}, None],
    "n": ["8", -1, 0, 8.0, 10**30, None, True],
    "seed": ["x", -4, 0.5],
    "include": [[99], [-1], [0, 0], "0", [1.5], ["a"], 3],
    "exclude": [[99], [True], {"0": 1}],
    "ledger": [{}, {"products": -1}, 3],
    "trials": [[{"a": 1}], {"a": 1}, [3]],
    "center": ["no", 1],
    "stopped": ["a", None],
    "from_rows": ["x", 0],
    "sketch": ["x", [None], [np.nan], {"a": 1}],
    "objective": [3, {"x": 1}, []],
    "constraints": ["x", [3], [{"distance": -1.0}]],
    "known": [3, {"<b>": 1.0}, {"error:trace": "x"}, {"total:trace": np.nan}],
    "most": [99, "x", 0],
    "searched": [1, "x"],
    "known, error:trace": [{"error:trace": -1.0}, {"error:trace": 9.0, "total:trace": 5.0}],
    "known, certificate:trace": [{"certificate:trace": 2.0, "error:trace": 1.0}],
}


@pytest.mark.parametrize(
    ("field", "value"), [(name, value) for name, values in HOSTILE.items() for value in values]
)
def test_fault_92_a_field_changed_by_hand_is_refused_by_its_name(tmp_path, selection, field, value):
    path = tmp_path / "run.npz"
    selection.save(path)
    rewrite(path, **{field.partition(",")[0]: value})
    with pytest.raises(FormatError, match=f"damaged: .*{field.rstrip('s')}") as caught:
        lm.load(path)
    assert len(str(caught.value)) < 400


def test_arrays_changed_by_hand_are_refused_by_their_name(tmp_path, X):
    path = tmp_path / "run.npz"
    lm.select(X, 3, method="annealed").save(path)
    with np.load(path) as saved:
        arrays = {name: saved[name] for name in saved.files}
    for name, value in [
        ("indices", np.array([0, 0, 1])),
        ("indices", np.array([0, 1, 8])),
        ("indices", np.array([0.5, 1, 2])),
        ("path_t", np.zeros((2, 3))),
        ("path_value", arrays["path_value"][1:]),
        ("path_steps", np.full(len(arrays["path_t"]), "x")),
    ]:
        np.savez(path, **arrays | {name: value})
        with pytest.raises(FormatError, match=f"damaged: {name}"):
            lm.load(path)


SAVED: dict[str, bytes] = {}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=9) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=9,
)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_whatever_is_loaded_can_be_shown_asked_and_saved(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("runs") / "run.npz"
    if not SAVED:
        A = np.random.default_rng(0).standard_normal((20, 8))
        for name, asked in {
            "plain": {"method": "annealed"},
            "aimed": {"target": A[:, :2], "noise": 0.1, "include": [3]},
            "logdet": {"criterion": "logdet", "center": True, "scale": True},
        }.items():
            lm.select(A, 3, **asked).save(path)
            SAVED[name] = path.read_bytes()
    path.write_bytes(SAVED[data.draw(st.sampled_from(sorted(SAVED)))])
    record, _ = archive.read(path, max_bytes=10**6, allowed=lambda name: True)
    where = record
    while isinstance(where, dict | list) and where:
        keys = sorted(where) if isinstance(where, dict) else list(range(len(where)))
        key, inside = data.draw(st.sampled_from(keys)), where
        where = where[key]
        if data.draw(st.booleans()):
            break
    inside[key] = data.draw(JSON)
    rewrite(path, **record)
    try:
        s = lm.load(path)
    except FormatError as error:
        assert len(str(error)) < 600
        return
    try:
        assert repr(s) and s._repr_html_() and s.lower_bound() <= s.error() + 1e-2 * abs(s.error())
        assert s.gap() >= 0
    except ValueError as error:  # the file lost a figure, or has those of another criterion
        assert "give them with load(path, data=…)" in str(error)
    s.save(path)


def test_pickles_unknown_entries_and_garbage_are_refused(tmp_path, selection):
    path = tmp_path / "run.npz"
    np.savez(path, record=np.array([{"a": 1}], dtype=object))
    with pytest.raises(FormatError):
        lm.load(path)
    np.savez(path, other=np.zeros(3))
    with pytest.raises(FormatError, match="unknown entries"):
        lm.load(path)
    path.write_bytes(b"not a zip file")
    with pytest.raises(FormatError, match="not a readable npz"):
        lm.load(path)
    with pytest.raises(FileNotFoundError):
        lm.load(tmp_path / "missing.npz")


def test_a_file_that_unpacks_to_too_much_is_refused_before_unpacking(tmp_path, selection):
    path = tmp_path / "run.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("record.npy", bytes(10_000_000))
    with pytest.raises(FormatError, match="would unpack to 10000000 bytes"):
        lm.load(path, max_bytes=1_000_000)


def test_everything_of_a_selection_is_saved_with_it(tmp_path, X):
    pandas = pytest.importorskip("pandas", reason="data frames need pandas")
    frame = pandas.DataFrame(np.ldexp(X, 200), columns=list("abcdefgh"))
    s = lm.select(frame, 3, include=["b"], exclude=["a"], seed=4, criterion="frobenius")
    s.save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz")
    for name in (
        "n",
        "k",
        "criterion",
        "method",
        "seed",
        "ledger",
        "names",
        "trials",
        "bound",
        "exponent",
        "stopped",
        "include",
        "exclude",
    ):
        assert getattr(back, name) == getattr(s, name), name
    assert (
        back.chosen_names == s.chosen_names
        and back.proved == s.proved
        and not back.path
        and back.operator is None
    )
    for figure in ("error", "total", "relative_error", "best_rank_error", "lower_bound", "gap"):
        assert getattr(back, figure)() == getattr(s, figure)()


def test_a_malformed_record_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    for record, message in (
        (b"[1]", "has no readable record"),
        (b"{", "is not a readable npz file"),
        (b"[" * 100_000, "not a readable|record"),
    ):
        np.savez(path, record=np.frombuffer(record, dtype=np.uint8))
        with pytest.raises(FormatError, match=message):
            lm.load(path)
    np.savez(path, indices=np.zeros(1))
    with pytest.raises(FormatError, match="has no readable record"):
        lm.load(path)


def test_an_array_that_is_not_as_large_as_it_says_is_refused(tmp_path, selection):
    path = tmp_path / "run.npz"
    selection.save(path)
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    for content, message in (
        (members["indices.npy"][:-1], "is cut short"),
        (b"\x93NUMPY\x09\x00", "the npy header cannot be read"),
    ):
        with zipfile.ZipFile(path, "w") as archive:
            for name, old in members.items():
                archive.writestr(name, content if name == "indices.npy" else old)
        with pytest.raises(FormatError, match=message):
            lm.load(path)


def test_a_file_that_cannot_be_written_leaves_the_old_one(tmp_path, selection):
    path = tmp_path / "run.npz"
    archive.write(path, {"a": 1}, {"indices": np.arange(3)})
    with pytest.raises(TypeError):
        archive.write(path, {"a": object()}, {"indices": np.arange(4)})
    record, arrays = archive.read(path, max_bytes=10**6, allowed={"indices"}.__contains__)
    assert record == {"a": 1} and arrays["indices"].tolist() == [0, 1, 2]
    assert [file.name for file in tmp_path.iterdir()] == ["run.npz"]
