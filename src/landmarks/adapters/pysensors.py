"""An optimizer for `pysensors.SSPOR(optimizer=…)` and `pysensors.SSPOC`.

PySensors asks an optimizer for a ranking of all places; the basis matrix has one row per place.
The first `n_sensors` places are the best choice of that size, the next ones continue it greedily.

If there are at least as many sensors as modes, every independent choice rebuilds the modes exactly,
so noise decides. With the rows of Q an orthonormal basis of the modes, and S the chosen places,
independent noise of variances N at the sensors becomes noise of total variance tr (Q_S N⁻¹ Q_Sᵀ)⁻¹
in the rebuilt field. That is the limit of the trace error with noise, divided by the noise, for
little noise (A-optimal design). With more sensors than modes, half of the noise is in proportion to
the squared modes at the place, because what the modes leave out is larger where they are: if it
were the same everywhere, sensors would gather at a few peaks of the modes and share one error.
Fewer sensors than modes that all count the same cannot be told apart by the trace error either;
then the log determinant decides, greedily, as QR does.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._select import select
from ..errors import RankWarning
from ..methods.greedy.greedy import ErrorGains
from ..methods.search.swap import Swap
from ..operators.base import Operator
from ..operators.data import data
from ..operators.pair import Pair
from ..placement import Regions
from ..residual.residual import Residual

OPTIONS = ("", "max_n", "exact_n")
LITTLE = 1e-3  # noise that only decides between choices that rebuild the modes, per mean square
ALIKE = 1e-6  # relative differences of the singular values of modes that count the same


class LandmarkSensors(BaseEstimator):
    """Sensors that rebuild the training data best, for `SSPOR(optimizer=LandmarkSensors(…))`.

    Parameters
    ----------
    n_sensors : how many sensors will be used. The choice depends on this number, so give it here
        and to SSPOR. None is the number of independent modes. With at least as many sensors as
        modes, the modes are rebuilt exactly; then the places that amplify noise least are chosen.
    method : how to choose, as in `select`.
    include, exclude, constraints : places that must or must not have a sensor, and where the others
        may be, as in `select`. Places at which all modes are zero, or masked, have no sensor.
    sensor_costs : the cost of each place, in units of the data. The ranking is then greedy: each
        pick has the largest square root of the gain minus the cost.
    noise : the variance of the noise of the sensors, as in `select`, in the units of the modes
        squared, times their `singular_values` squared if those are given. The expected error of the
        regularised estimate then decides.
    seed : for methods that use random numbers.

    Examples
    --------
    >>> from landmarks.adapters.pysensors import LandmarkSensors
    >>> fields = np.vander(np.linspace(0, 1, 50), 5, increasing=True)
    >>> LandmarkSensors(n_sensors=3).fit(fields).get_sensors()[:3].tolist()
    [28, 45, 7]
    """

    def __init__(
        self,
        n_sensors: int | None = None,
        *,
        method: Any = "auto",
        include: Any = (),
        exclude: Any = (),
        constraints: Any = (),
        sensor_costs: Any = None,
        noise: Any = None,
        seed: int | None = 0,
    ):
        if sensor_costs is not None and np.ndim(sensor_costs) != 1:
            raise ValueError(
                "sensor_costs must be a 1D array with one cost per place, "
                f"but a {np.ndim(sensor_costs)}D array was given"
            )
        if sensor_costs is not None and noise is not None:
            raise ValueError("sensor_costs ranks places without noise; leave one of them out")
        self.n_sensors = n_sensors
        self.method = method
        self.include = include
        self.exclude = exclude
        self.constraints = constraints
        self.sensor_costs = sensor_costs
        self.noise = noise
        self.seed = seed

    def fit(
        self,
        basis_matrix: Any,
        singular_values: Any = None,
        *,
        n_sensors: int | None = None,
        idx_constrained: Any = (),
        n_const_sensors: int = 0,
        constraint_option: str = "",
        all_sensors: Any = None,
    ) -> LandmarkSensors:
        """Rank the places.

        Parameters
        ----------
        basis_matrix : one row per place, one column per mode; rows of zeros, and rows that are
            masked in a masked array, are places that have no sensor.
        singular_values : the size of each mode in the data. Modes of an SVD have norm one, so
            without this they all count the same.
        n_sensors : replaces the number given to the constructor.
        idx_constrained, n_const_sensors, constraint_option : as in `pysensors.optimizers.GQR`: at
            most ("max_n") or exactly ("exact_n") this many sensors at these places.
        all_sensors : ignored; accepted because GQR needs the ranking of another optimizer.
        """
        X = _columns(basis_matrix, singular_values)
        _, s, Q = np.linalg.svd(X, full_matrices=False)
        modes = np.shape(basis_matrix)[1]
        rank = int(np.sum(s > max(X.shape) * np.finfo(np.float64).eps * s[:1].max(initial=0.0)))
        size = n_sensors or self.n_sensors or rank
        constraints = list(self.constraints)
        if constraint_option:
            places = np.isin(np.arange(X.shape[1]), idx_constrained)
            constraints.append(_region(places, constraint_option, n_const_sensors))
            size = min(size, int(np.sum(~places)) + n_const_sensors)
        if size == modes > rank:
            raise ValueError(
                f"the {modes} modes have rank {rank}, so no {size} sensors determine them; use "
                f"{rank} modes or fewer, or another number of sensors"
            )
        alike = rank == len(s) and float(s[0] - s[-1]) <= ALIKE * float(s[0])
        if size >= rank and self.noise is None:
            X = Q[:rank]
        if self.sensor_costs is not None:
            ranked = self._ranked_by_cost(X, rank, alike or size >= rank)
        else:
            where = {"include": self.include, "exclude": self._excluded(X)}
            where["constraints"] = constraints
            ranked = self._ranked(data(X, scale=False), size, rank, alike, where)
            chosen = ranked[:size]
            if self.noise is None and np.linalg.matrix_rank(Q[:rank, chosen]) < min(size, rank):
                raise ValueError(
                    f"the places that may have a sensor have no {min(size, rank)} independent "
                    "ones; allow more places, or ask for fewer sensors and modes"
                )
        others = np.setdiff1d(np.arange(X.shape[1]), ranked)
        self.pivots_ = np.concatenate([ranked, others])
        return self

    def get_sensors(self) -> np.ndarray:
        """All places, the best first; those after the sensors and modes are in no order."""
        check_is_fitted(self, "pivots_")
        return self.pivots_.copy().view(Ranking)

    def _excluded(self, X: np.ndarray) -> list[Any]:
        """The places that must not have a sensor: those named, and those without any mode."""
        exclude = np.asarray(self.exclude)
        named = np.flatnonzero(exclude) if exclude.dtype == bool else exclude
        return [*np.unique(np.r_[named, np.flatnonzero(~np.any(X, axis=0))]).astype(int).tolist()]

    def _ranked(
        self, operator: Operator, size: int, rank: int, alike: bool, where: dict[str, Any]
    ) -> np.ndarray:
        """The best choice of that size, continued greedily to as many places as there are modes."""
        criterion, method, noise = "trace", self.method, self.noise
        if noise is None and size >= rank:
            squares = operator.diagonal()
            noise = LITTLE * (squares.mean() + (squares if size > rank else 0.0))
        elif noise is None and alike:
            criterion, method = "logdet", "greedy"
        asked = {"criterion": criterion, "noise": noise, "seed": self.seed}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            first = select(operator, size, method=method, **asked, **where)
            if method == "auto" and self.noise is None and size == rank and not first.proved:
                start = select(operator, size, criterion="logdet", method="greedy", **where)
                other = select(operator, size, method=Swap(start=start.indices), **asked, **where)
                first = min(first, other, key=lambda found: found.error())  # not above that of QR
            most = min(rank, operator.n - len(where["exclude"]))
            if size >= most:
                return first.indices
            more = {"include": first.indices, "exclude": where["exclude"]}
            return select(operator, most, method="greedy", **asked, **more).indices

    def _ranked_by_cost(self, X: np.ndarray, size: int, lengths: bool) -> np.ndarray:
        """Greedy picks by the square root of the gain, which has the units of the data, less cost.

        lengths : whether the gain is what is left of the place itself, as in CCQR.
        """
        costs = np.asarray(self.sensor_costs, dtype=np.float64)
        if len(costs) != X.shape[1]:
            raise ValueError(
                f"Dimension of sensor_costs ({len(costs)}) does not match number of sensors in "
                f"data ({X.shape[1]})"
            )
        operator = data(X, scale=False)
        residual = Residual(Pair(operator, operator.n).searchable(size), size)
        gains = ErrorGains(residual)
        closed = self._excluded(X)
        while len(residual.picks) < size:
            worth = np.sqrt(np.asarray(residual.diagonal if lengths else gains.scores())) - costs
            worth[[*residual.picks, *closed]] = -np.inf
            gains.update(residual.pick(int(np.argmax(worth))))
        return np.asarray(residual.picks, dtype=np.int64)


class Ranking(np.ndarray):
    """A ranking that stays in its order: SSPOR shuffles all that come after the modes in place."""

    def __setitem__(self, key: Any, value: Any) -> None:
        if not np.array_equal(np.sort(self[key], axis=None), np.sort(value, axis=None)):
            super().__setitem__(key, value)


def _columns(basis_matrix: Any, singular_values: Any) -> np.ndarray:
    """X with one column per place; modes that are complex have a real and an imaginary row."""
    masked = np.any(np.ma.getmaskarray(basis_matrix), axis=1)
    X = np.where(masked, 0.0, np.asarray(basis_matrix).T)
    if singular_values is not None:
        X = np.asarray(singular_values)[:, None] * X
    return np.concatenate([X.real, X.imag]) if np.iscomplexobj(X) else X


def _region(places: np.ndarray, option: str, count: int) -> Regions:
    if option not in OPTIONS:
        raise ValueError(
            f'constraint_option must be "max_n" or "exact_n", got {option!r}; for distances and '
            "other zones make LandmarkSensors(constraints=[lm.MinDistance(…)], exclude=…)"
        )
    if option == "max_n":
        return Regions(places, at_most={True: count})
    return Regions(places, exactly={True: count})
