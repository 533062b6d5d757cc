"""How good a choice is: its error, and its error relative to nothing chosen or the best rank k."""

import math
import warnings

from ..errors import RankWarning
from ..linalg.error import Estimate, estimated_error
from .bounds import Bounds


class Quality(Bounds):
    """What a user asks about the quality of a selection."""

    def error(self, criterion: str | None = None) -> float:
        """The error of the choice: tr(K − K̂) for "trace", ‖K − K̂‖²_F for "frobenius".

        For columns of X the trace is ‖X − P_S X‖²_F, the squared error of rebuilding all columns.

        Parameters
        ----------
        criterion : "trace" or "frobenius"; that of the selection by default.

        Returns
        -------
        float
            In the units of the data, squared.

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
        self._refuse("estimated_error", "error() is exact")
        criterion = self._criterion(criterion)
        depth = self._objective(criterion).depth
        found = estimated_error(self._data, self.indices, depth, n_probes=n_probes, seed=seed)
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
            The sum of the eigenvalues of K after the k largest, or of their squares.

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
            warnings.warn(
                f"the factor is undefined: k = {self.k} is at the numerical rank, where rounding "
                "may be half of the best rank-k error or more",
                RankWarning,
                stacklevel=2,
            )
            return math.nan
        return self._figure("error", criterion) / tail
