"""Errors on matrices that are hard for rounding; `python tests/gallery.py` prints the ratios."""

import pytest
from contracts.methods import CONTRACT
from gallery import cases, ratios
from properties.measure import THRESHOLD

pytestmark = pytest.mark.thorough

FAST = [
    entry
    for entry in CONTRACT
    if repr(entry) in ("Uniform()", "PivotedQR()", "Greedy()", "RPCholesky()")
]


@pytest.mark.parametrize(
    ("sample", "form"),
    [pytest.param(sample, form, id=f"{name}-{form}") for name, sample, form in cases()],
)
def test_the_errors_of_the_gallery_are_exact_up_to_rounding(sample, form):
    assert max(max(ratios(sample, form, entry)) for entry in FAST) < THRESHOLD


@pytest.mark.slow
@pytest.mark.parametrize("entry", CONTRACT, ids=repr)
def test_every_method_keeps_the_threshold_on_the_whole_gallery(entry):
    assert max(max(ratios(sample, form, entry)) for _, sample, form in cases()) < THRESHOLD
