"""Compiles src/landmarks/residual/compiled/swaps.c when the package is installed or built.

Without a C compiler the package is installed all the same: its searches then use NumPy.
"""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

SOURCE = Path("src/landmarks/residual/compiled/swaps.c")
FLAGS = ["-O3", "-fopenmp-simd", "-fno-math-errno", "-shared", "-fPIC"]


class CompileSwaps(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        library = compiled(Path(self.root))
        if library is None:
            self.app.display_warning("swaps.c was not compiled: searches will use NumPy, slower")
            return
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["pure_python"] = False
        build_data["tag"] = f"py3-none-{platform}"
        build_data["artifacts"].append(str(library.relative_to(self.root)))


def compiled(root: Path) -> Path | None:
    """The library, or None where there is no compiler or it fails."""
    compiler = shlex.split(os.environ.get("CC", "")) or [shutil.which("cc") or ""]
    if not compiler[0] or sys.platform == "win32":
        return None
    library = (root / SOURCE).with_suffix(".so")
    library.unlink(missing_ok=True)  # else a process that uses it would see it change
    command = [*compiler, *FLAGS, "-o", str(library), str(root / SOURCE), "-lm"]
    return library if _run(command) or _run([*command, "-DWIDE="]) else None


def _run(command: list[str]) -> bool:
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603  # cc, or what CC names
    except OSError as error:
        print(error, file=sys.stderr)
        return False
    print(done.stderr, end="", file=sys.stderr)
    return done.returncode == 0
