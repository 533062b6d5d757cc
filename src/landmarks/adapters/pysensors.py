"""An optimizer for `pysensors.SSPOR(optimizer=…)` and `pysensors.SSPOC`.

PySensors asks an optimizer for a ranking of all places; the basis matrix has one row per place.
The first `n_sensors` places are the best choice of that size, the next ones continue it greedily.

If there are as many places as modes, every independent choice rebuilds the modes exactly, so the
choice is made by noise. With V the modes by places and S the chosen ones, W = V_S⁻¹ V rebuilds all
places from those of S, and independent noise of variance one at the sensors becomes a noise of
total variance ‖W‖²_F. Exchanging member i for place j gives W − (W_:j − e_i) W_i:/W_ij, so all
exchanges are judged at once, and the best is made until none helps.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from .._select import select
from ..errors import RankWarning
from ..methods.greedy.greedy import ErrorGains
from ..operators.base import Operator
from ..operators.data import data
from ..operators.pair import Pair
from ..placement.constraint import Constraint
from ..placement.packing import exchangeable
from ..placement.regions import Regions
from ..residual.residual import Residual

OPTIONS = ("", "max_n", "exact_n")
LIMIT = 50  # most exchanges per place
GAIN = 1e-6  # least share of the noise that an exchange must remove


class LandmarkSensors(BaseEstimator):
    """Sensors that rebuild the training data best, for `SSPOR(optimizer=LandmarkSensors(…))`.

    Parameters
    ----------
    n_sensors : how many sensors will be used. The choice depends on this number, so give it here
        and to SSPOR. None is the number of modes. With as many sensors as modes, the modes are
        rebuilt exactly; then the places that amplify noise least are chosen.
    method : how to choose, as in `select`.
    include, exclude, constraints : places that must or must not have a sensor, and where the others
        may be, as in `select`.
    sensor_costs : the cost of each place, in units of the data. The ranking is then greedy: each
        pick has the largest square root of the gain minus the cost.
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
        seed: int | None = 0,
    ):
        if sensor_costs is not None and np.ndim(sensor_costs) != 1:
            raise ValueError(
                "sensor_costs must be a 1D array with one cost per place, "
                f"but a {np.ndim(sensor_costs)}D array was given"
            )
        self.n_sensors = n_sensors
        self.method = method
        self.include = include
        self.exclude = exclude
        self.constraints = constraints
        self.sensor_costs = sensor_costs
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
        basis_matrix : one row per place, one column per mode.
        singular_values : the size of each mode in the data. Modes of an SVD have norm one, so
            without this they all count the same.
        n_sensors : replaces the number given to the constructor.
        idx_constrained, n_const_sensors, constraint_option : as in `pysensors.optimizers.GQR`: at
            most ("max_n") or exactly ("exact_n") this many sensors at these places.
        all_sensors : ignored; accepted because GQR needs the ranking of another optimizer.
        """
        operator = data(_columns(basis_matrix, singular_values), scale=False)
        size = n_sensors or self.n_sensors or min(np.shape(basis_matrix))
        constraints = list(self.constraints)
        if constraint_option:
            places = np.isin(np.arange(operator.n), idx_constrained)
            constraints.append(_region(places, constraint_option, n_const_sensors))
            size = min(size, int(np.sum(~places)) + n_const_sensors)
        if self.sensor_costs is not None:
            ranked = _ranked_by_cost(operator, self._costs(operator.n), min(np.shape(basis_matrix)))
        else:
            ranked = self._ranked(operator, size, constraints)
        others = np.setdiff1d(np.arange(operator.n), ranked)
        self.pivots_ = np.concatenate([ranked, others])
        return self

    def get_sensors(self) -> np.ndarray:
        """All places, the best first; those after the number of modes are in no order."""
        check_is_fitted(self, "pivots_")
        return self.pivots_

    def _costs(self, n: int) -> np.ndarray:
        costs = np.asarray(self.sensor_costs, dtype=np.float64)
        if len(costs) != n:
            raise ValueError(
                f"Dimension of sensor_costs ({len(costs)}) does not match number of sensors in "
                f"data ({n})"
            )
        return costs

    def _ranked(self, operator: Operator, size: int, constraints: list[Any]) -> np.ndarray:
        """The best choice of that size, continued greedily to as many places as there are modes."""
        modes = min(operator.m or size, operator.n - len(list(self.exclude)))
        where = {"include": self.include, "exclude": self.exclude, "constraints": constraints}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)
            if size == modes:
                return self._interpolating(operator, size, where)
            first = select(operator, size, method=self.method, seed=self.seed, **where).indices
            if size > modes:
                return first
            rest = {"include": first, "exclude": self.exclude}
            return select(operator, modes, method="greedy", **rest).indices

    def _interpolating(self, operator: Operator, size: int, where: dict[str, Any]) -> np.ndarray:
        """As many sensors as modes rebuild them exactly: the choice that amplifies noise least."""
        first = select(operator, size, method="greedy", **where)
        V = np.asarray(operator.factor())
        if operator.m != size or np.linalg.matrix_rank(V[:, first.indices]) < size:
            return first.indices
        return least_noise(
            V,
            first.indices,
            locked=first.include,
            excluded=first.exclude,
            constraints=first.constraints,
        )


def _columns(basis_matrix: Any, singular_values: Any) -> np.ndarray:
    """X with one column per place; modes that are complex have a real and an imaginary row."""
    X = np.asarray(basis_matrix).T
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


def _ranked_by_cost(operator: Operator, costs: np.ndarray, size: int) -> np.ndarray:
    """Greedy picks by the square root of the gain, which has the units of the data, less cost."""
    residual = Residual(Pair(operator.searchable(size), operator.n), size)
    gains = ErrorGains(residual)
    while len(residual.picks) < size:
        worth = np.sqrt(np.asarray(gains.scores())) - costs
        worth[residual.picks] = -np.inf
        gains.update(residual.pick(int(np.argmax(worth))))
    return np.asarray(residual.picks, dtype=np.int64)


def least_noise(
    V: np.ndarray,
    chosen: np.ndarray,
    *,
    locked: Sequence[int] = (),
    excluded: Sequence[int] = (),
    constraints: Sequence[Constraint] = (),
) -> np.ndarray:
    """Exchange chosen places, independent and one per mode, until the noise is least."""
    chosen = chosen.copy()
    for _ in range(LIMIT * len(chosen)):
        W = np.linalg.solve(V[:, chosen], V)
        noise = after_exchanges(W)
        noise[np.isin(chosen, locked)] = np.inf
        noise[:, chosen] = np.inf
        noise[:, list(excluded)] = np.inf
        if constraints:
            noise[~exchangeable(constraints, chosen)] = np.inf
        place, j = np.unravel_index(np.argmin(noise), noise.shape)
        if not noise[place, j] < (1 - GAIN) * np.sum(W * W):
            break
        chosen[place] = j
    return chosen


def after_exchanges(W: np.ndarray) -> np.ndarray:
    """‖W‖²_F after exchanging member i for place j, for all i and j; infinite where W_ij is 0."""
    G = W @ W.T
    own = np.diag(G)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        length = np.sum(W * W, axis=0) - 2 * W + 1
        change = (length * own / W - 2 * (G @ W - own)) / W
    return np.trace(G) + np.where(np.isfinite(change), change, np.inf)
