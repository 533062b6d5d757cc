"""The paper's figures: settings as in the paper, tables that survive a stop, drawings of tables.

Each figure is run tiny: its own methods on a small data set and two sizes.
"""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import landmarks as lm
from paper.data import SOURCES, standardised
from paper.draw import draw, draw_means
from paper.run import run
from paper.settings import FIGURES, read_settings
from paper.table import ResultsFile, Row, claims, means, read_rows, write_summary

pytestmark = pytest.mark.thorough


def tiny(name, rows=None, trials=1, only=()):
    figure = read_settings(name, quick=True)
    if name == "figure1":
        return replace(figure, options=dict(figure.options) | {"dataset": "wine", "at_most": 5})
    panels = tuple(
        replace(panel, dataset="wine", k=(3, 5), rows=rows, trials={})
        for panel in figure.panels[:1]
    )
    entries = tuple(entry for entry in figure.entries if not only or entry.label in only)
    return replace(figure, panels=panels, entries=entries, trials=trials)


class TestSettings:
    def test_the_panels_are_those_of_the_paper(self):
        shown = {
            name: [(panel.dataset, panel.sigma) for panel in read_settings(name).panels]
            for name in FIGURES[1:]
        }
        assert shown == {
            "figure2": [
                ("residential", 1.0),
                ("residential", 5.0),
                ("mnist1k", 10.0),
                ("mnist1k", 20.0),
            ],
            "figure3": [
                ("residential", None),
                ("mnist1k", None),
                ("arrhythmia", None),
                ("secom", None),
            ],
            "figure4": [("powerplant", 0.5), ("htru2", 0.5), ("protein", 0.5)],
        }

    @pytest.mark.parametrize("name", FIGURES[1:])
    @pytest.mark.parametrize("quick", [True, False])
    def test_every_method_can_be_made(self, name, quick):
        figure = read_settings(name, quick=quick)
        labels = [entry.label for entry in figure.entries]
        paper = {"continuous", "uniform", "leverage scores", "k-DPP", "greedy"}
        ours = {"annealed", "auto", "swap from greedy", "nuclear scores"}
        assert paper | ours <= set(labels) and len(set(labels)) == len(labels)
        assert all(entry.method() for entry in figure.entries)
        for panel in figure.panels:
            assert panel.sigma or max(panel.k) < min(SOURCES[panel.dataset].shape)
            assert set(panel.trials) <= set(labels)

    def test_a_data_set_that_the_figure_has_not_is_reported(self):
        with pytest.raises(
            ValueError, match="figure4 has no data set wine; it has powerplant, htru2, protein"
        ):
            read_settings("figure4", only=["wine"])
        (panel,) = read_settings("figure4", only=["htru2"]).panels
        assert panel.dataset == "htru2"


class TestRun:
    @pytest.mark.parametrize("name", ["figure2", "figure3", "figure4"])
    def test_every_method_gives_rows_that_no_choice_can_undercut(self, name, tmp_path):
        figure = tiny(name, rows=40)
        rows = read_rows(run(figure, tmp_path))
        assert {row.label for row in rows} == {entry.label for entry in figure.entries}
        for row in rows:
            assert row.value > 0 and row.seconds > 0 and not row.skip
            assert "landmarks" in row.versions and row.device.startswith("cpu")
            assert row.factor is None or row.factor >= 1 - 1e-9
        best = {k: min(row.value for row in rows if row.k == k) for k in (3, 5)}
        assert all(row.value <= best[row.k] * 1.02 for row in rows if row.label == "auto")

    def test_a_row_holds_what_select_finds(self, tmp_path):
        rows = read_rows(run(tiny("figure3", trials=2, only=["uniform"]), tmp_path))
        (row,) = [row for row in rows if (row.k, row.seed) == (3, 1)]
        expected = lm.select(standardised("wine"), 3, method="uniform", seed=1)
        assert row.value == pytest.approx(expected.error(), rel=1e-7)
        assert row.factor == pytest.approx(expected.factor(), rel=1e-7)

    def test_a_run_that_is_stopped_keeps_its_rows_and_goes_on(self, tmp_path):
        figure = tiny("figure3", trials=3, only=["uniform", "leverage scores", "greedy"])

        def stop(done, total):
            if done == 5:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            run(figure, tmp_path, progress=stop)
        before = (tmp_path / "figure3-quick.csv").read_bytes()
        assert len(read_rows(tmp_path / "figure3-quick.csv")) == 5
        after = run(figure, tmp_path).read_bytes()
        assert after.startswith(before) and len(after) > len(before)
        assert run(figure, tmp_path, data_dir="no such folder").read_bytes() == after

    def test_what_cannot_be_run_is_a_row_with_its_reason_and_is_tried_again(self, tmp_path):
        figure = tiny("figure4", rows=40, only=["uniform", "greedy"])
        asked = replace(figure, panels=(replace(figure.panels[0], needs="cuda"),))
        table = run(asked, tmp_path)
        reason = "n = 40 is run on a graphics card only: --device cuda"
        assert {row.skip for row in read_rows(table)} == {reason}
        once = table.read_bytes()
        assert run(asked, tmp_path).read_bytes() == once
        assert all(row.value for row in read_rows(run(figure, tmp_path)))

    def test_a_method_that_takes_too_long_above_a_size_says_so(self, tmp_path):
        figure = tiny("figure4", rows=40, only=["k-DPP"])
        few = replace(figure, entries=(replace(figure.entries[0], at_most=10),))
        assert {row.skip for row in read_rows(run(few, tmp_path))} == {
            "a k-DPP takes the eigenvectors of the stored matrix, not run above n = 10"
        }

    def test_the_paths_of_the_first_figure_begin_at_one_half(self, tmp_path):
        rows = read_rows(run(tiny("figure1"), tmp_path))
        assert [row.label for row in rows] == ["GD 10", "SGD 10", "GD 1000", "SGD 1000"]
        lines = (tmp_path / "figure1-quick-gd-10.csv").read_text().splitlines()
        assert lines[0].count(",") == 5
        assert np.allclose([float(t) for t in lines[1].split(",")[1:]], 0.5)

    def test_a_device_that_is_not_there_is_reported(self, tmp_path):
        with pytest.raises((ValueError, ImportError), match="device must be|needs torch"):
            run(tiny("figure4"), tmp_path, device="tpu")

    def test_processes_side_by_side_give_the_same_rows(self, tmp_path):
        figure = tiny("figure3", trials=2, only=["uniform", "greedy"])
        one, two = (read_rows(run(figure, tmp_path / str(jobs), jobs=jobs)) for jobs in (1, 2))
        assert {row.key: row.value for row in one} == {row.key: row.value for row in two}


