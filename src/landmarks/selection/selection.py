"""The result of a selection: the indices, how good they are, how they were found, their cost."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..linalg.nystrom import Nystrom
from ..linalg.rebuilding import rebuilding
from ..linalg.reconstruction import Reconstruction, reconstruct
from ..objectives.objective import Objective, Trace, as_objective
from ..objectives.reconstructed import reconstructed
from ..operators.base import Operator
from ..placement.constraint import Constraint
from ..problem import Method, Trial, check_indices
from .presentation import Presentation
from .quality import Quality


@dataclass(frozen=True)
class Cost:
    """What a selection used: vectors multiplied by K, columns, entries evaluated, seconds.

    precision : the precision that the search used, and why.
    """

    products: int
    columns: int
    entries: int
    seconds: float
    precision: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Quality, Presentation):
    """k distinct indices in order of choice, with their errors, bounds and factors.

    Attributes
    ----------
    indices : the chosen columns or points, in order of choice.
    n : how many candidates there were.
    objective : what was minimised, with its target and noise; all errors and bounds refer to it.
    method : the method as text; `chooser` is the object.
    seed : of the random numbers.
    ledger : products with K, columns read, entries evaluated, seconds.
    names : the names of all candidates as text; `chosen_names` are the original labels of the
        chosen ones.
    path : for a relaxation, the weights at each step; false for other methods.
    trials : what a composed method tried, with error and cost.
    bound : the proved lower bound, if any, in the units of the operator.
    exponent : the matrix is 2**exponent times the operator.
    stopped : whether a callback ended the run early.
    operator : the data; None after `load` without data.
    known : errors and bounds that were computed already.
    include, exclude, constraints : the constraints of the choice.
    chooser : the method object that chose.
    labels : the original labels of all candidates.
    center, scale : whether `select` centred and scaled the columns.
    from_rows : whether the data were rows X, with K = XᵀX, and not a kernel or K itself; None if a
        file does not say.

    Examples
    --------
    >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
    >>> sorted(s.indices.tolist()), s.error("trace")
    ([1, 2], 1.0)
    """

    indices: np.ndarray
    n: int
    objective: Objective
    method: str
    seed: int | None
    ledger: Cost
    names: tuple[str, ...] | None = None
    path: Any = None
    trials: tuple[Trial, ...] = ()
    bound: float | None = None
    exponent: int = 0
    stopped: bool = False
    operator: Operator | None = field(default=None, repr=False)
    known: dict[str, float] = field(default_factory=dict, repr=False)
    include: tuple[int, ...] = ()
    exclude: tuple[int, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    chooser: Method | None = field(default=None, repr=False)
    labels: tuple[Any, ...] | None = None
    center: bool = False
    scale: bool = False
    from_rows: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", as_objective(self.objective))
        if self.path is None:
            object.__setattr__(self, "path", NoPath(self.method))
        if self.operator is not None:
            object.__setattr__(self, "from_rows", self.operator.m is not None)
        indices = check_indices(self.indices, self.n, repeats=self.objective.repeats)
        indices.flags.writeable = False
        object.__setattr__(self, "indices", indices)

    def __len__(self) -> int:
        return len(self.indices)

    def nystrom(self) -> Nystrom:
        """The Nyström approximation K̂ = F Fᵀ from the chosen columns.

        Returns
        -------
        Nystrom
            `factor` is F; it multiplies, solves with a ridge, and maps new points.

        Examples
        --------
        >>> points = np.random.default_rng(0).standard_normal((200, 2))
        >>> s = lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 10, method="greedy")
        >>> s.nystrom().factor.shape
        (200, 10)
        """
        return Nystrom(self._data, np.asarray(list(dict.fromkeys(self.indices.tolist()))))

    def posterior_variance(self) -> np.ndarray:
        """The remaining variance of each of the n candidates once the chosen ones are measured.

        It is diag(K − K[:, S] (K[S, S] + Σ)⁻¹ K[S, :]) with the noise Σ that `select` was given, in
        the units of the data. Without noise it is diag(K − K̂), the squared residual of each
        column.

        Returns
        -------
        array of n numbers
            Not negative, up to rounding.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.posterior_variance().round(6).tolist()
        [1.0, 0.0, 0.0]
        """
        pair = Trace(noise=self.objective.noise).on(self._data)
        variances = rebuilding(pair).variances(self.indices)
        return np.ldexp(variances, self._data.exponent)

    def reconstruction(self, ridge: float | str | None = None) -> Reconstruction:
        """The coefficients that rebuild every column, or the target, and R² of each.

        Parameters
        ----------
        ridge : a penalty on the squared coefficients, in the units of K. "cv" uses the penalty with
            the smallest leave-one-out error over the rows of the data. None is least squares, or
            the estimate with the noise that `select` was given.

        Returns
        -------
        Reconstruction
            `coefficients`, k rows and a column for each thing rebuilt, and `r2`.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.reconstruction().coefficients.shape
        (2, 3)
        """
        if self.objective.plain and ridge is None:
            return reconstruct(self._data, self.indices)
        return reconstructed(self._data, self.indices, self.objective, ridge, centred=self.center)

    def save(self, path: Any) -> None:
        """Write the selection to an npz file, without pickle; `landmarks.load` reads it.

        Parameters
        ----------
        path : the file; it is written completely or not at all.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> import tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     s.save(f"{folder}/run.npz")
        ...     print(lm.load(f"{folder}/run.npz").indices)
        [1 2]
        """
        from .file import save

        save(self, path)

    @property
    def chosen_names(self) -> list[Any] | None:
        """The original labels of the chosen columns, so that `df[s.chosen_names]` works.

        None when the data had no names.
        """
        labels = self.names if self.labels is None else self.labels
        return None if labels is None else [labels[j] for j in self.indices]


class NoPath:
    """Stands for a missing path: empty and false; its attributes raise an error that says why."""

    def __init__(self, method: str):
        self.method = method

    def __bool__(self) -> bool:
        return False

    def __len__(self) -> int:
        return 0

    def __repr__(self) -> str:
        return (
            f"no relaxation path: {self.method} has none; method='annealed' and "
            "method='continuous' have one, and lm.path(X, k) gives the error for 1, 2, …, k columns"
        )

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "method":
            raise AttributeError(name)
        raise AttributeError(f"there is no {name!r}: {self!r}")
