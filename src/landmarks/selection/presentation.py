"""How a selection is shown: as a line, a table, a plot, a page, and with its reasons."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from ..explain.alternatives import Alternatives
    from ..explain.reasons import Reasons
    from ..explain.stability import Stability
    from ..report.overview import Overview
    from .selection import Selection


class Presentation:
    """How a selection shows and explains itself; what that needs is imported on use."""

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

        selection = _selection(self)
        criterion = selection._criterion(criterion)
        return reasons(selection, selection._data, criterion, each, stability)

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
        within : the share, such as 0.01 or "1%".
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

        return alternatives(_selection(self), within, at_most, budget, callback)

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

        selection = _selection(self)
        return bootstrap(selection, selection._data, n_bootstrap, method, seed)

    def report(self, path: Any, *, overwrite: bool = False, **origin: Any) -> None:
        """Write one HTML page with all results, which can be shared and read offline.

        Parameters
        ----------
        path : the file, whose name ends in .html.
        overwrite : whether a file of that name may be replaced.
        origin : what else the page says, as `landmarks.report.write` takes it. With `coordinates`,
            one or two numbers for each candidate, it has maps of the field and of the error.

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

        write(_selection(self), path, overwrite=overwrite, **origin)

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

        return overview(_selection(self))

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
        from ..plots.coverage import CoverageDisplay, MapDisplay
        from ..plots.error_curve import ErrorCurveDisplay

        selection = _selection(self)
        if field is not None and coordinates is None:
            raise ValueError("field needs coordinates=…, the positions of the candidates")
        if coordinates is not None:
            return MapDisplay.from_selection(selection, coordinates, field=field, ax=ax)
        if selection._data.raw is not None:
            return CoverageDisplay.from_selection(selection, ax=ax)
        return ErrorCurveDisplay.from_selection(selection, ax=ax)

    def __repr__(self) -> str:
        from ..report.overview import one_line

        return one_line(_selection(self))

    def _repr_html_(self) -> str:
        from ..report.overview import as_html

        return as_html(_selection(self))


def _selection(shown: Presentation) -> Selection:
    """The selection itself: `Selection` is the only class that derives from `Presentation`."""
    return cast("Selection", shown)
