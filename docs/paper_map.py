"""Write paper-map.md: which code implements each statement of the paper, and which tests show it.

python docs/paper_map.py [--check]
"""

import ast
import re
import sys
import textwrap
import tokenize
from collections import defaultdict
from functools import cache
from pathlib import Path
from tokenize import COMMENT

ROOT = Path(__file__).parents[1]
STATEMENT = re.compile(
    r"(Definition|Lemma|Algorithm|Section|Figure)s? (\d(?:\.\d)?)(?:(?:,| and| to) (\d(?:\.\d)?))*"
)
NUMBER = re.compile(r"\d(?:\.\d)?")
#: what each statement is about, and its label in the source of the paper
TITLES = {
    "Definition 2.1": ("P̃(t)", "def:p(t)"),
    "Lemma 2.2": ("corners of P̃", "lem: cnr_p"),
    "Lemma 2.3": ("continuity of P̃", "lem: cont_p"),
    "Lemma 2.4": ("∇f", "lemma: f_grad"),
    "Definition 2.5": ("K̃(t)", "Kt"),
    "Lemma 2.6": ("corners of K̃", "lem: cnr_k"),
    "Lemma 2.7": ("continuity of K̃", "lem: cont_k"),
    "Lemma 2.8": ("∇g", "lem: g_grad"),
    "Section 3.1": ("the box map", "sec: unc-transformation"),
    "Lemma 3.1": ("φ, the estimator of ∇f", "lemma: stoch_f"),
    "Lemma 3.2": ("ψ, the estimator of ∇g", "lemma: stoch_g"),
    "Algorithm 1": ("the descent", "alg: cont_landm"),
    "Section 3.4": ("small weights are frozen at zero", "sec: dim_red"),
    "Lemma 3.3": ("reduction to the active set", "lem: dim_red"),
    "Section 3.6": ("δ and λ", ""),
    "Section 4": ("the factor", "sec: emp_eval"),
    "Figure 1": ("paths of t", "fig: sol_path"),
    "Figure 2": ("Nyström factors", "fig: smallscalenys"),
    "Figure 3": ("column factors", "fig: smallscalecssp"),
    "Figure 4": ("large kernels", "fig: largescale"),
}
HEAD = """\
# The paper in the code

This page says where each statement of Mathur, Moka and Botev, *Column subset selection and Nyström
approximation via continuous optimization* (2023), is in the code and which tests check it.
`python docs/paper_map.py` writes it. For each statement it lists the code that implements it (the
first line of its docstring names the statement), other code that mentions it, and the tests that
name it. A *line* is one whose comment names the statement. *To the letter* is a dense and slow
version that follows the paper exactly; tests compare with it. Definitions and lemmas share one
counter per section. The labels in brackets are those of the paper's LaTeX source.
"""
Found = dict[str, list[str]]


def statements(text: str) -> set[str]:
    """The statements that a text names, plural forms included."""
    found = set()
    for match in STATEMENT.finditer(text):
        found |= {f"{match.group(1)} {number}" for number in NUMBER.findall(match.group(0))}
    return found & set(TITLES)


def files(*folders: str) -> list[Path]:
    """The Python files below folders of the repository."""
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def link(path: Path, text: str = "") -> str:
    """A link from the page to a file of the repository."""
    short = path.relative_to(ROOT).as_posix()
    return f"[{text or short.removeprefix('src/landmarks/')}](../{short})"


