"""Where a method must be named: each test says which methods are missing in one place."""

import importlib
import pkgutil
import re
from pathlib import Path

import pytest
from contracts.methods import METHODS as CONTRACT

import landmarks as lm
import landmarks.methods
from landmarks.methods.registry import COMPARED, METHODS, as_method

ROOT = Path(__file__).parents[2]
CLASSES = {name: METHODS[name].__name__ for name in METHODS}
NEED_AN_ARGUMENT = {"Supervised"}  # has no name: it is made with a target
PARTS_OF_AUTO = {"Merged", "Osinsky"}


def text(path):
    return (ROOT / path).read_text(encoding="utf-8")


PLACES = {
    "README.md, the table of methods": lambda name, cls: f"\n| `{name}` |" in text("README.md"),
    "docs/methods.md, the table of costs": lambda name, cls: (
        name == "auto" or f"\n| `{name}`" in text("docs/methods.md")
    ),
    "docs/api.rst": lambda name, cls: f"   landmarks.{cls}\n" in text("docs/api.rst"),
    "landmarks.__all__": lambda name, cls: cls in lm.__all__,
    "tests/contracts/methods.py": lambda name, cls: (
        cls in {type(entry.method).__name__ for entry in CONTRACT}
    ),
    "tests/typing/user_script.py": lambda name, cls: re.search(
        rf"\blm\.{cls}\(", text("tests/typing/user_script.py")
    ),
    "a docstring whose first line is a sentence": lambda name, cls: re.match(
        r"[^\n]+\.(\n|$)", METHODS[name].__doc__ or ""
    ),
}


@pytest.mark.parametrize("place", PLACES)
def test_every_registered_method_is_named_in(place):
    assert [name for name, cls in CLASSES.items() if not PLACES[place](name, cls)] == []


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


def test_a_method_is_found_by_its_name_or_is_itself():
    assert len(METHODS) == len(list(METHODS)) == 15
    assert as_method("greedy") == lm.Greedy()
    mine = lm.Swap(max_swaps=3)
    assert as_method(mine) is mine


def test_what_is_no_method_is_answered_with_those_that_are():
    with pytest.raises(ValueError, match=r"one of auto, continuous.* got 'gredy'.*greedy"):
        as_method("gredy")
    for wrong in (lm.Greedy, 3, None):
        with pytest.raises(TypeError, match=r"a name or a method object such as Greedy\(\), got"):
            as_method(wrong)
