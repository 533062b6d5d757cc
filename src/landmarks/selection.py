"""The result of a selection: the indices, how good they are, how they were found, their cost."""

from __future__ import annotations

import math
import time
import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ._check import choice
from .errors import RankWarning, UnsupportedError
from .linalg.aim import Aim
from .linalg.error import CRITERIA, best_rank_error, exact_error, rank_bound, total
from .linalg.estimate import Estimate, estimated_error
from .linalg.nystrom import Nystrom
from .linalg.reconstruction import Reconstruction, reconstruct
from .methods.search.exact import Exact
from .operators.base import Operator, check_indices
from .placement.constraint import Constraint
from .problem import Method, Problem, Trial
from .proof.certificate import Certificate, certify, seconds
from .relaxation_path import NoPath
from .residual.judged import Judged
from .residual.reconstructed import reconstructed
from .runs.progress import watching

PATIENCE = 3.0  # seconds for a proof that was estimated to take less than one

if TYPE_CHECKING:
    from .explain.reasons import Reasons
    from .explain.stability import Stability
    from .report.overview import Overview


@dataclass(frozen=True)
class Cost:
    """What a selection used: vectors multiplied by K, columns, entries evaluated, seconds."""

    products: int
    columns: int
    entries: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """k distinct indices in order of choice, with their errors, bounds and factors.

    bound is the proved lower bound, if any, in the units of the operator; the matrix meant is
    2**exponent times it. include, exclude and constraints were honoured; a file does not hold
    constraints. chooser is the method object that `method` describes.
    stopped says that a callback ended the run, so that more could have been tried.
    aim is what was rebuilt instead of the columns, and the noise, where `select` was given either;
    all errors and bounds are then of that question.
    center and scale say what `select` did to the columns; labels are the names as they came.

    Examples
    --------
    >>> import numpy as np
    >>> import landmarks as lm
    >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
    >>> sorted(s.indices.tolist()), s.error("trace")
    ([1, 2], 1.0)
    """

    indices: np.ndarray
    n: int
    criterion: str
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
    aim: Aim | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.path is None:
            object.__setattr__(self, "path", NoPath(self.method))
        repeats = self.aim is not None and self.aim.repeats
        indices = check_indices(self.indices, self.n, repeats=repeats)
        indices.flags.writeable = False
        object.__setattr__(self, "indices", indices)

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def k(self) -> int:
        """The number of indices."""
        return len(self.indices)

    @property
    def most_columns(self) -> int:
        """The most columns that an allowed choice has: more than k only with groups or costs."""
        return int(self.known.get("columns", self.k))

    @property
    def proved(self) -> bool:
        """Whether no choice of k columns that honours the constraints can be better.

        Better means by more than 1e-9 of the error.
        """
        self._prove_if_asked()
        if "proved" in self.known:
            return True
        if self.bound is None and f"certificate:{self.criterion}" not in self.known:
            return False
        return self._figure("error", None) <= self._bound(None) * (1 + 1e-9)

    def error(self, criterion: str | None = None) -> float:
        """tr(K − K̂) for "trace" (‖X − P_S X‖²_F for columns), ‖K − K̂‖²_F for "frobenius"."""
        return self._in_units(self._figure("error", criterion), criterion)

    def estimated_error(
        self, criterion: str | None = None, *, n_probes: int = 32, seed: int = 0
    ) -> Estimate:
        """The error with a 95 % confidence interval, where the exact one costs too much.

        It takes one block of probes.
        """
        self._refuse("estimated_error", "error() is exact")
        criterion = self._criterion(criterion)
        found = estimated_error(self._data, self.indices, criterion, n_probes=n_probes, seed=seed)
        value, low, high = (
            self._in_units(figure, criterion) for figure in (found.value, found.low, found.high)
        )
        return Estimate(value, low, high, n_probes)

    def total(self, criterion: str | None = None) -> float:
        """The error of choosing nothing: tr K, or ‖K‖²_F."""
        return self._in_units(self._figure("total", criterion), criterion)

    def relative_error(self, criterion: str | None = None) -> float:
        """The error as a part of the whole."""
        whole = self._figure("total", criterion)
        return self._figure("error", criterion) / whole if whole > 0 else 0.0

    def best_rank_error(self, criterion: str | None = None) -> float:
        """The error of the best rank-k approximation, which need not come from columns."""
        return self._in_units(self._figure("best_rank", criterion), criterion)

    def lower_bound(self, criterion: str | None = None) -> float:
        """What no choice of k columns that honours include and exclude can go below.

        The best bound known: of the best rank-k error, of an exact search, or of `certificate`.
        With groups or costs it holds for every choice of at most `most_columns` columns.
        """
        return self._in_units(self._bound(criterion), criterion)

    def gap(self, criterion: str | None = None) -> float:
        """How much of the error could still be avoided at most, from 0 (proved optimal) to 1."""
        error = self._figure("error", criterion)
        return max(0.0, 1.0 - self._bound(criterion) / error) if error > 0 else 0.0

    def certificate(
        self,
        budget: float = 60.0,
        *,
        criterion: str | None = None,
        after: Certificate | None = None,
        callback: Any = None,
    ) -> Certificate:
        """A lower bound on the error of every choice, raised for so many seconds.

        `lower_bound`, `gap` and `proved` know it afterwards. It holds with rounding included.

        Parameters
        ----------
        budget : seconds. More give a better bound; the cheap bounds come first.
        criterion : of the error; that of the selection by default.
        after : a certificate of this selection to go on from.
        callback : called with a `Progress` now and then; when it returns True the work ends.

        Examples
        --------
        >>> import numpy as np
        >>> import landmarks as lm
        >>> s = lm.select(np.random.default_rng(0).standard_normal((30, 8)), 3)
        >>> s.certificate(budget=1.0).bound <= s.error()
        True
        """
        self._refuse("certificate", 'lower_bound() and method="exact" hold for them')
        begun = time.monotonic()
        criterion = self._criterion(criterion)
        problem = Problem(
            self._data,
            self.most_columns,
            criterion,
            self.include,
            self.exclude,
            deadline=begun + seconds(budget),
        )
        point = None if after is None else after.point
        with watching(callback):
            found = certify(problem, self.indices, self._figure("error", criterion), point)
        known = max(found.value, self._bound(criterion))
        self.known[f"certificate:{criterion}"] = known
        return Certificate(
            bound=self._in_units(known, criterion),
            gap=self.gap(criterion),
            source=found.source if found.value >= known else "known",
            seconds=time.monotonic() - begun,
            iterations=found.iterations,
            point=found.point,
        )

    def factor(self, criterion: str | None = None) -> float:
        """The error over the best rank-k error (Section 4).

        NaN, with a warning, beyond the numerical rank.
        """
        tail, whole = self._figure("best_rank", criterion), self._figure("total", criterion)
        if tail <= 1e-9 * whole:
            warnings.warn(
                f"the factor is undefined: the best rank-{self.k} error is below 1e-9 of the whole,"
                " k is at the numerical rank",
                RankWarning,
                stacklevel=2,
            )
            return math.nan
        return self._figure("error", criterion) / tail

    def nystrom(self) -> Nystrom:
        """The approximation K̂ = F Fᵀ from the chosen columns."""
        return Nystrom(self._data, np.asarray(list(dict.fromkeys(self.indices.tolist()))))

    def posterior_variance(self) -> np.ndarray:
        """The variance that is left of each of the n candidates once the chosen ones are measured.

        It is diag(K − K_:S (K_SS + Σ)⁻¹ K_S:) with the noise Σ that `select` was given, in the
        units of the data; without noise it is diag(K − K̂), what is left of each squared column.
        """
        judged = self._judged or Judged(self._data, Aim())
        return np.ldexp(judged.base.variances(self.indices), self._data.exponent)

    def reconstruction(self, ridge: float | str | None = None) -> Reconstruction:
        """The coefficients that rebuild every column, or the target, and R² of each.

        Parameters
        ----------
        ridge : a penalty on the squares of the coefficients in the units of K; "cv" takes the one
            of the smallest leave-one-out error over the rows of data. None is least squares, with
            the noise that `select` was given.
        """
        if self.aim is None and ridge is None:
            return reconstruct(self._data, self.indices)
        aim = self.aim or Aim(exponent=self._data.exponent)
        return reconstructed(self._data, self.indices, aim, ridge, centred=self.center)

    def why(
        self, criterion: str | None = None, *, each: int = 3, stability: Stability | None = None
    ) -> Reasons:
        """Why these columns: what each adds, what could replace it, what rebuilds the others.

        Parameters
        ----------
        criterion : of the errors; that of the selection unless told.
        each : how many substitutes and sources to list for each column.
        stability : what `stability` returned, to be shown as well.
        """
        from .explain.reasons import reasons

        return reasons(
            self,
            self._data,
            self._criterion(criterion),
            each,
            stability,
        )

    def stability(
        self, n_bootstrap: int = 50, *, method: Any = None, seed: int | None = 0
    ) -> Stability:
        """How often each candidate is chosen over bootstrap samples of the rows, or of the points.

        Parameters
        ----------
        n_bootstrap : the number of samples; each costs a selection.
        method : by which to choose, when it is not to be the one that chose; "greedy" is fast.
        seed : one seed gives one set of samples; None draws fresh ones.
        """
        from .explain.stability import bootstrap

        self._refuse("stability", "choose again on samples of the rows")
        return bootstrap(self, self._data, n_bootstrap, method, seed)

    def report(self, path: Any, *, overwrite: bool = False, **origin: Any) -> None:
        """Write one HTML page that shows everything, needs no network and can be passed on.

        See `landmarks.report.write`.
        """
        from .report.writing import write

        write(self, path, overwrite=overwrite, **origin)

    def save(self, path: Any) -> None:
        """Write the selection to an npz file, without pickle; `landmarks.load` reads it."""
        from .selection_file import save

        save(self, path)

    @property
    def chosen_names(self) -> list[Any] | None:
        """The labels of the chosen columns as the data had them, so `df[s.chosen_names]` works.

        None when the data had no names.
        """
        labels = self.names if self.labels is None else self.labels
        return None if labels is None else [labels[j] for j in self.indices]

    def summary(self) -> Overview:
        """The table that the command line prints; at most 10 of the chosen columns are listed."""
        from .report.overview import overview

        return overview(self)

    def plot(self, ax: Any = None, *, coordinates: Any = None) -> Any:
        """Draw the picture that tells most: landmarks among their points, else error against k.

        Parameters
        ----------
        ax : matplotlib axes; a new figure unless given.
        coordinates : where the candidates are, one or two numbers each; the picture is then a map
            of the chosen places and of the error that they leave at the others.
        """
        from .plots.telling import telling

        return telling(self, ax, coordinates)

    def __repr__(self) -> str:
        from .report.overview import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        from .report.overview import as_html

        return as_html(self)

    @property
    def _data(self) -> Operator:
        if self.operator is None:
            raise ValueError(
                "this selection was loaded without its data; give them with load(path, data=…)"
            )
        return self.operator

    @property
    def _judged(self) -> Judged | None:
        """What computes the figures where there is an aim."""
        return None if self.aim is None else Judged(self._data, self.aim, self.exclude)

    def _criterion(self, criterion: str | None) -> str:
        """The criterion that is meant; with a target or noise there is only the trace."""
        criterion = choice(criterion or self.criterion, CRITERIA, "criterion")
        if self.aim is not None and criterion != "trace":
            raise UnsupportedError(
                f"this selection is for {' and '.join(self.aim.asked)}, which has the criterion "
                f'"trace" only, got {criterion!r}'
            )
        return criterion

    def _refuse(self, what: str, instead: str) -> None:
        if self.aim is not None:
            raise UnsupportedError(
                f"{what} is not there for a choice with {' and '.join(self.aim.asked)}; {instead}"
            )

    def _bound(self, criterion: str | None) -> float:
        """The best lower bound that is known, in the units of the operator."""
        criterion = self._criterion(criterion)
        if criterion == self.criterion:
            self._prove_if_asked()
        found = [self.known.get(f"certificate:{criterion}")]
        found.append(self.bound if criterion == self.criterion else None)
        proved = [bound for bound in found if bound is not None]
        if proved:  # the error may be rounded further than what is proved of it
            proved = [min(max(proved), self._figure("error", criterion))]
        return max([self._figure("rank_bound", criterion), *proved])

    def _prove_if_asked(self) -> None:
        """Search all choices if `auto` left a short proof until somebody wants to know."""
        if self.known.pop("provable", None) is None or self.operator is None:
            return
        problem = Problem(
            self.operator,
            self.k,
            self.criterion,
            self.include,
            self.exclude,
            deadline=time.monotonic() + PATIENCE,
        )
        problem.warned.add("rank")
        found = Exact(start=self.indices).choose(problem, np.random.default_rng(0))
        self.known[f"certificate:{self.criterion}"] = float(found.bound or 0.0)

    def _figure(self, kind: str, criterion: str | None) -> float:
        """A figure in the units of the operator, computed once."""
        criterion = self._criterion(criterion)
        key = f"{kind}:{criterion}"
        if key not in self.known:
            self.known[key] = self._compute(kind, criterion)
        return self.known[key]

    def _compute(self, kind: str, criterion: str) -> float:
        if self._judged is not None:
            return self._judged.figure(kind, self.indices)
        if kind == "error":
            return exact_error(self._data, self.indices, criterion)
        if kind == "total":
            return total(self._data, criterion)
        if kind == "rank_bound" and self.operator is None:  # a file of version 0.1
            return self._figure("best_rank", criterion) * (1 - 1e-9)
        if kind == "best_rank":
            return best_rank_error(self._data, self.k, criterion)
        if self.most_columns >= self.n:
            return 0.0
        return rank_bound(self._data, self.most_columns, criterion)

    def _in_units(self, figure: float, criterion: str | None) -> float:
        """The figure in the units of the data: times 2**exponent, squared for ‖·‖²_F."""
        squared = (criterion or self.criterion) == "frobenius"
        exponent = 2 * self.exponent if squared else self.exponent
        with np.errstate(over="ignore", under="ignore"):
            return float(np.ldexp(figure, exponent))
