"""Tables from files: numbers with column names, read within a limit, never executed."""

from .table import FORMATS, FileTable, read

__all__ = ["FORMATS", "FileTable", "read"]
