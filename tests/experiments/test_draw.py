"""Figures are drawn from tables alone, with labelled logarithmic axes and one legend."""

import math

import pytest

from landmarks.experiments.claims import Mean, claims_of, means, quotient, write_summary
from landmarks.experiments.draw import draw, draw_means, draw_ratios
from landmarks.experiments.run import complete
from landmarks.experiments.settings import read_settings
from landmarks.experiments.table import ResultsFile, Row, read_rows

from .tiny import tiny

pytest.importorskip("matplotlib")


def row(label, k, seed, factor):
    return Row(
        "figure3",
        "residential",
        "",
        label,
        f"{label}()",
        k,
        seed,
        "trace",
        n=109,
        value=2 * factor,
        best=2.0,
        factor=factor,
        seconds=1.0,
        products=7,
    )


ROWS = [
    row(label, k, seed, 1 + k / 10 + seed)
    for label in ("uniform", "greedy", "auto", "continuous")
    for k in (5, 10)
    for seed in (0, 1)
]


@pytest.mark.parametrize("name", ["figure1", "figure3"])
def test_a_figure_is_written_as_png_and_svg_and_again_the_same(name, tmp_path):
    figure = tiny(name, only=["uniform", "greedy"])
    complete(figure, tmp_path, "cpu", None)
    png, svg, *_ = draw(figure, tmp_path)
    assert png.read_bytes()[:4] == b"\x89PNG"
    first = svg.read_bytes()
    draw(figure, tmp_path)
    assert svg.read_bytes() == first


def test_the_axes_are_labelled_logarithmic_and_share_one_legend():
    drawn = draw_means(read_settings("figure3"), ROWS)
    (ax,) = drawn.axes
    assert (
        ax.get_yscale() == "log"
        and ax.get_xlabel() == "k"
        and ax.get_ylabel() == "error / best rank-k error"
        and ax.get_title() == "Residential"
    )
    assert len(drawn.legends) == 1 and ax.get_legend() is None
    assert [text.get_text() for text in drawn.legends[0].get_texts()] == [
        "continuous",
        "uniform",
        "greedy",
        "auto",
    ]


def test_ratios_leave_sampling_out_and_put_greedy_at_one():
    (ax,) = draw_ratios(read_settings("figure3"), ROWS).axes
    drawn = {line.get_label(): line[0].get_ydata() for line in ax.containers}
    assert set(drawn) == {"continuous", "greedy", "auto"} and all(drawn["greedy"] == 1.0)


def test_means_have_the_standard_error_of_the_mean():
    found = means(ROWS, "factor")["residential", "", "uniform", 5]
    assert (found.value, found.trials) == (2.0, 2) and found.error == pytest.approx(0.5)
    assert math.isnan(means(ROWS[:1], "factor")["residential", "", "uniform", 5].error)


def test_a_ratio_of_means_has_the_error_of_both():
    assert quotient(Mean(2.0, 0.2, 5, 0, 0), Mean(1.0, 0.0, 2, 0, 0)) == "2.000 ± 0.200"
    assert quotient(Mean(2.0, math.nan, 1, 0, 0), Mean(1.0, math.nan, 1, 0, 0)) == "2.000"


def test_the_claims_are_computed_from_the_tables(tmp_path):
    ResultsFile(tmp_path / "figure3.csv").append(ROWS)
    lines = list(claims_of(tmp_path))
    assert any(
        line.startswith("| Residential | 10 | 0.0917 | 1.000 ± 0.283 | 1.000 ± 0.283 |")
        for line in lines
    )
    assert (
        "- continuous against the best sampling method: lower error in 0 of 2 cells, ratios "
        "from 1.000 to 1.000" in lines
    )
    assert any("figure4: no table in" in line for line in lines)


def test_the_summary_has_a_line_for_each_k(tmp_path):
    ResultsFile(tmp_path / "figure3.csv").append(ROWS)
    text = write_summary(read_settings("figure3"), tmp_path).read_text()
    assert "| 5 | 2.00 ± 0.50 | 2.00 ± 0.50 |" in text and "| trials | 2 | 2 |" in text


def test_drawing_without_a_table_says_what_to_run(tmp_path):
    with pytest.raises(
        FileNotFoundError,
        match="figure2.csv does not exist; run `landmarks reproduce figure2` first",
    ):
        draw(read_settings("figure2"), tmp_path)


def test_reading_rows_needs_no_data(tmp_path):
    ResultsFile(tmp_path / "figure3.csv").append(ROWS)
    assert len(read_rows(tmp_path / "figure3.csv")) == len(ROWS)
