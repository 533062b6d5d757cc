"""Why these columns were chosen, how stable the choice is, and which others are as good."""

from .._shown import Table

__all__ = ["Table"]
