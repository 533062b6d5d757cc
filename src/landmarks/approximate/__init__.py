"""What a choice of columns gives: projection, Nyström approximation, errors and bounds."""

from .error import CRITERIA, best_rank_error, exact_error, selection_error, spectrum, total
from .estimate import Estimate, estimated_error
from .nystrom import Nystrom, nystrom_factor
from .preconditioner import Preconditioner
from .reconstruction import Reconstruction, reconstruct

__all__ = [
    "CRITERIA",
    "Estimate",
    "Nystrom",
    "Preconditioner",
    "Reconstruction",
    "best_rank_error",
    "estimated_error",
    "exact_error",
    "nystrom_factor",
    "reconstruct",
    "selection_error",
    "spectrum",
    "total",
]
