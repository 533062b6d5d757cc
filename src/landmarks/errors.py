"""The errors and warnings of landmarks, each a subclass of the built-in one it specialises."""


class NotPSDError(ValueError):
    """The matrix has a clearly negative eigenvalue, so it is no Gram, covariance or kernel matrix."""


class UnsupportedError(TypeError):
    """A method was asked for something that it, or the operator it was given, cannot do."""


class FormatError(ValueError):
    """A file is not a selection or a checkpoint that this version can read."""


class Stopped(RuntimeError):
    """A callback stopped the run before it had any choice to give."""


class RankWarning(UserWarning):
    """More columns were asked for than the numerical rank offers; the rest adds nothing."""


class ConvergenceWarning(UserWarning):
    """An iteration stopped at its limit before it reached its tolerance."""
