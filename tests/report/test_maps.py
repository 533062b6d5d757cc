"""Maps of the page: those of `plot`, and nothing without coordinates."""

import re

import numpy as np
import pytest

import landmarks as lm
from landmarks.report.html_page import Origin, page

pytest.importorskip("jinja2", reason="needs Jinja2")
pytest.importorskip("matplotlib", reason="needs matplotlib")

PLACES = np.random.default_rng(0).random((80, 2))
FIELDS = np.sin(np.arange(1, 9)[:, None] * PLACES.sum(axis=1))


@pytest.mark.parametrize("coordinates", [PLACES, PLACES[:, 0]])
def test_a_page_with_coordinates_has_two_maps(coordinates):
    s = lm.select(FIELDS, 4)
    html = page(s, origin=Origin(coordinates=coordinates))
    part = re.search(r'<section id="places">.*?</section>', html, re.S).group()
    assert part.count('<img src="data:image/png;base64,iVBOR') == 2
    assert "the error that is left" in part and "Crosses" not in part
    assert 'id="places"' not in page(s)


def test_a_field_of_other_candidates_is_refused(tmp_path):
    s = lm.select(FIELDS, 4)
    with pytest.raises(ValueError, match="one finite number for each of the n = 80 candidates"):
        s.report(tmp_path / "page.html", coordinates=PLACES, field=np.ones(3))
    with pytest.raises(ValueError, match="one or two numbers for each of the n = 80"):
        s.report(tmp_path / "page.html", coordinates=PLACES[:9])


def test_excluded_places_are_named():
    s = lm.select(FIELDS, 3, exclude=[4, 9], scale=False)
    assert "Crosses are places" in page(s, origin=Origin(coordinates=PLACES))
