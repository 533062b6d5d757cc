"""The result record: what it knows, and how it is stored."""

import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import FormatError, RankWarning, UnsupportedError
from landmarks.methods.problem import CONSTRAINTS, Choice


@pytest.fixture
def X():
    return np.random.default_rng(0).standard_normal((20, 8))


@pytest.fixture
def selection(X):
    return lm.select(X, 3, method="greedy")


def test_a_selection_knows_its_figures(X, selection):
    chosen = X[:, selection.indices]
    error = np.sum((X - chosen @ np.linalg.pinv(chosen) @ X) ** 2)
    tail = np.sum(np.linalg.svd(X, compute_uv=False)[3:] ** 2)
    assert_allclose([selection.error("trace"), selection.lower_bound("trace")], [error, tail], rtol=1e-10)
    assert_allclose([selection.factor("trace"), selection.relative_error("trace")], [error / tail, error / np.sum(X**2)], rtol=1e-10)
    assert_allclose(selection.gap(), 1 - tail / error, rtol=1e-10)


def test_indices_are_distinct_host_integers_that_cannot_be_changed(selection):
    assert selection.indices.dtype == np.int64 and len(set(selection.indices)) == len(selection) == 3
    with pytest.raises(ValueError, match="read-only"):
        selection.indices[0] = 5


def test_the_ledger_says_what_was_used(selection):
    assert selection.ledger.products == 3 and selection.ledger.seconds > 0


def test_the_factor_is_undefined_at_the_numerical_rank():
    X = np.random.default_rng(0).standard_normal((20, 3)) @ np.ones((3, 8))
    with pytest.warns(RankWarning, match="factor is undefined"):
        assert np.isnan(lm.select(X, 1, method="greedy").factor())


def test_criteria_other_than_the_two_are_refused(selection):
    with pytest.raises(ValueError, match="criterion must be one of 'trace', 'frobenius', got 'spectral'"):
        selection.error("spectral")


def test_extreme_scales_give_the_same_indices_and_relative_figures(X, selection):
    for power in (-1000, 300, 1000):
        scaled = lm.select(np.ldexp(X, power), 3, method="greedy")
        assert np.array_equal(scaled.indices, selection.indices)
        assert_allclose([scaled.factor(), scaled.relative_error()], [selection.factor(), selection.relative_error()], rtol=1e-12)


