"""Tables from files: numbers with the names of their columns, read within a limit and never by
running what they hold.
"""

from .read import FORMATS, read
from .table import Table

__all__ = ["FORMATS", "Table", "read"]
