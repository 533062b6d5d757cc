"""The page of a report: true numbers, no script from the data, and small enough to share."""

import ast
import json
import re

import numpy as np
import pytest

import landmarks as lm
from landmarks.report.html_page import Origin, page
from landmarks.report.overview import summarise
from landmarks.report.sentences import percent

pytestmark = pytest.mark.thorough

pytest.importorskip("jinja2", reason="needs Jinja2")
RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 3)) @ RNG.standard_normal((3, 9)) + 0.2 * RNG.standard_normal((40, 9))
HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script><b>",
    "x" * 10_000,
    "\u202ertl",
    "nul\0",
    "",
    "a",
    "a",
]


def named(names=tuple("abcdefghi"), method="annealed"):
    operator = lm.data(X)
    operator.names = tuple(names)
    return lm.select(operator, 3, method=method)


@pytest.fixture(scope="module")
def html():
    return page(named())


def test_the_headline_numbers_are_those_of_the_selection(html):
    selection = named()
    summary = summarise(selection)
    assert f"<em>{percent(1 - selection.relative_error())}</em>" in html
    assert f"<b>{percent(1 - selection.best_rank_error() / selection.total())}</b>" in html
    assert f"<b>{percent(summary.random)}</b>" in html


def test_what_the_scripts_draw_is_what_was_computed(html):
    data = json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html)[1]
    )
    curve = lm.path(lm.data(X), data["curve"]["k"])
    np.testing.assert_allclose(data["curve"]["greedy"], 100 * curve.relative, rtol=1e-4)
    assert data["order"] == named().indices.tolist()
    assert len(data["path"]["column"]) == 9


def test_together_is_the_error_of_each_beginning():
    selection = named()
    errors = [lm.select(X, j, include=selection.indices[:j]).relative_error() for j in (1, 2, 3)]
    np.testing.assert_allclose(summarise(selection).together, 1 - np.array(errors), atol=1e-12)


def test_names_are_escaped_wherever_they_stand():
    html = page(named(HOSTILE))
    assert "<script>alert" not in html and "<img" not in html and "</script><b>" not in html
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "\0" not in html and len(html) < 200_000


def test_the_policy_names_the_two_scripts_and_the_style_and_nothing_else(html):
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', html)[1]
    assert policy.startswith("default-src &#39;none&#39;; script-src &#39;sha256-")
    assert policy.count("sha256-") == 3
    assert "unsafe" not in policy and "http" not in policy


def test_the_page_names_no_address_that_could_be_fetched(html):
    assert not re.search(r"""(src|href|action)\s*=\s*["']?(https?:)?//""", html)
    assert "@import" not in html and "url(" not in html


def test_landmarks_of_a_kernel_and_sparse_columns_have_a_page():
    kernel = lm.select(lm.kernel(X, lm.rbf(sigma=3.0)), 4, method="greedy", criterion="frobenius")
    assert "4 of 40 landmarks keep" in page(kernel)
    import scipy.sparse

    assert "3 of 9 columns keep" in page(
        lm.select(scipy.sparse.csr_array(np.where(X > 0.5, X, 0)), 3)
    )


def test_a_wrong_size_of_images_is_reported(tmp_path):
    with pytest.raises(ValueError, match="images of 4 × 4 have 16 pixels, the data have 9 columns"):
        named().report(tmp_path / "page.html", image=(4, 4))


def test_a_page_that_exists_is_not_replaced_unless_that_is_asked_for(tmp_path):
    path = tmp_path / "page.html"
    path.write_text("mine")
    with pytest.raises(FileExistsError, match="exists already; overwrite=True replaces it"):
        named().report(path)
    named().report(path, overwrite=True, image=(3, 3), title="nine pixels")
    assert "nine pixels" in path.read_text(encoding="utf-8")


def test_a_proved_choice_names_others_that_are_about_as_good():
    html = page(lm.select(np.diag([3.0, 2.0, 2.0, 2.0, 1.0]), 3))
    assert "3 choices of 3 are within 1% of the best; &#39;0&#39; is in all of them." in html


def test_a_large_kernel_is_reported_without_the_best_directions():
    points = np.random.default_rng(0).standard_normal((3100, 2)).astype(np.float32)
    selection = lm.select(lm.kernel(points, lm.rbf(sigma=2.0)), 5, method="greedy")
    assert summarise(selection, draws=2).best is None
    html = page(selection)
    assert "directions, at best" not in html and "5 of 3100 landmarks keep" in html


def text_of(html):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", "", html.split("<body>")[1].split("<script")[0]))


