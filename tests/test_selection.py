"""The result record: what it knows, and how it is stored."""

import json
import zipfile

import numpy as np
import pytest
from numpy.testing import assert_allclose

import landmarks as lm
from landmarks.errors import FormatError, RankWarning, UnsupportedError
from landmarks.linalg.probes import Rademacher
from landmarks.problem import INCLUDE_EXCLUDE, Choice
from landmarks.runs import archive
from landmarks.selection import Cost, Selection


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
    assert_allclose(
        [selection.error("trace"), selection.lower_bound("trace")], [error, tail], rtol=1e-10
    )
    assert_allclose(
        [selection.factor("trace"), selection.relative_error("trace")],
        [error / tail, error / np.sum(X**2)],
        rtol=1e-10,
    )
    assert_allclose(selection.gap(), 1 - tail / error, rtol=1e-10)


def test_indices_are_distinct_host_integers_that_cannot_be_changed(selection):
    assert (
        selection.indices.dtype == np.int64 and len(set(selection.indices)) == len(selection) == 3
    )
    with pytest.raises(ValueError, match="read-only"):
        selection.indices[0] = 5


def test_the_ledger_says_what_was_used(selection):
    assert selection.ledger.products == 3 and selection.ledger.seconds > 0


def test_the_factor_is_undefined_at_the_numerical_rank():
    X = np.random.default_rng(0).standard_normal((20, 3)) @ np.ones((3, 8))
    with pytest.warns(RankWarning, match="factor is undefined"):
        assert np.isnan(lm.select(X, 1, method="greedy").factor())


def test_criteria_other_than_the_two_are_refused(selection):
    with pytest.raises(
        ValueError, match="criterion must be one of 'trace', 'frobenius', got 'spectral'"
    ):
        selection.error("spectral")


def test_extreme_scales_give_the_same_indices_and_relative_figures(X, selection):
    for power in (-1000, 300, 1000):
        scaled = lm.select(np.ldexp(X, power), 3, method="greedy")
        assert np.array_equal(scaled.indices, selection.indices)
        assert_allclose(
            [scaled.factor(), scaled.relative_error()],
            [selection.factor(), selection.relative_error()],
            rtol=1e-12,
        )


def test_names_of_a_data_frame_are_kept(X):
    pandas = pytest.importorskip("pandas", reason="data frames need pandas")
    frame = pandas.DataFrame(X, columns=list("abcdefgh"))
    selection = lm.select(frame, 3, method="greedy", include=["c"], exclude="a")
    assert selection.chosen_names[0] == "c" and "a" not in selection.chosen_names


def test_a_saved_selection_is_read_back(tmp_path, X, selection):
    selection.save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz")
    assert (
        np.array_equal(back.indices, selection.indices)
        and back.method == selection.method
        and back.ledger == selection.ledger
    )
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
    assert_allclose(
        lm.load(tmp_path / "run.npz", data=X).nystrom().factor, selection.nystrom().factor
    )
    with pytest.raises(ValueError, match="loaded without its data"):
        lm.load(tmp_path / "run.npz").nystrom()
    with pytest.raises(FormatError, match="the data have n = 7"):
        lm.load(tmp_path / "run.npz", data=X[:, :7])


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
def test_wrong_arguments_are_distinguished(X, arguments, message):
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
    assert frozenset({"include", "exclude"}) == INCLUDE_EXCLUDE


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
    with pytest.raises(
        ValueError, match="include: the data have 2 columns named 'a'; give the index of one"
    ):
        lm.select(frame, 3, include=["a"])


def test_a_proof_holds_among_the_choices_that_are_allowed(X):
    free, bound = lm.select(X, 3), lm.select(X, 3, exclude=lm.select(X, 3).indices[:1])
    assert free.proved and bound.proved and bound.lower_bound() > free.error()


@pytest.mark.parametrize("criterion", ["trace", "frobenius"])
@pytest.mark.parametrize("power", [0, 110])
def test_an_estimate_is_that_of_its_probes_in_the_units_of_the_data(X, criterion, power):
    scaled, K = lm.select(np.ldexp(X, power), 3, method="greedy"), X.T @ X
    S, Z = scaled.indices, Rademacher(8).draw(8, np.random.default_rng(5), X)
    CZ = (K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])) @ Z
    samples = np.sum(CZ * (Z if criterion == "trace" else CZ), axis=0) * 2.0 ** (
        power * (2 if criterion == "trace" else 4)
    )
    mean, spread = np.mean(samples), 1.96 * np.std(samples, ddof=1) / np.sqrt(8)
    found = scaled.estimated_error(criterion, n_probes=8, seed=5)
    assert (scaled.exponent > 0) == (power > 0) and found.n_probes == 8
    assert_allclose(
        [found.value, found.low, found.high],
        [mean, max(0.0, mean - spread), mean + spread],
        rtol=1e-9,
    )


def test_an_estimate_is_of_the_criterion_of_the_selection_by_default(X):
    s = lm.select(X, 3, method="greedy", criterion="frobenius")
    assert s.estimated_error() == s.estimated_error("frobenius", n_probes=32, seed=0)
    assert abs(s.estimated_error(n_probes=400).value / s.error() - 1) < 0.2


def test_a_choice_without_an_error_has_no_gap_and_is_no_part_of_nothing():
    with pytest.warns(RankWarning):
        s = lm.select(np.zeros((3, 4)), 2, method="greedy")
    assert s.gap() == s.relative_error() == s.error() == s.lower_bound() == 0.0


