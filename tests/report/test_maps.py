"""Maps of the page: colours of the right places, and nothing without coordinates."""

import base64
import io
import re

import numpy as np
import pytest

import landmarks as lm
from landmarks.report import page
from landmarks.report.drawings import PALETTE, colours, maps, painted
from landmarks.report.html_page import Origin

pytestmark = pytest.mark.thorough

pytest.importorskip("jinja2", reason="needs Jinja2")

PLACES = np.random.default_rng(0).random((80, 2))
FIELDS = np.sin(np.arange(1, 9)[:, None] * PLACES.sum(axis=1))


def decoded(address):
    """The pixels of a picture, read by another program."""
    image = pytest.importorskip("PIL.Image", reason="needs Pillow")
    content = base64.b64decode(address.removeprefix("data:image/png;base64,"))
    return np.asarray(image.open(io.BytesIO(content)))


def test_every_pixel_has_the_colour_of_the_nearest_place():
    places = np.array([[2.0, 2.0], [17.0, 2.0], [2.0, 17.0]])
    values = np.array([0.0, 1.0, 0.5])
    pixels = decoded(painted(places, values, 20, 20))
    for (x, y), colour in zip(places, colours(values), strict=True):
        assert pixels[int(y), int(x)].tolist() == [*colour.tolist(), 255]
    assert colours(values)[[0, 2, 1]].tolist() == PALETTE[[0, 2, 4]].astype(int).tolist()


@pytest.mark.parametrize("coordinates", [PLACES, PLACES[:, 0]])
def test_a_page_with_coordinates_has_two_maps_with_the_chosen_places(coordinates):
    s = lm.select(FIELDS, 4)
    html = page(s, origin=Origin(coordinates=coordinates))
    part = re.search(r'<section id="places">.*?</section>', html, re.S).group()
    assert part.count("<figure>") == 2
    assert part.count("<circle") == 8
    for number, j in enumerate(s.indices, 1):
        assert f"<title>{number}: {j}</title>" in part
    assert 'id="places"' not in page(s)


def test_chosen_places_lie_where_the_coordinates_say():
    s = lm.select(FIELDS, 4)
    drawn = maps(s, PLACES)[1].drawing
    found = np.array(re.findall(r'<circle cx="([\d.]+)" cy="([\d.]+)"', drawn), dtype=float)
    for axis, sign in ((0, 1.0), (1, -1.0)):
        expected = PLACES[s.indices, axis]
        assert np.corrcoef(found[:, axis], sign * expected)[0, 1] == pytest.approx(1, abs=1e-5)


def test_a_place_with_two_sensors_has_both_numbers():
    s = lm.select(lm.psd(np.diag([9.0, 0.001])), 3, noise=1.0, repeats=True)
    assert "1, 2, 3: 0" in maps(s, [[0.0, 0.0], [1.0, 1.0]])[0].drawing


def test_the_error_of_noisy_measurements_is_the_posterior_deviation():
    s = lm.select(FIELDS, 4, noise=0.5)
    highest = np.sqrt(s.posterior_variance().max() / 8)
    assert f">{highest:.3g}<" in maps(s, PLACES)[1].drawing


def test_a_field_of_other_candidates_is_refused(tmp_path):
    s = lm.select(FIELDS, 4)
    with pytest.raises(ValueError, match="one finite number for each of the n = 80 candidates"):
        s.report(tmp_path / "page.html", coordinates=PLACES, field=np.ones(3))
    with pytest.raises(ValueError, match="one or two numbers for each of the n = 80"):
        s.report(tmp_path / "page.html", coordinates=PLACES[:9])


def test_excluded_places_and_the_ranges_are_shown():
    places = np.random.default_rng(1).random((30, 2)) * [4.0, 1.0]
    fields = np.random.default_rng(2).standard_normal((8, 30))
    s = lm.select(fields, 3, exclude=[4, 9], scale=False)
    html = page(s, origin=Origin(coordinates=places))
    assert html.count('class="excluded"') == 2 and "Crosses are places" in html
    assert f"first coordinate from {places[:, 0].min():.4g}" in html
    free = page(lm.select(fields, 3, scale=False), origin=Origin(coordinates=places))
    assert "Crosses" not in free and 'class="excluded"' not in free
