"""Solvers of L_t Q = B for blocks B, and of (K + ridge · I) x = b."""

from .automatic import Automatic
from .block_cg import BlockCG
from .cholesky import Cholesky
from .regularised import Regularised, solve_regularised
from .solution import Solution, Solver
from .woodbury import Woodbury

__all__ = ["Automatic", "BlockCG", "Cholesky", "Regularised", "Solution", "Solver", "Woodbury", "solve_regularised"]
