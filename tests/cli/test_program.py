"""The program: in a pipe, in a terminal, cut off by `head`, interrupted, and quick to start."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from . import program

pytestmark = pytest.mark.thorough

X = np.random.default_rng(0).standard_normal((40, 6)) @ np.diag([5.0, 4, 3, 2, 1, 0.5])


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "table.csv"
    np.savetxt(path, X, delimiter=",", header="a,b,c,d,e,f", comments="")
    return path


def test_in_a_pipe_it_prints_a_plain_table_and_nothing_else(file):
    done = program.run("select", file, "--k", 3, "--method", "greedy")
    lines = done.stdout.decode().splitlines()
    assert (done.returncode, done.stderr) == (0, b"")
    assert lines[0] == "place\tindex\tname\tkept"
    assert [line.split("\t")[2] for line in lines[1:]] == ["a", "b", "c"]


def test_in_a_terminal_a_person_sees_colour_bars_and_words(file):
    code, shown = program.in_terminal("select", file, "--k", 3, "--center")
    assert code == 0
    assert "\x1b[1;36m3 of 6 columns of table.csv keep" in shown
    assert "█" in shown
    assert "at random" in shown


def test_long_work_shows_a_bar_in_a_terminal_and_takes_it_away(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((300, 250)))
    code, shown = program.in_terminal("select", tmp_path / "x.npy", "--k", 60, "--budget", 2)
    assert code == 0
    assert "error " in shown
    assert "\x1b[2K" in shown or "\x1b[K" in shown


def test_standard_input_is_read_whatever_its_format(file):
    done = program.run(
        "select", "-", "--k", 2, "--method", "greedy", "--json", input=file.read_bytes()
    )
    assert json.loads(done.stdout)["names"] == ["a", "b"]


def test_fault_58_head_ends_it_quietly(tmp_path):
    names = np.array([f"{j:0500d}" for j in range(400)])  # more than a pipe holds
    np.savez(tmp_path / "x.npz", X=np.random.default_rng(0).standard_normal((5, 400)), names=names)
    command = " ".join(
        [*program.PROGRAM, "select", str(tmp_path / "x.npz"), "--k", "390", "--method", "uniform"]
    )
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {command} | head -n 2"],
        capture_output=True,
        env=program.ENVIRONMENT,
        timeout=120,
    )
    assert done.stdout.count(b"\n") == 2
    assert b"Error" not in done.stderr and b"Traceback" not in done.stderr
    assert done.returncode == 0


def test_an_interrupt_ends_with_130_and_writes_nothing(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((600, 500)))
    running = program.start(
        "select", tmp_path / "x.npy", "--k", 200, "--out", tmp_path / "out.csv", "--method", "exact"
    )
    time.sleep(2.5)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert running.returncode == 130
    assert b"interrupted" in err and b"Traceback" not in err
    assert os.listdir(tmp_path) == ["x.npy"]


def test_a_full_disk_leaves_the_old_file_and_no_other(file, tmp_path):
    (tmp_path / "out.csv").write_text("old")
    limit = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
        "resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)); "
    )
    program_text = (
        f"{limit}import sys; from landmarks.cli.main import main; sys.exit(main(sys.argv[1:]))"
    )
    asked = f"select {file} --k 3 --method greedy --out {tmp_path / 'out.csv'} --force"
    arguments = [sys.executable, "-c", program_text, *asked.split()]
    done = subprocess.run(arguments, capture_output=True, env=program.ENVIRONMENT, timeout=120)
    assert done.returncode == 4
    assert b"cannot be written" in done.stderr
    assert (tmp_path / "out.csv").read_text() == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "table.csv"]


def test_help_loads_no_array_library():
    text = (
        "import sys, atexit; from landmarks.cli.main import main;"
        "atexit.register(lambda: print('numpy' in sys.modules, file=sys.stderr)); main(['--help'])"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, env=program.ENVIRONMENT, timeout=60
    )
    assert done.stderr.strip() == b"False"


def test_the_base_install_reads_text_and_says_what_other_formats_need(file, tmp_path):
    (tmp_path / "x.parquet").write_bytes(b"PAR1" + b"\0" * 40)
    optional = [
        "pandas",
        "polars",
        "pyarrow",
        "h5py",
        "zarr",
        "jinja2",
        "matplotlib",
        "torch",
        "dask",
    ]
    without = f"""import sys
class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {optional}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Missing())
from landmarks.cli.main import main
"""
    calls = [
        ["select", str(file), "--k", "2", "--method", "greedy"],
        ["select", str(tmp_path / "x.parquet"), "--k", "2"],
    ]
    text = without + f"print([main(arguments) for arguments in {calls}])"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, env=program.ENVIRONMENT, timeout=120
    )
    assert done.stdout.decode().splitlines()[-1] == "[0, 3]", done.stderr
    assert b"reading parquet needs pyarrow" in done.stderr and b"pip install pyarrow" in done.stderr


def test_a_run_that_was_interrupted_goes_on_from_its_checkpoint(tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(0).standard_normal((300, 240)))
    asked = ("--k", 60, "--method", "annealed", "--checkpoint", tmp_path / "run.ckpt", "--json")
    arguments = ("select", tmp_path / "x.npy", *asked)
    running = program.start(*arguments)
    while running.poll() is None and not (tmp_path / "run.ckpt").exists():
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=60)
    assert (running.returncode, b"run.ckpt keeps the run" in err) in ((130, True), (0, False))
    again, fresh = program.run(*arguments), program.run(*arguments[:6], "--json")
    assert json.loads(again.stdout)["indices"] == json.loads(fresh.stdout)["indices"]
