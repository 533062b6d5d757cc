"""The result of a selection: what was chosen, how good it is, what it rebuilds, how it is shown."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._check import choice, seconds
from ..allowed import Allowed
from ..errors import RankWarning, UnsupportedError, warn_user
from ..linalg.error import Estimate, estimated_error
from ..linalg.nystrom import Nystrom
from ..linalg.rebuilding import rebuilding
from ..linalg.reconstruction import Reconstruction
from ..methods.search.exact import Exact
from ..objectives.objective import OBJECTIVES, Objective, Trace, as_objective
from ..objectives.reconstructed import reconstructed
from ..operators.base import Operator, points_of
from ..operators.data import chosen_columns, has_columns
from ..placement import Constraint
from ..problem import Method, Problem, Trial, check_indices
from ..proof.certificate import Certificate, certify
from ..runs.runner import watching

if TYPE_CHECKING:
    from ..explain.alternatives import Alternatives
    from ..explain.reasons import Reasons
    from ..explain.stability import Stability
    from ..report.overview import Overview


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
class Selection:
    """k distinct indices in order of choice, with their errors, bounds and factors.

    Attributes
    ----------
    indices : the chosen columns or points, in order of choice; a copy, which you may change.
    allowed : which choices could be made, with `include`, `exclude` and `constraints`; of a file
        without groups and costs.
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
    stopped : whether a callback, or the end of the budget, came before the method was done.
    operator : the data; None after `load` without data.
    searched : whether a complete search found no better choice; `proved` asks for bounds too.
    most : the most columns that a choice within its groups or costs has; None without them.
    known : errors and bounds that were computed already, by kind and criterion.
    chooser : the method object that chose.
    labels : the original labels of all candidates.
    center, scale : whether `select` centred and scaled the columns.
    from_rows : whether the data were rows X, with K = XᵀX, and not a kernel or K itself; None if a
        file does not say.
    sketch : numbers that tell the data of a run that was read from others.

    Examples
    --------
    >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
    >>> sorted(s.indices.tolist()), s.error("trace")
    ([1, 2], 1.0)
    """

    indices: np.ndarray
    allowed: Allowed = field(repr=False)
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
    searched: bool = False
    most: int | None = None
    known: dict[str, float] = field(default_factory=dict, repr=False)
    chooser: Method | None = field(default=None, repr=False)
    labels: tuple[Any, ...] | None = None
    center: bool = False
    scale: bool = False
    from_rows: bool | None = None
    sketch: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "objective", as_objective(self.objective))
        if self.path is None:
            object.__setattr__(self, "path", NoPath(self.method))
        if self.operator is not None:
            object.__setattr__(self, "from_rows", has_columns(self.operator))
        indices = check_indices(self.indices, self.n, repeats=self.objective.repeats)
        object.__setattr__(self, "indices", indices)

    def __len__(self) -> int:
        return len(self.indices)

    @property
    def criterion(self) -> str:
        """The word for what was minimised: "trace", "frobenius"."""
        return self.objective.criterion

    @property
    def k(self) -> int:
        """The number of indices."""
        return len(self.indices)

    @property
    def n(self) -> int:
        """How many candidates there were."""
        return self.allowed.n

    @property
    def include(self) -> tuple[int, ...]:
        """The candidates that had to be chosen."""
        return self.allowed.include

    @property
    def exclude(self) -> tuple[int, ...]:
        """The candidates that must not be chosen."""
        return self.allowed.exclude

    @property
    def constraints(self) -> tuple[Constraint, ...]:
        """The constraints on places."""
        return self.allowed.constraints

    @property
    def most_columns(self) -> int:
        """The most columns that an allowed choice has: more than k only with groups or costs."""
        return self.k if self.most is None else self.most

    @property
    def chosen_names(self) -> list[Any] | None:
        """The original labels of the chosen columns, so that `df[s.chosen_names]` works.

        None when the data had no names.
        """
        labels = self.names if self.labels is None else self.labels
        return None if labels is None else [labels[j] for j in self.indices]

    def error(self, criterion: str | None = None) -> float:
        """The error of the choice: tr(K − K̂) for "trace", ‖K − K̂‖²_F for "frobenius".

        For columns of X the trace is ‖X − P_S X‖²_F, the squared error of rebuilding all columns.
        For "logdet" it is −log det K_SS, or −log det(I + K_SS/σ²) with noise.

        Parameters
        ----------
        criterion : "trace", "frobenius" or "logdet"; that of the selection by default.

        Returns
        -------
        float
            In the units of the data, squared; for "logdet" in nats.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.error()
        1.0
        """
        return self._in_units(self._figure("error", criterion), criterion)

    def estimated_error(
        self, criterion: str | None = None, *, n_probes: int = 32, seed: int = 0
    ) -> Estimate:
        """Estimate the error, with a 95 % confidence interval, if the exact error costs too much.

        It takes one product with a block of random probes.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.
        n_probes : the width of the block; four times as many halve the interval.
        seed : the same seed gives the same block.

        Returns
        -------
        Estimate
            `value`, and the ends `low` and `high` of the interval.

        Examples
        --------
        >>> points = np.random.default_rng(0).standard_normal((200, 2))
        >>> s = lm.select(lm.kernel(points, lm.rbf(sigma=1.0)), 10, method="greedy")
        >>> found = s.estimated_error(n_probes=100)
        >>> found.low <= found.value <= found.high
        True
        """
        objective = self._objective(criterion)
        if not objective.plain or objective.volume:
            asked = " and ".join(map(objective.named, objective.asked))
            raise UnsupportedError(
                f"estimated_error is not available for a choice with {asked}; error() is exact"
            )
        found = estimated_error(
            self._data, self.indices, objective.depth, n_probes=n_probes, seed=seed
        )
        value, low, high = (
            self._in_units(figure, criterion) for figure in (found.value, found.low, found.high)
        )
        return Estimate(value, low, high, n_probes)

    def total(self, criterion: str | None = None) -> float:
        """The error of choosing nothing: tr K, or ‖K‖²_F.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            What `relative_error` divides by.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.total()
        14.0
        """
        return self._in_units(self._figure("total", criterion), criterion)

    def relative_error(self, criterion: str | None = None) -> float:
        """The error as a share of the error of choosing nothing.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            From 0 (everything is rebuilt) to 1.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.relative_error(), 3)
        0.071
        """
        total = self._figure("total", criterion)
        return self._figure("error", criterion) / total if total > 0 else 0.0

    def best_rank_error(self, criterion: str | None = None) -> float:
        """The error of the best k directions (PCA), which need not be columns.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            The sum of the eigenvalues of K after the k largest, or of their squares. Above 3000
            columns the largest come from some six products with blocks of a little over k vectors.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.best_rank_error()
        1.0
        """
        return self._in_units(self._figure("best_rank", criterion), criterion)

    def factor(self, criterion: str | None = None) -> float:
        """The error divided by that of the best k directions (Section 4).

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            At least 1; NaN, with a warning, beyond the numerical rank.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> s.factor()
        1.0
        """
        tail = self._figure("best_rank", criterion)
        certain = tail
        if self.most_columns == self.k:
            certain = self._figure("rank_bound", criterion)
        if tail <= 0 or certain < tail / 2:
            warn_user(
                f"the factor is undefined: k = {self.k} is at the numerical rank, where rounding "
                "may be half of the best rank-k error or more",
                RankWarning,
            )
            return math.nan
        return self._figure("error", criterion) / tail

    @property
    def proved(self) -> bool:
        """Whether no choice of k columns that satisfies the constraints can be better.

        Better means by more than 1e-9 of the error. This is what is known; `prove` searches.
        """
        if self.searched:
            return True
        if self.bound is None and f"certificate:{self.criterion}" not in self.known:
            return False
        least = self.objective.below(self._figure("error", None), 1.001e-9)
        return bool(self._bound(None) >= least)

    def lower_bound(self, criterion: str | None = None) -> float:
        """A lower bound on the error of every choice of k columns with include and exclude.

        It is the best bound known: the best rank-k error, or that of an exact search or of
        `certificate`. With groups or costs it holds for every choice of at most `most_columns`
        columns.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            At most `error(criterion)`; equal to it if the choice is proved to be the best.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.lower_bound(), 6)
        1.0
        """
        return self._in_units(self._bound(criterion), criterion)

    def gap(self, criterion: str | None = None) -> float:
        """The largest share of the error that another choice could avoid; for logdet, in nats.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            From 0 (proved optimal) to 1 (nothing is known).

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2)
        >>> round(s.gap(), 6)
        0.0
        """
        error = self._figure("error", criterion)
        return self._objective(criterion).gap(error, self._bound(criterion))

    def certificate(
        self,
        budget: float = 60.0,
        *,
        criterion: str | None = None,
        after: Certificate | None = None,
        callback: Any = None,
    ) -> Certificate:
        """A lower bound on the error of every choice; more seconds raise it.

        `lower_bound`, `gap` and `proved` use it afterwards. It accounts for rounding.

        Parameters
        ----------
        budget : seconds. More give a better bound; the cheap bounds come first.
        criterion : of the error; that of the selection by default.
        after : an earlier certificate of this selection to continue from.
        callback : called with a `Progress` from time to time; if it returns True, the work ends.

        Returns
        -------
        Certificate
            `bound` and `gap`, where the bound comes from, and the seconds it took.

        Examples
        --------
        >>> s = lm.select(np.random.default_rng(0).standard_normal((30, 8)), 3)
        >>> s.certificate(budget=1.0).bound <= s.error()
        True
        """
        begun = time.monotonic()
        objective = self._objective(criterion)
        problem = Problem(
            self._data,
            self.most_columns,
            objective,
            self.include,
            self.exclude,
            deadline=begun + seconds(budget),
        )
        point = None if after is None else after.point
        error = self._figure("error", criterion)
        with watching(callback):
            found = certify(problem, self.indices, error, point)
        known = max(found.value, self._bound(criterion))
        self.known[f"certificate:{objective.criterion}"] = known
        return Certificate(
            bound=self._in_units(known, criterion),
            gap=self.gap(criterion),
            source=found.source if found.value >= known else "known",
            seconds=time.monotonic() - begun,
            iterations=found.iterations,
            point=found.point,
            in_nats=not objective.shares,
        )

    def prove(self, budget: float = 60.0, *, callback: Any = None) -> Selection:
        """The best choice of all, proved if the budget suffices.

        Parameters
        ----------
        budget : seconds.
        callback : called with a `Progress` from time to time; if it returns True, the work ends.

        Returns
        -------
        Selection
            This selection, or a better one if there is one; `proved` says whether it is the best.

        Examples
        --------
        >>> s = lm.select(np.random.default_rng(0).standard_normal((30, 12)), 4, method="greedy")
        >>> s.proved, s.prove().proved
        (False, True)
        """
        problem = self.problem(time.monotonic() + seconds(budget))
        problem.warned.add("rank")
        with watching(callback):
            found = Exact(start=self.indices).choose(problem, np.random.default_rng(0))
        known = {name: figure for name, figure in self.known.items() if "error" not in name}
        proved = bool(found.details["proved"])
        better = replace(
            self, indices=found.indices, searched=proved, known=known, bound=found.bound
        )
        if better._figure("error", None) < self.objective.below(self._figure("error", None), 1e-9):
            return better
        object.__setattr__(self, "searched", self.searched or proved)
        key = f"certificate:{self.criterion}"
        bounds = (found.bound, self.known.get(key), self.objective.floor)
        self.known[key] = max(float(bound) for bound in bounds if bound is not None)
        return self

    def problem(self, deadline: float | None = None) -> Problem:
        """The problem that was solved: the data, the objective and what could be chosen.

        Parameters
        ----------
        deadline : the `time.monotonic()` by which it should be solved.

        Returns
        -------
        Problem
            For a method, or for a search of your own.

        Examples
        --------
        >>> s = lm.select(np.diag([1.0, 3.0, 2.0]), 2, exclude=[1])
        >>> s.problem().free.tolist()
        [0, 2]
        """
        allowed = self.allowed
        if self._limits_lost:
            raise UnsupportedError(
                "this file was saved without the groups and costs of the choice; choose again"
            )
        counted = allowed.single and allowed.sized
        return Problem(
            self._data,
            self.k if counted else allowed.k,
            self.objective,
            allowed.include,
            allowed.exclude,
            groups=allowed.groups,
            costs=allowed.prices,
            budget_cost=allowed.budget if np.isfinite(allowed.budget) else None,
            deadline=deadline,
            constraints=allowed.constraints,
        )

    @property
    def _limits_lost(self) -> bool:
        """Whether groups or costs limited the choice that the file does not hold."""
        return self.most is not None and self.allowed.groups is None and self.allowed.prices is None

    @property
    def _data(self) -> Operator:
        if self.operator is None:
            raise ValueError(
                "this selection was loaded without its data; give them with load(path, data=…)"
            )
        return self.operator

    @property
    def _noun(self) -> str:
        """What one candidate is called, if it has no name."""
        return "landmark" if self.from_rows is False and self.labels is None else "column"

    def _objective(self, criterion: str | None) -> Objective:
        """What the selection minimised, or the same target and noise by another criterion."""
        if criterion is None or criterion == self.criterion:
            return self.objective
        return self.objective.measured(
            OBJECTIVES[choice(criterion, tuple(OBJECTIVES), "criterion")]
        )

    def _bound(self, criterion: str | None) -> float:
        """The best lower bound that is known, in the units of the operator."""
        objective = self._objective(criterion)
        listed = [self.known.get(f"certificate:{objective.criterion}")]
        listed.append(self.bound if objective.criterion == self.criterion else None)
        proved = [bound for bound in listed if bound is not None]
        if proved:  # the error may be rounded further than what is proved of it
            proved = [min(max(proved), self._figure("error", criterion))]
        found = max([self._figure("rank_bound", criterion), *proved])
        if not objective.plain:  # the error may be rounded further than the bound
            found = min(found, self._figure("error", criterion))
        return found

    def _figure(self, kind: str, criterion: str | None) -> float:
        """A figure in the units of the operator, computed once."""
        objective = self._objective(criterion)
        key = f"{kind}:{objective.criterion}"
        if key not in self.known:
            self.known[key] = self._compute(kind, objective)
        return self.known[key]

    def _compute(self, kind: str, objective: Objective) -> float:
        if kind == "error":
            return objective.exact_error(self._data, self.indices)
        if kind == "total":
            return objective.total(self._data)
        if kind == "rank_bound" and self.operator is None:  # a file of version 0.1
            return self._figure("best_rank", objective.criterion) * (1 - 1e-9)
        if kind == "best_rank":
            return objective.best_rank_error(self._data, self.k, self.exclude)
        if self.most_columns >= self.n and objective.plain and objective.shares:
            return 0.0
        return objective.bound(self._data, self.most_columns, self.exclude)

    def _in_units(self, figure: float, criterion: str | None) -> float:
        """The figure in the units of the data: times 2**exponent, squared for ‖·‖²_F."""
        return self._objective(criterion).in_units(figure, self.exponent)

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
        return reconstructed(self._data, self.indices, self.objective, ridge, centred=self.center)

    def save(self, path: Any) -> None:
        """Write the selection to an npz file, without pickle; `landmarks.load` reads it.

        The file holds the errors and bounds by the criterion of the selection, and what else was
        asked of it before; further ones need the data again.

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

    def why(
        self, criterion: str | None = None, *, each: int = 3, stability: Stability | None = None
    ) -> Reasons:
        """Why these columns: what each adds, what could replace it, what rebuilds the others.

        Parameters
        ----------
        criterion : of the errors; that of the selection by default.
        each : how many substitutes and sources to list for each column.
        stability : the result of `stability`, to be shown as well.

        Returns
        -------
        Reasons
            With the tables `chosen` and `dropped`, which print themselves.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> s = lm.select(load_breast_cancer(as_frame=True).data, 5, center=True, scale=True)
        >>> s.why().chosen["name"][:2]
        ['worst perimeter', 'compactness error']
        """
        from ..explain.reasons import reasons

        return reasons(self, self._data, self._objective(criterion), each, stability)

    def alternatives(
        self,
        within: float | str = 0.01,
        *,
        at_most: int = 1000,
        budget: float = 60.0,
        callback: Any = None,
    ) -> Alternatives:
        """Every choice of k whose error is within a share of the best, complete and proved.

        Parameters
        ----------
        within : the share, such as 0.01 or "1%"; for "logdet" by how many nats it may be above.
        at_most : how many to return; if there are more, `complete` is False.
        budget : seconds for comparing all choices.
        callback : called with a `Progress` from time to time; if it returns True, the work ends.

        Returns
        -------
        Alternatives
            `choices`, `errors`, `above`, `counts` and `always`, which prints itself as a table.

        Examples
        --------
        >>> s = lm.select(np.diag([3.0, 2.0, 2.0, 1.0]), 2)
        >>> s.alternatives(within=0.1).choices.tolist()
        [[0, 1], [0, 2]]
        """
        from ..explain.alternatives import alternatives

        return alternatives(self, within, at_most, budget, callback)

    def stability(
        self, n_bootstrap: int = 50, *, method: Any = None, seed: int | None = 0
    ) -> Stability:
        """How often each candidate is chosen over bootstrap samples of the rows, or of the points.

        Parameters
        ----------
        n_bootstrap : the number of samples; each costs a selection.
        method : how to choose on each sample; by default the method of the selection. "greedy" is
            fast.
        seed : the same seed gives the same samples; None draws random ones.

        Returns
        -------
        Stability
            `frequencies`: the share of the samples that chose each candidate.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> s = lm.select(load_breast_cancer(as_frame=True).data, 5, center=True, scale=True)
        >>> often = s.stability(10, method="greedy").frequencies
        >>> len(often), bool(often.max() <= 1)
        (30, True)
        """
        from ..explain.stability import bootstrap

        return bootstrap(self, n_bootstrap, method, seed)

    def report(self, path: Any, *, overwrite: bool = False, **origin: Any) -> None:
        """Write one HTML page with all results, which can be shared and read offline.

        Parameters
        ----------
        path : the file, whose name ends in .html.
        overwrite : whether a file of that name may be replaced.
        origin : what else the page says: title, noun, measure, command, settings, image (height
            and width if the candidates are pixels), rows, fingerprint, alternatives. With
            coordinates, one or two numbers for each candidate, it has maps of the error and of the
            field, a value for each candidate.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> s = lm.select(load_breast_cancer(as_frame=True).data, 5, center=True, scale=True)
        >>> import pathlib, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     s.report(f"{folder}/tumours.html")
        ...     [file.name for file in pathlib.Path(folder).iterdir()]
        ['tumours.html']
        """
        from ..report.html_page import write

        write(self, path, overwrite=overwrite, **origin)

    def summary(self) -> Overview:
        """The table that the command line prints; at most 10 of the chosen columns are listed.

        Returns
        -------
        Overview
            It prints as text, and notebooks show it as HTML.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> s = lm.select(load_breast_cancer(as_frame=True).data, 5, center=True, scale=True)
        >>> print(str(s.summary()).splitlines()[0].strip())
        5 of 30 columns keep 78.2% of the variance
        """
        from ..report.overview import overview

        return overview(self)

    def to_frame(self) -> Any:
        """The choice as a pandas DataFrame: index, name, and the share kept up to there.

        Returns
        -------
        pandas.DataFrame
            One row for each chosen column, in order of choice.

        Examples
        --------
        >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2).to_frame()["index"].tolist()
        [1, 2]
        """
        from ..report.overview import as_table

        return as_table(self).to_frame()

    def transform(self, X: Any) -> Any:
        """The chosen columns of other rows, in order of choice.

        Parameters
        ----------
        X : a table with the same n columns: an array, a sparse matrix or a data frame. Columns of a
            frame are found by their names.

        Returns
        -------
        array, sparse matrix or data frame
            What X is, with k columns.

        Examples
        --------
        >>> lm.select(np.diag([1.0, 3.0, 2.0]), 2).transform(np.arange(6).reshape(2, 3))
        array([[1, 2],
               [4, 5]])
        """
        return chosen_columns(X, self.indices, self.labels, self.n)

    def plot(self, ax: Any = None, *, coordinates: Any = None, field: Any = None) -> Any:
        """Plot the landmarks among their points, or else the error against k.

        Parameters
        ----------
        ax : matplotlib axes; a new figure unless given.
        coordinates : the positions of the candidates, one or two numbers each. The plot is then a
            map of the chosen places and of the remaining error at the others; without `ax`, a map
            of the field is drawn next to it.
        field : a value for each candidate to be drawn as the field, such as one snapshot; by
            default the root mean square over the rows, or the standard deviation of a kernel.

        Returns
        -------
        a display, with the axes as `ax_` and the figure as `figure_`
            Like the displays of scikit-learn.

        Examples
        --------
        >>> from sklearn.datasets import load_breast_cancer
        >>> s = lm.select(load_breast_cancer(as_frame=True).data, 5, center=True, scale=True)
        >>> s.plot().ax_.get_xlabel()
        'columns chosen'
        """
        from ..plots.coverage import plot_maps, plot_points
        from ..plots.curves import plot_errors

        if field is not None and coordinates is None:
            raise ValueError("field needs coordinates=…, the positions of the candidates")
        if coordinates is not None:
            return plot_maps(self, coordinates, field, ax)
        return (plot_errors if points_of(self._data) is None else plot_points)(self, ax)

    def __repr__(self) -> str:
        from ..report.overview import one_line

        return one_line(self)

    def _repr_html_(self) -> str:
        from ..report.overview import as_html

        return as_html(self)


class Copied:
    """A field whose array is copied each time it is read: torch warns about read-only indices."""

    def __get__(self, selection: Any, owner: type) -> np.ndarray:
        if selection is None:
            raise AttributeError("indices")
        return vars(selection)["indices"].copy()

    def __set__(self, selection: Any, indices: np.ndarray) -> None:
        vars(selection)["indices"] = indices


# Here and not in the class, where a dataclass would take it for a default value.
Selection.indices = Copied()  # type: ignore[assignment]


class NoPath:
    """Stands for a missing path: empty and false; its attributes raise an error that says why."""

    def __init__(self, method: str):
        self.method = method

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