def test_names_of_a_data_frame_are_kept(X):
    pandas = pytest.importorskip("pandas", reason="data frames need pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    selection = lm.select(frame, 3, method="greedy", include=["c"], exclude="a")
    assert selection.chosen_names[0] == "c" and "a" not in selection.chosen_names


def test_a_saved_selection_is_read_back(tmp_path, X, selection):
    selection.save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz")
    assert np.array_equal(back.indices, selection.indices) and back.method == selection.method and back.ledger == selection.ledger
    for criterion in ("trace", "frobenius"):
        assert back.error(criterion) == selection.error(criterion)
        assert back.factor(criterion) == selection.factor(criterion)


def test_the_path_of_a_run_is_saved_with_it(tmp_path, X):
    found = lm.select(X, 3, method=lm.Continuous(strategy="frank_wolfe"))
    found.save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz").path
    for name in ("t", "value", "active", "steps"):
        np.testing.assert_array_equal(getattr(back, name), getattr(found.path, name))


def test_a_saved_selection_with_its_data_can_do_everything(tmp_path, X, selection):
    selection.save(tmp_path / "run.npz")
    assert_allclose(lm.load(tmp_path / "run.npz", data=X).nystrom().factor, selection.nystrom().factor)
    with pytest.raises(ValueError, match="loaded without its data"):
        lm.load(tmp_path / "run.npz").nystrom()
    with pytest.raises(FormatError, match="the data have n = 7"):
        lm.load(tmp_path / "run.npz", data=X[:, :7])


def test_saving_leaves_no_temporary_file_and_replaces_the_old_one(tmp_path, selection):
    selection.save(tmp_path / "run.npz")
    selection.save(tmp_path / "run.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["run.npz"]


def rewrite(path, **changes):
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    record = json.loads(bytes(arrays["record"])) | changes
    arrays["record"] = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    np.savez(path, **arrays)


@pytest.mark.parametrize(
    ("changes", "message"),
    [({"version": 99}, "format version 99"), ({"format": "other"}, "not a selection"), ({"n": 2}, "damaged"), ({"known": 3}, "damaged")],
)
def test_files_that_are_not_ours_are_refused(tmp_path, selection, changes, message):
    path = tmp_path / "run.npz"
    selection.save(path)
    rewrite(path, **changes)
    with pytest.raises(FormatError, match=message):
        lm.load(path)


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


@pytest.mark.parametrize("k", [0, -1, 9])
def test_k_out_of_range_is_refused(X, k):
    with pytest.raises(ValueError, match=f"k must be between 1 and n = 8, got {k}"):
        lm.select(X, k)


@pytest.mark.parametrize("k", [2.5, True, "5", None])
def test_k_of_another_type_is_refused(X, k):
    with pytest.raises(TypeError, match="k must be an integer between 1 and n = 8"):
        lm.select(X, k)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"method": "best"}, "method must be one of"),
        ({"criterion": "max"}, "criterion must be one of"),
        ({"budget": 0}, "budget must be a positive number"),
        ({"include": [1], "exclude": [1]}, "both included and excluded"),
        ({"include": [1, 2, 3, 4]}, "include lists 4 candidates, more than k = 3"),
        ({"include": [8]}, "include: indices must be from 0 to 7"),
        ({"exclude": [0, 1, 2, 3, 4, 5]}, "more than the 2 candidates that exclude leaves"),
        ({"include": ["a"]}, "the data have none"),
    ],
)
def test_wrong_arguments_are_told_apart(X, arguments, message):
    with pytest.raises(ValueError, match=message):
        lm.select(X, 3, **arguments)


def test_a_method_that_cannot_honour_a_constraint_says_so(X):
    class First:
        honours = frozenset()

        def choose(self, problem, rng):
            return Choice(np.arange(problem.k))

    with pytest.raises(UnsupportedError, match="First cannot honour exclude"):
        lm.select(X, 3, method=First(), exclude=[1])
    assert lm.select(X, 3, method=First()).indices.tolist() == [0, 1, 2]
    assert frozenset({"include", "exclude"}) == CONSTRAINTS


def test_a_method_class_instead_of_an_object_is_refused(X):
    with pytest.raises(TypeError, match="method must be a name or a method object"):
        lm.select(X, 3, method=lm.Greedy)


@pytest.mark.parametrize("seed", [-1, "x", 1.5, True])
def test_a_seed_of_another_kind_is_refused(X, seed):
    with pytest.raises(ValueError, match="seed must be a whole number of at least 0"):
        lm.select(X, 3, seed=seed)


def test_the_rank_is_warned_of_once():
    with pytest.warns(RankWarning, match="numerical rank 1 < k = 2") as caught:
        lm.select(np.ones((5, 4)), 2)
    assert len(caught) == 1


def test_a_name_must_be_that_of_one_column(X):
    pandas = pytest.importorskip("pandas", reason="data frames need pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefga"))
    with pytest.raises(ValueError, match="exclude: the data have no column named 'z'"):
        lm.select(frame, 3, exclude=["z"])
    with pytest.raises(ValueError, match="include: the data have 2 columns named 'a'; give the index of one"):
        lm.select(frame, 3, include=["a"])


def test_a_proof_holds_among_the_choices_that_are_allowed(X):
    free, bound = lm.select(X, 3), lm.select(X, 3, exclude=lm.select(X, 3).indices[:1])
    assert free.proved and bound.proved and bound.lower_bound() > free.error()
