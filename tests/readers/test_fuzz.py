"""Whatever bytes a file holds, a reader gives a table or a FormatError and nothing else."""

import io

import numpy as np
import scipy.io
import scipy.sparse
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from landmarks.errors import FormatError
from landmarks.readers import FileTable
from landmarks.readers.table import read


def saved(write, *arguments):
    file = io.BytesIO()
    write(file, *arguments)
    return file.getvalue()


def archive(file):
    np.savez_compressed(file, X=np.eye(3), names=np.array(["a", "b", "c"]))


SEEDS = [
    b"a,b\n1,2\n3,4\n",
    b'"x;y";b\n1,5;\n',
    saved(np.save, np.eye(3)),
    saved(archive),
    saved(scipy.sparse.save_npz, scipy.sparse.csr_matrix(np.eye(3))),
    saved(scipy.io.mmwrite, np.eye(3)),
    saved(scipy.io.mmwrite, scipy.sparse.coo_array(np.eye(3))),
]


def survives(raw):
    try:
        table = read(io.BytesIO(raw), max_bytes=2**20)
    except FormatError:
        return
    assert isinstance(table, FileTable)
    assert table.values.ndim == 2 and table.values.dtype.kind == "f"


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(SEEDS), st.data())
def test_a_damaged_file_is_a_table_or_a_format_error(seed, data):
    raw = bytearray(seed)
    for _ in range(data.draw(st.integers(0, 4))):
        raw[data.draw(st.integers(0, len(raw) - 1))] = data.draw(st.integers(0, 255))
    survives(
        bytes(raw[: data.draw(st.integers(0, len(raw)))])
        if data.draw(st.booleans())
        else bytes(raw)
    )


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="01.,;|\t\n\r\"' eE-+xnaN_ö\u2028", max_size=60))
def test_any_text_is_a_table_or_a_format_error(text):
    survives(text.encode())


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(
        [
            b"",
            b"\x93NUMPY",
            b"\x93NUMPY\x01\x00",
            b"PK\x03\x04",
            b"%%MatrixMarket matrix ",
            b"\x1f\x8b",
            b"\xff\xfe",
        ]
    ),
    st.binary(max_size=80),
)
def test_any_bytes_are_a_table_or_a_format_error(start, rest):
    survives(start + rest)
