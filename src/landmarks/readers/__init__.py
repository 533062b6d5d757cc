"""Tables from files: numbers with column names, read within a limit, never executed."""

from .._moved import renamed
from .read import FORMATS, read
from .table import FileTable

__all__ = ["FORMATS", "FileTable", "read"]


def __getattr__(name: str) -> object:
    """The old name of `FileTable`."""
    if name == "Table":
        return renamed(name, "FileTable", __name__)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
