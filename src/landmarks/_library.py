"""Loads C libraries that `hatch_build.py` compiled; refuses those that are wrong or would crash.

`hatch_build.py` runs this file on its own, so it imports the standard library only.
"""

from __future__ import annotations

import ctypes
import hashlib
import struct
import warnings
from collections.abc import Iterable
from pathlib import Path


def identity(folder: Path) -> str:
    """A hash of the C sources in a folder; `hatch_build.py` passes it to the compiler."""
    sources = sorted(folder.glob("*.[ch]"))
    return hashlib.sha256(b"".join(source.read_bytes() for source in sources)).hexdigest()


def usable(
    path: Path, functions: tuple[str, ...], structure: type[ctypes.Structure], without: str
) -> ctypes.CDLL | None:
    """The library; None if it was not compiled, or with a warning if it cannot be used.

    functions : what it must have; the first returns the size of the structure.
    without : what follows if there is no library.
    """
    if not path.exists():
        return None
    try:
        library = load(path, functions)
        for name in functions:
            getattr(library, name).restype = ctypes.c_int64
        if getattr(library, functions[0])() != ctypes.sizeof(structure):
            raise OSError(f"{path} expects another {structure.__name__} than this version")
    except OSError as error:
        reason = f"{without}: {error}; install landmarks again to compile it"
        warnings.warn(reason, stacklevel=3)
        return None
    return library


def load(path: Path, functions: Iterable[str]) -> ctypes.CDLL:
    """The library at a path. If it cannot be used, an OSError says why.

    The file is read before it is loaded: loading one that is cut short can end the process, and one
    compiled from other sources has functions of the same names that expect other arguments. Where
    the C files were left out, as in some bundles, there is nothing to compare with.
    """
    image = path.read_bytes()
    if not _complete(image):
        raise OSError(f"{path} is cut short")
    sources = any(path.parent.glob("*.c"))
    if sources and identity(path.parent).encode() not in image:
        raise OSError(f"{path} was not compiled from the C files next to it")
    library = ctypes.CDLL(str(path))
    missing = [name for name in functions if not hasattr(library, name)]
    if missing:
        raise OSError(f"{path} has no function {', '.join(missing)}")
    return library


def _complete(image: bytes) -> bool:
    """Whether the file ends after all that will be mapped into memory.

    Only Linux's loader does not check this, so only 64-bit ELF files are read here.
    """
    if image[:5] != b"\x7fELF\x02":
        return True
    try:
        (start,) = struct.unpack_from("=Q", image, 32)
        size, count = struct.unpack_from("=HH", image, 54)
        for place in range(start, start + size * count, size):
            kind, _flags, offset, *_addresses, stored = struct.unpack_from("=IIQQQQ", image, place)
            if kind == 1 and offset + stored > len(image):  # a segment that is mapped
                return False
    except struct.error:
        return False
    return True
