"""Tables from files: numbers with column names, read within a limit, never executed."""

from .read import FORMATS, read
from .table import FileTable

__all__ = ["FORMATS", "FileTable", "read"]
