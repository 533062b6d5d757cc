"""Choose the k columns of a matrix, or the k landmarks of a kernel, that best represent all the rest."""

from .kernels import laplacian, linear, matern, polynomial, rbf
from .operators import data, function, kernel, psd, toeplitz
from .select import Choice, Continuous, Greedy, Problem, Selection, Uniform, load, select

__all__ = [
    "Choice",
    "Continuous",
    "Greedy",
    "Problem",
    "Selection",
    "Uniform",
    "data",
    "function",
    "kernel",
    "laplacian",
    "linear",
    "load",
    "matern",
    "polynomial",
    "psd",
    "rbf",
    "select",
    "toeplitz",
]
__version__ = "0.1.0"