def test_the_headline_names_the_columns(html):
    head = html[html.index('class="answer"') :]
    for j in named().indices:
        assert f"<bdi>{named().names[j]}</bdi>" in head[: head.index("</p>")]


def test_a_poor_result_is_reported_as_poor():
    X = np.random.default_rng(0).standard_normal((40, 12))
    words = text_of(page(lm.select(X, 2)))
    assert "Together these 2 columns reproduce only" in words
    assert "the other 10 carry much information that the choice does not" in words


def test_one_column_and_all_columns_read_well():
    X = np.random.default_rng(0).standard_normal((40, 5)) * [9, 1, 1, 1, 1]
    one, every = (text_of(page(lm.select(X, k))) for k in (1, 5))
    assert "1 of 5 columns keeps" in one and "This column reproduces" in one
    assert "All 5 columns were chosen, so nothing is lost." in every
    assert "other choice" not in every and "best choice" not in every and "the other 0" not in every


def test_the_page_has_no_jargon():
    settings = {"missing": "error", "seed": 0, "k": 3}
    words = text_of(page(named(), origin=Origin(settings=settings)))
    for phrase in ("products with K", "of K read", "missing", "trace", "is there again"):
        assert phrase not in words
    assert "the squared error of rebuilding everything" in words


def test_without_scripts_the_drawings_are_there_with_labels(html):
    drawings = re.findall(r'<div class="drawn[^>]*>(.*?)</div>', html, re.S)
    assert len(drawings) == 2 and all("<svg" in drawing for drawing in drawings)
    for j in named().indices:
        assert named().names[j] in drawings[1]
    assert "style=" not in "".join(drawings)  # the content security policy would drop it


def test_the_map_names_its_rows_and_up_to_forty_of_the_others(html):
    heat = re.findall(r'<div class="drawn[^>]*>(.*?)</div>', html, re.S)[-1]
    assert sorted(re.findall(r">(\w)</text>", heat)) == list("abcdefghi")
    many = lm.select(RNG.standard_normal((60, 50)), 2, method="greedy")
    heat = re.findall(r'<div class="drawn[^>]*>(.*?)</div>', page(many), re.S)[-1]
    assert len(re.findall("<text", heat)) == 2


def test_the_list_can_be_downloaded(html):
    import base64
    import csv
    import io

    found = dict(re.findall(r'download="chosen\.(\w+)" href="data:[^,]*base64,([^"]+)"', html))
    files = {ending: base64.b64decode(packed).decode() for ending, packed in found.items()}
    s = named()
    assert json.loads(files["json"]) == {"indices": s.indices.tolist(), "names": s.chosen_names}
    assert [row[2] for row in csv.reader(io.StringIO(files["csv"]))][1:] == s.chosen_names
    name, _, value = files["py"].partition(" = ")
    assert name == "chosen" and ast.literal_eval(value) == s.chosen_names


def test_characters_that_turn_the_direction_are_shown_as_such():
    html = page(named(["\u202eevil", "\u2066isolated", *"cdefghi"]))
    assert "\u202e" not in html and "\u2066" not in html
    assert "\ufffdevil" in html


def test_the_page_says_what_made_it(html):
    assert f"Made by landmarks {lm.__version__}" in html


def test_what_holds_no_information_is_called_constant(tmp_path):
    X = RNG.standard_normal((30, 6))
    X[:, 4] = 7.0
    with pytest.warns(lm.errors.ConstantWarning):
        centred = lm.select(X, 2, center=True)
    words = text_of(page(centred, origin=Origin(filled=12)))
    assert "constant" in words and "100.0" not in words
    assert "12 missing values filled in" in words
    X[:, 4] = 0.0
    assert "all zero" in text_of(page(lm.select(X, 2)))


def test_a_design_is_reported_in_nats_with_its_efficiency():
    X = np.random.default_rng(0).standard_normal((4, 60))
    s = lm.select(X, 12, criterion="logdet", noise=1.0, method="greedy", scale=False)
    html = page(s).replace("\u202f", "")
    efficiency = 100 * np.exp(-s.gap() / 4)  # of four parameters
    said = float(re.search(r"the D-efficiency is at least ([\d.]+)%", html)[1])
    assert efficiency - 0.1 < said <= efficiency
    assert f"{-s.error():.6g}" in html
    assert "minus the log determinant" in html  # which is what was minimised
    assert str(s.summary()).splitlines()[-2].endswith(f"{said}%.")
    assert f"{said}%" in s.summary()._repr_html_()
    gains = [float(x) for x in re.findall(r"([\d.]+) nats</td>", html)]
    assert sum(gains) == pytest.approx(-s.error(), rel=1e-2)