def test_a_selection_made_by_hand_has_nothing_but_what_it_was_given(X):
    cost = Cost(products=1, columns=2, entries=3, seconds=4.0)
    s = Selection(np.array([2, 0]), 8, "trace", "by hand", None, cost, operator=lm.data(X))
    assert (s.names, bool(s.path), s.trials, s.bound, s.exponent, s.stopped) == (
        None,
        False,
        (),
        None,
        0,
        False,
    )
    assert (s.include, s.exclude, s.chooser, s.known, s.chosen_names, s.proved) == (
        (),
        (),
        None,
        {},
        None,
        False,
    )
    chosen = X[:, [2, 0]]
    assert_allclose(s.error(), np.sum((X - chosen @ np.linalg.pinv(chosen) @ X) ** 2), rtol=1e-10)


def test_figures_of_the_frobenius_criterion_are_those_of_the_matrix(X):
    K, s = X.T @ X, lm.select(X, 3, method="greedy", criterion="frobenius")
    S = s.indices
    C = K - K[:, S] @ np.linalg.solve(K[np.ix_(S, S)], K[S])
    tail = np.sum(np.linalg.eigvalsh(K)[:-3] ** 2)
    assert_allclose(
        [s.error(), s.total(), s.best_rank_error(), s.lower_bound()],
        [np.sum(C**2), np.sum(K**2), tail, tail],
        rtol=1e-9,
    )
    assert_allclose(
        [s.gap(), s.factor(), s.relative_error()],
        [1 - tail / np.sum(C**2), np.sum(C**2) / tail, np.sum(C**2) / np.sum(K**2)],
        rtol=1e-9,
    )
    assert_allclose([s.error("trace"), s.total("trace")], [np.trace(C), np.trace(K)], rtol=1e-9)


def test_a_proved_bound_is_of_its_own_criterion_alone(X):
    s = lm.select(X, 3, method=lm.Exact())
    assert s.proved and s.lower_bound() == s.lower_bound("trace") > 1.01 * s.best_rank_error()
    assert s.lower_bound() == pytest.approx(s.error(), rel=1e-9)
    tail = s.best_rank_error("frobenius")
    assert tail * (1 - 1e-9) < s.lower_bound("frobenius") <= tail  # less its rounding
    assert s.gap() == pytest.approx(0.0, abs=1e-9) != s.gap("frobenius")


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
        assert [getattr(back, figure)(criterion) for criterion in ("trace", "frobenius")] == [
            getattr(s, figure)(criterion) for criterion in ("trace", "frobenius")
        ]


def test_a_file_from_before_stops_and_constraints_were_kept_is_read(tmp_path, selection):
    path = tmp_path / "run.npz"
    selection.save(path)
    rewrite(path, without=("stopped", "include", "exclude"))
    back = lm.load(path)
    assert back.stopped is False and back.include == back.exclude == ()


def test_a_large_matrix_is_saved_with_the_figures_of_its_criterion(tmp_path):
    s = lm.select(lm.kernel(np.ones((3001, 1)), lm.linear()), 1, method="uniform")
    figures = {"error": 0.5, "total": 1.0, "best_rank": 0.25, "rank_bound": 0.25}
    s.known.update({f"{kind}:trace": figure for kind, figure in figures.items()})
    s.save(tmp_path / "run.npz")
    back = lm.load(tmp_path / "run.npz")
    assert set(back.known) == {f"{kind}:trace" for kind in figures} and back.gap() == 0.5


def test_a_file_may_unpack_to_exactly_the_limit(tmp_path, selection):
    path = tmp_path / "run.npz"
    selection.save(path)
    with zipfile.ZipFile(path) as archive:
        size = sum(member.file_size for member in archive.infolist())
    assert lm.load(path, max_bytes=size).k == 3
    with pytest.raises(
        FormatError, match=f"would unpack to {size} bytes, above max_bytes = {size - 1}"
    ):
        lm.load(path, max_bytes=size - 1)


def test_a_record_that_is_no_record_is_refused(tmp_path):
    path = tmp_path / "run.npz"
    for record, message in (
        (b"[1]", "has no readable record"),
        (b"{", "is not a readable npz file"),
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
        (members["indices.npy"][:-1], "is not as large as it says"),
        (b"\x93NUMPY\x09\x00", r"has npy version \(9, 0\)"),
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


def test_files_are_packed_only_when_asked(tmp_path):
    for compress, kind in ((False, zipfile.ZIP_STORED), (True, zipfile.ZIP_DEFLATED)):
        archive.write(tmp_path / "run.npz", {}, {"indices": np.zeros(1000)}, compress=compress)
        with zipfile.ZipFile(tmp_path / "run.npz") as packed:
            assert {member.compress_type for member in packed.infolist()} == {kind}


def test_the_name_of_a_wrong_setting_begins_the_sentence(X):
    with pytest.raises(
        ValueError, match=r"^criterion must be one of 'trace', 'frobenius', got 'max'"
    ):
        lm.select(X, 3, criterion="max")
    with pytest.raises(
        ValueError,
        match=r"^n_probes must be a positive integer, or None for exact gradients, got 1\.5",
    ):
        lm.Continuous(n_probes=1.5)


def test_a_selection_writes_its_report(tmp_path, selection):
    pytest.importorskip("jinja2", reason="reports need jinja2")
    selection.report(tmp_path / "page.html")
    assert "Greedy" in (tmp_path / "page.html").read_text()
    selection.report(tmp_path / "page.html", overwrite=True)
