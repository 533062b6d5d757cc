"""Solvers of L_t Q = B for blocks B."""

from .automatic import Automatic
from .block_cg import BlockCG
from .cholesky import Cholesky
from .solution import Solution, Solver
from .woodbury import Woodbury

__all__ = ["Automatic", "BlockCG", "Cholesky", "Solution", "Solver", "Woodbury"]
