"""From what a user gives to the operator: scales, symmetric matrices, text columns, files."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

import landmarks as lm
from landmarks.cli.main import main
from landmarks.errors import FormatError, ScaleWarning
from landmarks.objectives import Trace

pd = pytest.importorskip("pandas", reason="needs pandas")
TUMOURS = load_breast_cancer(as_frame=True).data
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 5)) @ RNG.standard_normal((5, 8)) + 1.0
FRAME = pd.DataFrame(X, columns=list("abcdefgh"))


def warned(*arguments, **options):
    with pytest.warns(ScaleWarning) as caught:
        lm.select(*arguments, **options)
    return str(caught[0].message)


def commanded(folder):
    TUMOURS.to_csv(folder / "tumours.csv", index=False)
    main(["select", str(folder / "tumours.csv"), "-k", "2", "--method", "greedy"])


WAYS = {
    "select": lambda _: lm.select(TUMOURS, 3, method="greedy"),
    "path": lambda _: lm.path(TUMOURS, 3),
    "compare": lambda _: lm.compare(TUMOURS, 3, methods=["greedy"]),
    "held_out": lambda _: lm.held_out(TUMOURS, 2, cv=2),
    "selector": lambda _: lm.ColumnSelector(2).fit(TUMOURS),
    "target": lambda _: lm.select(X[:, :3], 2, target=X * [1e5, 1, 1, 1, 1, 1, 1, 1]),
    "file": commanded,
}


class TestScale:
    def test_fault_81_columns_that_decide_the_choice_are_named_with_the_argument(self):
        sentence = warned(TUMOURS, 5, method="greedy")
        assert sentence.startswith("columns 'worst area', 'mean area', ")
        assert "center=True, scale=True" in sentence

    @pytest.mark.parametrize("options", [{"scale": False}, {"center": True, "scale": True}])
    def test_no_warning_when_the_user_has_decided(self, options):
        lm.select(TUMOURS, 5, method="greedy", **options)

    def test_data_without_a_word_about_the_scale_are_warned_of_when_they_are_used(self):
        expected = warned(TUMOURS, 5, method="greedy")
        assert warned(lm.data(TUMOURS), 5, method="greedy") == expected
        lm.select(lm.data(TUMOURS, scale=False), 5, method="greedy")
        lm.select(lm.data(TUMOURS, center=True, scale=True), 5, method="greedy")

    def test_a_comparison_warns_once(self):
        with pytest.warns(ScaleWarning) as caught:
            lm.compare(lm.data(TUMOURS), 3, methods=["greedy", "uniform"])
        assert len(caught) == 1

    def test_the_command_line_can_decide_too(self, tmp_path, capsys):
        TUMOURS.to_csv(tmp_path / "tumours.csv", index=False)
        for option in ("--no-scale", "--standardize", "--scale"):
            command = ["select", str(tmp_path / "tumours.csv"), "-k", "2", "--method", "greedy"]
            assert main([*command, option]) == 0
            assert "note" not in capsys.readouterr().err

    @pytest.mark.parametrize("way", WAYS)
    def test_an_objective_by_relative_length_gives_no_warning(
        self, way, tmp_path, monkeypatch, capsys
    ):
        def said():
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always", ScaleWarning)
                WAYS[way](tmp_path)
            return str([str(warning.message) for warning in caught]) + capsys.readouterr().err

        assert "will decide the choice" in said()
        monkeypatch.setattr(Trace, "by_length", False)
        assert "decide" not in said()

    def test_centred_columns_are_compared_by_what_varies(self):
        shifted = X + np.array([1e5] + 7 * [0])
        assert "column 0 holds" in warned(shifted, 2)
        lm.select(shifted, 2, center=True)

    def test_held_out_rows_are_prepared_with_the_training_rows(self):
        folds = [(np.arange(30), np.arange(30, 40)), (np.arange(10, 40), np.arange(10))]
        found = lm.held_out(X, [2], center=True, scale=True, cv=folds).errors[:, 0]
        for error, (train, test) in zip(found, folds, strict=True):
            scaler = StandardScaler().fit(X[train])
            Z, new = scaler.transform(X[train]), scaler.transform(X[test])
            S = lm.select(Z, 2, method="greedy").indices
            B = np.linalg.lstsq(Z[:, S], Z, rcond=None)[0]
            left = np.sum((new - new[:, S] @ B) ** 2) / np.sum(new**2)
            assert error == pytest.approx(left, rel=1e-9)  # two least-squares solvers

    def test_only_true_and_false_are_taken(self):
        with pytest.raises(TypeError, match="center must be True or False, got 'yes'"):
            lm.select(X, 2, center="yes")
        with pytest.raises(TypeError, match="scale must be True or False, got 1"):
            lm.select(X, 2, scale=1)


class TestSymmetric:
    def test_said_as_data_or_as_a_kernel_matrix_it_is_taken_as_said(self):
        K = np.cov(X.T)
        lm.select(lm.data(K), 2), lm.select(lm.psd(K), 2)

    def test_a_diagonal_matrix_has_the_same_best_choice_either_way(self):
        D = np.diag([3.0, 1.0, 2.0])
        assert set(lm.select(D, 2).indices) == set(lm.select(lm.psd(D), 2).indices)


class TestTextColumns:
    mixed = FRAME[["a", "b"]].assign(
        name="Ann", born=pd.Timestamp("2001-02-03"), colour=pd.Categorical(["red"] * 40), sold=True
    )

    def test_booleans_are_numbers(self):
        flags = FRAME.assign(big=FRAME["a"] > 1)
        s = lm.select(flags, 3)
        assert s.error() == lm.select(flags.astype(float), 3).error()

    def test_nothing_but_text_is_refused(self):
        with pytest.raises(ValueError, match="none of the 2 columns holds numbers"):
            lm.select(self.mixed[["name", "born"]], 1, numeric_only=True)


class TestFiles:
    @pytest.mark.parametrize("ending", ["csv", "tsv", "xlsx", "parquet", "feather", "npy"])
    def test_the_file_gives_the_choice_of_the_array(self, tmp_path, ending):
        path = tmp_path / f"my.{ending}"
        write = {
            "csv": lambda: FRAME.to_csv(path, index=False),
            "tsv": lambda: FRAME.to_csv(path, index=False, sep="\t"),
            "xlsx": lambda: FRAME.to_excel(path, index=False),
            "parquet": lambda: FRAME.to_parquet(path),
            "feather": lambda: FRAME.to_feather(path),
            "npy": lambda: np.save(path, X),
        }
        write[ending]()
        found, expected = lm.select(str(path), 3), lm.select(FRAME, 3)
        assert found.indices.tolist() == expected.indices.tolist()
        if ending != "npy":
            assert found.chosen_names == expected.chosen_names

    @pytest.mark.parametrize("ending", ["csv", "xlsx", "parquet"])
    def test_fault_81_text_in_a_file_is_refused_or_left_out(self, tmp_path, ending):
        path = tmp_path / f"my.{ending}"
        table = FRAME.assign(name="Ann", city="Rome")
        {"csv": table.to_csv, "xlsx": table.to_excel, "parquet": table.to_parquet}[ending](
            path, index=False
        )
        with pytest.raises(ValueError, match=r"'name' .*'city' .*numeric_only=True"):
            lm.select(path, 2)
        with pytest.warns(UserWarning, match="numeric_only leaves out 2 of 10 columns"):
            assert lm.select(path, 2, numeric_only=True).n == 8

    def test_a_file_that_is_not_there_is_answered_with_one_that_is(self, tmp_path):
        FRAME.to_csv(tmp_path / "tumours.csv")
        with pytest.raises(FileNotFoundError, match=r"did you mean 'tumours\.csv'\?"):
            lm.select(tmp_path / "tumors.csv", 2)

    def test_a_sheet_is_chosen_by_its_name(self, tmp_path):
        with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
            FRAME.to_excel(book, sheet_name="first", index=False)
            FRAME[["a"]].to_excel(book, sheet_name="second", index=False)
        assert lm.data(tmp_path / "two.xlsx", array="second").names == ("a",)
        with pytest.raises(FormatError, match="did you mean 'second'"):
            lm.data(tmp_path / "two.xlsx", array="secnd")

    def test_a_damaged_workbook_is_refused(self, tmp_path):
        (tmp_path / "x.xlsx").write_bytes(b"PK\x03\x04 and no more")
        with pytest.raises(FormatError, match="cannot be read"):
            lm.select(tmp_path / "x.xlsx", 2)


class TestHowMany:
    def test_a_share_is_a_part_of_the_columns_rounded_down_as_in_column_selector(self):
        for part in (0.1, 0.25, 0.5, 0.7):
            chosen = lm.select(X, part, method="greedy").k
            assert chosen == max(1, int(part * 8))
            assert chosen == len(
                lm.ColumnSelector(part, method="greedy", center=True).fit(X).indices_
            )

    def test_a_share_of_groups_counts_groups(self):
        assert len(lm.select(X, 0.5, groups=[0, 0, 1, 1, 2, 2, 3, 3])) == 4  # two groups of two

    def test_without_k_the_error_says_what_it_may_be(self):
        with pytest.raises(TypeError, match=r"got None; it may also be a share such as 0\.1"):
            lm.select(X)

    def test_one_number_for_a_path_means_all_up_to_it(self):
        assert lm.path(X, 4).ks.tolist() == [1, 2, 3, 4]
        assert lm.held_out(X, 2).ks.tolist() == [1, 2]

    def test_a_path_of_something_else_is_refused(self):
        with pytest.raises(TypeError, match="one number k for 1, 2, …, k"):
            lm.path(X, "ten")


LABELS = {
    "strings": list("abcdefgh"),
    "numbers": range(10, 18),
    "two levels": pd.MultiIndex.from_product([["u", "v"], [1, 2, 3, 4]]),
    "dates": pd.date_range("2026-01-01", periods=8),
}


class TestLabels:
    @pytest.mark.parametrize("kind", LABELS)
    def test_fault_81_they_come_back_as_they_were_and_index_the_frame(self, tmp_path, kind):
        frame = pd.DataFrame(X, columns=LABELS[kind])
        s = lm.select(frame, 3)
        np.testing.assert_array_equal(frame[s.chosen_names].to_numpy(), X[:, s.indices])
        s.save(tmp_path / "run.npz")
        back = lm.load(tmp_path / "run.npz").chosen_names
        assert back == s.chosen_names and isinstance(back, list)
        np.testing.assert_array_equal(frame[back].to_numpy(), X[:, s.indices])

    @pytest.mark.parametrize("kind", LABELS)
    def test_a_column_selector_keeps_them_too(self, kind):
        frame = pd.DataFrame(X, columns=LABELS[kind])
        selector = lm.ColumnSelector(3, method="greedy", center=True).fit(frame)
        chosen = frame[selector.selection_.chosen_names].to_numpy()
        np.testing.assert_array_equal(chosen, X[:, selector.indices_])

    def test_include_takes_any_label_but_whole_numbers_which_are_places(self):
        frame = pd.DataFrame(X, columns=LABELS["two levels"])
        assert 6 in lm.select(frame, 2, include=[("v", 3)]).indices
        dates = pd.DataFrame(X, columns=LABELS["dates"])
        assert 1 in lm.select(dates, 2, include=[pd.Timestamp("2026-01-02")]).indices
        numbers = pd.DataFrame(X, columns=LABELS["numbers"])
        assert 5 in lm.select(numbers, 2, include=[5]).indices

    def test_data_without_names_have_none(self):
        assert lm.select(X, 2).chosen_names is None


def test_a_file_called_zarr_is_opened_as_zarr_and_not_guessed_from_its_bytes(tmp_path):
    pytest.importorskip("zarr", reason="needs zarr")
    FRAME.to_csv(tmp_path / "X.zarr", index=False)
    with pytest.raises(
        FormatError, match=r"^X\.zarr: this is a file, and a Zarr store is a folder"
    ):
        lm.select(tmp_path / "X.zarr", 2)


@pytest.mark.parametrize(
    ("ending", "kind"), [(".npy", "npy header"), (".h5", "HDF5 file"), (".parquet", "Parquet file")]
)
def test_a_file_that_is_not_what_its_ending_says_is_named(ending, kind, tmp_path):
    if ending == ".h5":
        pytest.importorskip("h5py", reason="needs h5py")
    FRAME.to_csv(tmp_path / f"X{ending}", index=False)
    with pytest.raises(FormatError, match=rf"^X\{ending}: the {kind} cannot be read: "):
        lm.select(tmp_path / f"X{ending}", 2)
