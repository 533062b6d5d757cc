"""The reference: every public function says what it returns; sentences are not cut into types."""

import importlib.util
import inspect
import re
from pathlib import Path

import pytest

import landmarks as lm

DOCS = Path(__file__).parent.parent.parent / "docs"
FUNCTIONS = sorted(name for name in lm.__all__ if inspect.isfunction(getattr(lm, name)))


def extension(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_public_function_says_what_it_takes_and_returns_with_an_example(name):
    text = inspect.getdoc(getattr(lm, name))
    for section in ("Parameters", "Returns", "Examples"):
        assert f"{section}\n{'-' * len(section)}\n" in text, section


def test_a_description_stays_one_sentence_below_its_name():
    lines = inspect.getdoc(lm.select).splitlines()
    result = extension("parameters").described(lines)
    place = result.index("center")
    assert result[place + 1] == "    whether to subtract the mean of each column first."
    assert result[result.index("include, exclude") + 1].startswith("    candidates that must")
    assert not [line for line in result if re.match(r"^\w+ : ", line)]


def test_formulas_need_no_network_and_none_is_preformatted():
    mathml = pytest.importorskip("latex2mathml.converter", reason="needs latex2mathml")
    for page in ("theory.md", "annealed.md"):
        text = (DOCS / page).read_text(encoding="utf-8")
        for formula in re.findall(r"\$\$(.+?)\$\$", text, re.S):
            assert mathml.convert(formula, display="block").startswith("<math")
    theory = (DOCS / "theory.md").read_text(encoding="utf-8")
    assert not re.search(r"^    .*\w_\w", theory, re.M)
    assert "mathjax" not in (DOCS / "conf.py").read_text(encoding="utf-8")


def test_the_landing_page_has_a_picture_and_three_doors():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    assert "images/terminal-select.png" in text
    assert "| Columns of a table | Landmarks of a kernel | In a pipeline |" in text