@cache
def documented(path: Path) -> list[tuple[str, str]]:
    """The name, "" for the module, and the docstring of all that is defined in a file."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef):
            found.append((getattr(node, "name", ""), ast.get_docstring(node) or ""))
    return found


def code() -> tuple[Found, Found]:
    """For each statement what implements it, and in which other places it is named."""
    implemented, named = defaultdict(list), defaultdict(list)
    for path in files("src/landmarks", "paper"):
        for name, text in documented(path):
            first = text.partition("\n")[0]
            place = f"`{name}` in {link(path)}" if name else link(path)
            for statement in statements(first):
                implemented[statement].append(f"* implemented by {place}: {first}")
            for statement in statements(text) - statements(first):
                named[statement].append(place)
    for places in implemented.values():
        places.sort(key=lambda place: "methods/relaxation" not in place)  # the paper's own first
    return implemented, named


def lines() -> Found:
    """For each statement the lines of code that end with a comment that names it."""
    found = defaultdict(list)
    for path in files("src/landmarks", "paper"):
        with tokenize.open(path) as stream:
            comments = [t for t in tokenize.generate_tokens(stream.readline) if t.type == COMMENT]
        for comment in comments:
            text = comment.line[: comment.start[1]].strip()
            for statement in statements(comment.string) if text else ():
                found[statement].append(f"`{text}` in {link(path)}")
    return found


def oracles() -> Found:
    """For each statement the function that states it to the letter."""
    found = defaultdict(list)
    path = ROOT / "tests" / "lemmas" / "oracle.py"
    for name, text in documented(path):
        for statement in statements(text.partition("\n")[0]):
            found[statement].append(f"`{name}` in {link(path)}")
    return found


def tests() -> Found:
    """For each statement the tests whose name begins with it, or whose docstring names it."""
    found = defaultdict(list)
    for path in files("tests"):
        for statement in TITLES:
            names = [f"`{name}`" for name, text in documented(path) if shows(name, text, statement)]
            if names:
                found[statement].append(f"* tests in {link(path)}: {', '.join(names)}")
    return found


def shows(name: str, text: str, statement: str) -> bool:
    """Whether a function is a test of the statement."""
    prefix = "test_" + re.sub(r"[ .]", "_", statement.lower()) + "_"
    return name.startswith(prefix) or (name.startswith("test_") and statement in statements(text))


def figure(statement: str) -> list[str]:
    """The command that redoes a figure of the paper, its settings and its tests."""
    if not statement.startswith("Figure"):
        return []
    name = statement.replace(" ", "").lower()
    settings = ROOT / "paper" / f"{name}.toml"
    shown = link(ROOT / "tests" / "paper" / "test_figures.py")
    command = f"`python -m paper {name}`"
    return [f"* redone by {command}, settings in {link(settings)}, tests in {shown}"]


def split(statement: str, implemented: Found, at: Found) -> tuple[list[str], list[str]]:
    """The lines of a statement in files that implement it, and those elsewhere."""
    homes = " ".join(implemented[statement])
    home = [line for line in at[statement] if line.rpartition("(")[2] in homes]
    return home, [line for line in at[statement] if line not in home]


def wrapped(item: str) -> list[str]:
    """The lines of an entry of a list, of at most 100 columns where no link is longer.

    None begins with a sign of a formula, which Markdown would read as another entry.
    """
    joined = re.sub(r" ([-+*]) ", "\u00a0\\1 ", item)
    lines = textwrap.wrap(
        joined, 100, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False
    )
    return [line.replace("\u00a0", " ") for line in lines]


def page() -> str:
    """The text of the page."""
    implemented, named = code()
    at, literal, shown = lines(), oracles(), tests()
    text = [HEAD]
    for statement, (title, label) in TITLES.items():
        home, elsewhere = split(statement, implemented, at)
        items = implemented[statement] + [f"* line: {line}" for line in home]
        items += [f"* to the letter: {place}" for place in literal[statement]]
        items += figure(statement)
        items += [f"* used by the line {line}" for line in elsewhere]
        if named[statement]:
            items.append("* named in " + ", ".join(named[statement]))
        items += shown[statement]
        text += [f"## {statement}: {title}" + (f" (`{label}`)" if label else ""), ""]
        text += [line for item in items for line in wrapped(item)] + [""]
    return "\n".join(text)


def main() -> None:
    """Write the page, or with --check only say whether it is up to date."""
    path = ROOT / "docs" / "paper-map.md"
    if "--check" in sys.argv:
        current = path.read_text(encoding="utf-8") == page()
        sys.exit(None if current else "docs/paper-map.md is out of date: python docs/paper_map.py")
    path.write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