ROW = Row("figure3", "wine", "", "greedy", "Greedy()", 3, 0, "trace", n=13, value=1.25, products=3)


class TestTable:
    def test_a_line_that_was_cut_off_is_dropped_and_written_over(self, tmp_path):
        path = tmp_path / "t.csv"
        ResultsFile(path).append([ROW])
        whole = path.read_bytes()
        path.write_bytes(whole + b"figure3,wine,,gre")
        assert len(read_rows(path)) == 1
        ResultsFile(path).append([replace(ROW, seed=1)])
        assert [row.seed for row in read_rows(path)] == [0, 1]
        assert path.read_bytes().startswith(whole)

    def test_another_file_is_refused(self, tmp_path):
        (tmp_path / "t.csv").write_text("a,b\n1,2\n")
        with pytest.raises(
            ValueError, match=r"t.csv is not a table of this version: its columns are \['a', 'b'\]"
        ):
            ResultsFile(tmp_path / "t.csv")


def row(label, k, seed, factor):
    made = Row("figure3", "residential", "", label, f"{label}()", k, seed, "trace", n=109)
    return replace(made, value=2 * factor, best=2.0, factor=factor, seconds=1.0, products=7)


ROWS = [
    row(label, k, seed, 1 + k / 10 + seed)
    for label in ("uniform", "greedy", "auto", "continuous")
    for k in (5, 10)
    for seed in (0, 1)
]


class TestMeans:
    def test_they_have_the_standard_error_of_the_mean(self):
        found = means(ROWS, "factor")["residential", "", "uniform", 5]
        assert (found.value, found.trials) == (2.0, 2) and found.error == pytest.approx(0.5)
        assert math.isnan(means(ROWS[:1], "factor")["residential", "", "uniform", 5].error)

    def test_the_claims_are_computed_from_the_tables(self, tmp_path):
        ResultsFile(tmp_path / "figure3.csv").append(ROWS)
        text = "\n".join(claims(tmp_path))
        assert "| Residential | 10 | 0.0917 | 1.000 ± 0.283 | 1.000 ± 0.283 |" in text
        assert (
            "- continuous against the best sampling method: lower error in 0 of 2 cells, ratios "
            "from 1.000 to 1.000\n" in text
        )
        assert "figure4: no table in" in text

    def test_the_summary_has_a_line_for_each_k(self, tmp_path):
        skipped = replace(row("k-DPP", 5, 0, 1.0), factor=None, value=None, skip="too large")
        ResultsFile(tmp_path / "figure3.csv").append([*ROWS, skipped])
        text = write_summary(read_settings("figure3"), tmp_path).read_text()
        assert "| 5 | 2.00 ± 0.50 | 2.00 ± 0.50 |" in text and "| trials | 2 | 2 |" in text
        assert "- k-DPP: too large\n" in text

    def test_the_published_summaries_and_claims_are_those_of_the_published_tables(self, tmp_path):
        published = Path(__file__).parents[2] / "docs" / "results" / "figures"
        for name in FIGURES[1:]:
            (tmp_path / f"{name}.csv").write_bytes((published / f"{name}.csv").read_bytes())
            made = write_summary(read_settings(name), tmp_path).read_text(encoding="utf-8")
            assert made == (published / f"{name}.md").read_text(encoding="utf-8")
        page = " ".join((published.parent / "claims.md").read_text(encoding="utf-8").split())
        assert [line for line in claims(published) if line not in page] == []


class TestDraw:
    @pytest.fixture(autouse=True)
    def matplotlib(self):
        pytest.importorskip("matplotlib")

    @pytest.mark.parametrize("name", ["figure1", "figure3"])
    def test_a_figure_is_written_as_png_and_svg_and_again_the_same(self, name, tmp_path):
        figure = tiny(name, only=["uniform", "greedy"])
        run(figure, tmp_path)
        png, svg, *_ = draw(figure, tmp_path)
        assert png.read_bytes()[:4] == b"\x89PNG"
        first = svg.read_bytes()
        draw(figure, tmp_path)
        assert svg.read_bytes() == first

    def test_the_axes_are_labelled_logarithmic_and_share_one_legend(self):
        drawn = draw_means(read_settings("figure3"), ROWS)
        (ax,) = drawn.axes
        labels = (ax.get_yscale(), ax.get_xlabel(), ax.get_ylabel(), ax.get_title())
        assert labels == ("log", "k", "error / best rank-k error", "Residential")
        (legend,) = drawn.legends
        shown = [text.get_text() for text in legend.get_texts()]
        assert ax.get_legend() is None and shown == ["continuous", "uniform", "greedy", "auto"]
