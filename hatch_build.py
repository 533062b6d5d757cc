"""Compiles each src/landmarks/**/compiled/*.c when the package is installed or built.

Without a C compiler the package is installed all the same: its searches then use NumPy, and
`landmarks info` says so. The libraries are loaded by ctypes, not linked with Python, so one wheel
for a platform serves every version of Python.

On Windows only a compiler that CC names is used. It must take the options of GCC and export all
functions, as `python -m ziglang cc -target x86_64-windows-gnu` does. Microsoft's compiler has other
options, is found through its installer only, and exports nothing without marks in the sources.
"""

from __future__ import annotations

import os
import runpy
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

FLAGS = ["-O3", "-fopenmp-simd", "-fno-math-errno", "-shared"]
PLATFORM = sysconfig.get_platform()  # such as linux-x86_64 or macosx-11.0-universal2


class CompileLibraries(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        root = Path(self.root)
        for source in sorted(root.glob("src/landmarks/**/compiled/*.c")):
            library = compiled(source, root)
            if library is None:
                self.app.display_warning(
                    f"{source.name} was not compiled: searches will use NumPy, which is slower. "
                    "To compile it, install a C compiler (cc, or the one that CC names) first"
                )
                continue
            build_data["pure_python"] = False
            build_data["tag"] = f"py3-none-{PLATFORM.replace('-', '_').replace('.', '_')}"
            build_data["artifacts"].append(str(library.relative_to(root)))


def compiled(source: Path, root: Path) -> Path | None:
    """The library, or None where there is no compiler or it fails."""
    windows = sys.platform == "win32"
    compiler = shlex.split(os.environ.get("CC", ""), posix=not windows)
    if not compiler and not windows:
        compiler = [shutil.which("cc") or ""]
    if not compiler or not compiler[0]:
        return None
    identity = runpy.run_path(str(root / "src/landmarks/_library.py"))["identity"](source.parent)
    library = source.with_suffix(".so")
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        made = Path(folder) / library.name
        command = [*compiler, *FLAGS, *_platform_flags(), f'-DSOURCE_HASH="{identity}"']
        command += ["-o", str(made), str(source), "-lm"]
        if not (_run(command) or _run([*command, "-DWIDE="])):
            return None
        made.replace(library)  # a process that uses the old one keeps it
    return library


def _platform_flags() -> list[str]:
    """What the tag of the wheel promises: on macOS, the oldest version and the processors."""
    if sys.platform == "win32":
        return []
    if sys.platform != "darwin":
        return ["-fPIC"]
    _, version, machine = PLATFORM.split("-")
    machines = ["arm64", "x86_64"] if machine == "universal2" else [machine]
    chosen = [flag for name in machines for flag in ("-arch", name)]
    return ["-fPIC", f"-mmacosx-version-min={version}", *chosen]


def _run(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # cc, or what CC names
    except OSError as error:
        print(error, file=sys.stderr)
        return False
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode == 0
