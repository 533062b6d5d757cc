"""The mutants: mutmut's operators on every expression of the folders that compute."""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider
from mutmut.mutation.file_mutation import MutationVisitor, deep_replace
from mutmut.mutation.mutators import mutation_operators
from mutmut.mutation.pragma_handling import IgnoredCode

SOURCE = "src/landmarks/"
PACKAGES = ("operators", "linalg", "residual", "methods", "proof", "how_many", "explain")
# It needs a GPU or Triton's interpreter, and is tested where those are: `make interpreted`, tests
# on a GPU.
NOT_HERE = "operators/gpu"
UNSEEN = {"__repr__", "__str__", "_repr_html_"}  # what is shown to a reader
WORDING = {"warn", "cast", "TypeVar"}  # their arguments are for a reader or for the type checker


@dataclass(frozen=True, eq=False)
class Mutant:
    """One change of one file: `path` is relative to the repository, `line` is where it begins."""

    path: str
    line: int
    module: cst.Module = field(repr=False)
    mutation: Any = field(repr=False)

    @property
    def package(self) -> str:
        """The room of the file."""
        return Path(self.path).parts[2]

    @cached_property
    def code(self) -> str:
        """The file with the change."""
        return deep_replace(
            self.module, self.mutation.original_node, self.mutation.mutated_node
        ).code

    def diff(self, context: int = 1) -> str:
        """The lines that changed, with lines around them."""
        lines = difflib.unified_diff(
            self.module.code.splitlines(), self.code.splitlines(), n=context, lineterm=""
        )
        return "\n".join(line for line in lines if not line.startswith(("---", "+++")))

    @cached_property
    def name(self) -> str:
        """The file and eight digits that do not change when the lines around it only move."""
        moved = "\n".join(
            line for line in self.diff(context=2).splitlines() if not line.startswith("@@")
        )
        return f"{self.path.removeprefix(SOURCE)}:{hashlib.sha256(moved.encode()).hexdigest()[:8]}"


class Sites(MutationVisitor):
    """Mutmut's walk, with decorated functions, without wording, `__all__` and imports for types."""

    def __init__(self) -> None:
        super().__init__(mutation_operators, IgnoredCode(set(), set(), set()))

    def _skip_node_and_children(self, node: cst.CSTNode) -> bool:
        if isinstance(node, cst.FunctionDef):
            return node.name.value in UNSEEN
        return is_wording(node) or is_for_types(node) or super()._skip_node_and_children(node)


def is_wording(node: cst.CSTNode) -> bool:
    """Whether the node is the text of an error, a warning or another message."""
    called = isinstance(node, cst.Call) and getattr(node.func, "attr", node.func)
    return isinstance(node, (cst.Raise, cst.FormattedString)) or (
        isinstance(called, cst.Name) and called.value in WORDING
    )


def is_for_types(node: cst.CSTNode) -> bool:
    """Whether the node is never executed, or only tells what is exported."""
    if isinstance(node, cst.If):
        return isinstance(node.test, cst.Name) and node.test.value == "TYPE_CHECKING"
    targets = node.targets if isinstance(node, cst.Assign) else ()
    return any(isinstance(t.target, cst.Name) and t.target.value == "__all__" for t in targets)


def files(root: Path) -> list[Path]:
    """The files that are mutated."""
    found = [
        path for package in PACKAGES for path in sorted((root / SOURCE / package).rglob("*.py"))
    ]
    return [path for path in found if NOT_HERE not in path.as_posix()]


def mutants(root: Path) -> list[Mutant]:
    """All mutants, in the order of the files."""
    return [
        mutant
        for path in files(root)
        for mutant in mutants_of(path.read_text(), str(path.relative_to(root)))
    ]


def named(root: Path, names: set[str]) -> list[Mutant]:
    """The mutants of these names."""
    paths = sorted({SOURCE + name.split(":")[0] for name in names})
    return [
        mutant
        for path in paths
        for mutant in mutants_of((root / path).read_text(), path)
        if mutant.name in names
    ]


def mutants_of(code: str, path: str) -> Iterator[Mutant]:
    """The mutants of one file, in the order of its lines."""
    wrapper = MetadataWrapper(cst.parse_module(code))
    visitor = Sites()
    wrapper.visit(visitor)
    positions = wrapper.resolve(PositionProvider)
    found = [
        Mutant(path, positions[m.original_node].start.line, wrapper.module, m)
        for m in visitor.mutations
    ]
    yield from sorted(found, key=lambda mutant: mutant.line)
