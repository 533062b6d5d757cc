"""The reference: every public name has its parameters, what it returns, and an example."""

import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path

import pytest

import landmarks as lm
from landmarks.how_many.curve import Rule
from landmarks.placement import Constraint
from landmarks.problem import Method

DOCS = Path(__file__).parent.parent.parent / "docs"
# What these ask of a class is said once, where they are defined.
UNWRITTEN = ("self", "unknown")  # `unknown` takes misspelt arguments, to answer them
PROTOCOLS = (Method, Rule, Constraint)
PROTOCOL = {name for protocol in PROTOCOLS for name in vars(protocol) if name[0] != "_"}


def extension(name):
    spec = importlib.util.spec_from_file_location(name, DOCS / "_ext" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def own_members(cls):
    """The public functions and properties of a class that this package wrote."""
    for name in sorted(dir(cls)):
        member = inspect.getattr_static(cls, name)
        function = member.fget if isinstance(member, property) else member
        ours = getattr(function, "__module__", None) or ""
        if name[0] != "_" and inspect.isroutine(function) and ours.startswith("landmarks"):
            yield name, member


PUBLIC = {name: getattr(lm, name) for name in lm.__all__}
BELOW = re.findall(r"^   (landmarks\.[a-z].*\.\w+)$", (DOCS / "api.rst").read_text(), re.M)
CLASSES = {name: thing for name, thing in PUBLIC.items() if inspect.isclass(thing)}
MEMBERS = {
    f"{owner}.{name}": member
    for owner, cls in CLASSES.items()
    for name, member in own_members(cls)
    if name not in PROTOCOL
}
METHODS = {name: member for name, member in MEMBERS.items() if inspect.isfunction(member)}
PROPERTIES = {name: member for name, member in MEMBERS.items() if isinstance(member, property)}
FUNCTIONS = {name: thing for name, thing in PUBLIC.items() if inspect.isfunction(thing)} | METHODS
DOCUMENTED = FUNCTIONS | CLASSES | {name: pkgutil.resolve_name(name) for name in BELOW}


def sections(thing):
    """The sections of a docstring, by name, each as its lines."""
    lines = inspect.getdoc(thing).splitlines()
    starts = [i for i in range(len(lines) - 1) if re.fullmatch(r"-{3,}", lines[i + 1])]
    ends = [*starts, len(lines)][1:]
    return {lines[i]: lines[i + 2 : end] for i, end in zip(starts, ends, strict=True)}


def entries(lines):
    """What a section describes: name -> the text after the colon."""
    found = [re.match(r"([\w, ]+) : (.+)", line) for line in lines]
    return {name.strip(): entry[2] for entry in found if entry for name in entry[1].split(",")}


def arguments(thing):
    return [name for name in inspect.signature(thing).parameters if name not in UNWRITTEN]


@pytest.mark.parametrize("name", DOCUMENTED)
def test_parameters_are_those_of_the_signature_in_its_order(name):
    """A record that the package makes describes its fields as attributes."""
    found = sections(DOCUMENTED[name])
    described = entries(found.get("Parameters", found.get("Attributes", [])))
    assert list(described) == arguments(DOCUMENTED[name])


@pytest.mark.parametrize("name", DOCUMENTED)
def test_the_first_line_is_a_sentence_and_there_is_an_example(name):
    thing = DOCUMENTED[name]
    assert re.match(r"\S.{8,98}\.$", inspect.getdoc(thing).splitlines()[0])
    assert any(line.startswith(">>> ") for line in sections(thing)["Examples"])


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_says_what_it_returns(name):
    """A type on a line of its own, then what it holds, indented: numpydoc shows both."""
    function = FUNCTIONS[name]
    if inspect.signature(function).return_annotation in (None, "None"):
        assert "Returns" not in sections(function)
        return
    returned = sections(function)["Returns"]
    assert re.match(r"\w", returned[0])
    assert returned[1].startswith("    ")


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_property_says_what_it_is(name):
    assert re.match(r"\S.{8,98}[.(,]?", inspect.getdoc(PROPERTIES[name]))


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_what_an_extension_must_answer_is_said_in_its_protocol(protocol):
    for name, member in own_members(protocol):
        assert inspect.getdoc(member), name


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
    doors = re.findall(r"^:::\{container\} door\n(.+)$", text, re.M)
    assert doors == ["Columns of a table", "Landmarks of a kernel", "In a pipeline"]
