"""What is fuzzed: every reader of files, as a function of bytes with the errors it may raise."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import numpy as np

import landmarks as lm
from landmarks.readers import FORMATS
from landmarks.readers.table import read

LIMIT = (
    2**22
)  # bytes that a reader may unpack here: a file of a few kB that takes more must be refused
FOLDER = Path(
    tempfile.mkdtemp(
        prefix="landmarks-fuzz-", dir="/dev/shm" if os.path.isdir("/dev/shm") else None
    )
)
TROUBLE = (ValueError, OSError)  # FormatError is a ValueError; anything else is a crash


def result(data: bytes) -> None:
    """The result format: what `load` accepts can be asked for its figures and be saved again."""
    path = FOLDER / "run.npz"
    path.write_bytes(data)
    with contextlib.suppress(*TROUBLE):
        s = lm.load(path, max_bytes=LIMIT)
        repr(s), s._repr_html_(), s.chosen_names, len(s)
        s.error(), s.relative_error(), s.lower_bound(), s.gap()
        s.save(path)


def checkpoint(data: bytes) -> None:
    """The checkpoint format: a run is taken up, or the file is refused and stays as it is."""
    path = FOLDER / "checkpoint.npz"
    path.write_bytes(data)
    with contextlib.suppress(*TROUBLE):
        s = lm.select(CHECKPOINTED, 2, method="greedy", checkpoint=path)
        assert len(set(s.indices.tolist())) == 2
        return
    assert path.read_bytes() == data


CHECKPOINTED = np.random.default_rng(0).standard_normal((6, 4))


def reader(format: str | None) -> Callable[[bytes], None]:
    """A reader of the command line; None lets the first bytes tell the format."""

    def target(data: bytes) -> None:
        with contextlib.suppress(*TROUBLE):
            table = read(io.BytesIO(data), format=format, max_bytes=LIMIT)
            table.place(0, 0)

    return target


TARGETS: dict[str, Callable[[bytes], None]] = {
    "result": result,
    "any": reader(None),
    **{format: reader(format) for format in FORMATS if format != "zarr"},  # which is a folder
}
if hasattr(lm, "Checkpoint"):
    TARGETS["checkpoint"] = checkpoint
