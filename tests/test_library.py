"""A compiled library is used if it is complete, made from the sources next to it, and loads."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from landmarks._library import identity, load

ROOT = Path(__file__).parents[1]
CODE = """
#include "constant.h"
const char source_hash[] = SOURCE_HASH;
int constant(void) { return CONSTANT; }
"""
pytestmark = pytest.mark.skipif(
    shutil.which("cc") is None or sys.platform == "win32", reason="no C compiler"
)


@pytest.fixture
def sources(tmp_path):
    (tmp_path / "constant.c").write_text(CODE)
    (tmp_path / "constant.h").write_text("#define CONSTANT 7\n")
    return tmp_path


def compile_in(folder):
    command = ["cc", "-shared", "-fPIC", f'-DSOURCE_HASH="{identity(folder)}"', "-o"]
    path = folder / "constant.so"
    subprocess.run([*command, path, folder / "constant.c"], check=True)
    return path


def refused(path, *functions):
    """Why the library is refused, found in a process of its own, which a bad library could end."""
    code = (
        "import sys, pathlib; from landmarks._library import load\n"
        "try: load(pathlib.Path(sys.argv[1]), sys.argv[2:])\n"
        "except OSError as error: print(error)"
    )
    paths = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-c", code, str(path), *functions]
    done = subprocess.run(command, capture_output=True, text=True, env=paths, check=True)
    return done.stdout


def test_a_library_that_is_right_is_loaded(sources):
    assert load(compile_in(sources), ["constant"]).constant() == 7


def test_it_is_loaded_where_the_sources_were_left_out(sources):
    path = compile_in(sources)
    for file in sources.glob("*.[ch]"):
        file.unlink()
    assert load(path, ["constant"]).constant() == 7


def test_it_is_refused_after_its_sources_changed(sources):
    path = compile_in(sources)
    (sources / "constant.h").write_text("#define CONSTANT 8\n")
    assert "constant.so was not compiled from the C files next to it" in refused(path)


def test_another_library_is_refused_without_being_loaded(sources, tmp_path):
    path = tmp_path / "constant.so"
    path.write_bytes(b"not a library")
    assert "was not compiled from the C files next to it" in refused(path)


@pytest.mark.skipif(sys.platform != "linux", reason="other systems check this when they load it")
def test_a_library_that_is_cut_short_anywhere_is_refused_or_works(sources):
    path = compile_in(sources)
    image = path.read_bytes()
    reasons = set()
    for length in (0, 4, 5, 40, 60, 100, 1000, 4096, 8192, len(image) // 2, len(image) - 1):
        path.write_bytes(image[:length])
        reasons.add(re.sub(r"^.*constant.so ", "", refused(path, "constant").strip()))
    # only the table of sections is missing at the end, which is not loaded
    assert reasons == {"is cut short", "was not compiled from the C files next to it", ""}


def test_fault_91_a_library_without_a_function_is_refused(sources):
    path = compile_in(sources)
    assert refused(path, "constant", "descend").strip() == f"{path} has no function descend"


def test_installing_compiles_every_c_file_of_a_compiled_folder_with_its_identity(tmp_path):
    pytest.importorskip("hatchling")
    folder = tmp_path / "src" / "landmarks" / "some" / "compiled"
    folder.mkdir(parents=True)
    (folder / "constant.c").write_text(CODE)
    (folder / "constant.h").write_text("#define CONSTANT 7\n")
    shutil.copy(ROOT / "src" / "landmarks" / "_library.py", tmp_path / "src" / "landmarks")
    hook = runpy.run_path(str(ROOT / "hatch_build.py"))
    path = hook["compiled"](folder / "constant.c", tmp_path)
    assert load(path, ["constant"]).constant() == 7
    assert sorted(file.name for file in folder.iterdir()) == [
        "constant.c",
        "constant.h",
        "constant.so",
    ]
