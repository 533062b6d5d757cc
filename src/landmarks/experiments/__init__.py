"""The paper's figures as experiments: settings in files, results in tables, then drawings."""

from .run import reproduce
from .settings import FIGURES, Figure, read_settings

__all__ = ["FIGURES", "Figure", "read_settings", "reproduce"]
