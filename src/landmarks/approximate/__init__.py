"""What a choice of columns gives: projection, Nyström approximation, errors and bounds."""

from .error import CRITERIA, best_rank_error, selection_error, spectrum, total
from .nystrom import Nystrom, nystrom_factor

__all__ = ["CRITERIA", "Nystrom", "best_rank_error", "nystrom_factor", "selection_error", "spectrum", "total"]
