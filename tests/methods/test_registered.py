"""Where a method must be named: each test says which methods are missing in one file.

The places are those of `tools/register`, which writes what is missing.
"""

import importlib
import pkgutil
import re
import runpy
from pathlib import Path

import pytest
from contracts.methods import CONTRACT

import landmarks as lm
import landmarks.methods
from landmarks.methods.registry import COMPARED, METHODS, as_method

ROOT = Path(__file__).parents[2]
CLASSES = {name: METHODS[name].__name__ for name in METHODS}
NEED_AN_ARGUMENT = {"Supervised"}  # has no name: it is made with a target
PARTS_OF_AUTO = {"Filled", "Merged", "Osinsky"}
TOOL = runpy.run_path(str(ROOT / "tools" / "register"))
PLACES = [(name, place) for name in METHODS for place in TOOL["places"](name)]


@pytest.mark.parametrize("file", sorted({place.file for _, place in PLACES}))
def test_every_registered_method_is_named_in(file):
    """Run tools/register if this fails."""
    assert [name for name, place in PLACES if place.file == file and place.missing()] == []


@pytest.mark.parametrize("section", ["", "\n### Added\n\n- Old.\n", "\n### Fixed\n\n- Old.\n"])
def test_a_new_method_is_announced_with_the_next_version(section, tmp_path, monkeypatch):
    page, released = tmp_path / "CHANGELOG.md", "## [0.1.0]\n\n### Added\n\n- Older.\n"
    page.write_text(f"# Changelog\n\n## [Unreleased]\n{section}\n{released}", encoding="utf-8")
    monkeypatch.setitem(TOOL["change"].__globals__, "ROOT", tmp_path)
    TOOL["change"]("exact").write()
    text = page.read_text(encoding="utf-8")
    assert text.endswith(f"\n\n{released}") and text.count("- `exact`: ") == 1
    assert "\n\n### Added\n\n- `exact`: " in text.removesuffix(released)


def test_the_costs_of_every_method_are_filled_in():
    table = (ROOT / "docs" / "methods.md").read_text(encoding="utf-8")
    assert re.findall(r"^\| `(\w+)`.*TODO", table, re.M) == []


def test_every_method_is_public_and_says_in_a_sentence_what_it_does():
    assert set(CLASSES.values()) <= set(lm.__all__)
    said = {name: METHODS[name].__doc__ or "" for name in METHODS}
    assert [name for name in said if not re.match(r"[^\n]+\.(\n|$)", said[name])] == []


def test_every_method_is_under_contract():
    assert set(CLASSES.values()) <= {type(entry.method).__name__ for entry in CONTRACT}


def test_every_method_that_is_compared_by_default_is_registered():
    assert [name for name in COMPARED if name not in METHODS] == []


def written():
    """Every class of landmarks.methods that can choose and says what it honours."""
    package = landmarks.methods
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        module = importlib.import_module(found.name)
        for name, thing in vars(module).items():
            ours = getattr(thing, "__module__", "") == module.__name__
            if ours and isinstance(thing, type) and {"choose", "honours"} <= set(vars(thing)):
                yield name


def test_every_class_that_chooses_is_registered():
    unnamed = set(written()) - set(CLASSES.values()) - NEED_AN_ARGUMENT - PARTS_OF_AUTO
    assert sorted(unnamed) == []


def test_anything_but_a_method_is_answered_with_the_known_methods():
    with pytest.raises(ValueError, match=r"one of auto, continuous.* got 'gredy'.*greedy"):
        as_method("gredy")
    for wrong in (lm.Greedy, 3, None):
        with pytest.raises(TypeError, match=r"a name or a method object such as Greedy\(\), got"):
            as_method(wrong)
