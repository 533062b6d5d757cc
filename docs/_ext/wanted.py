"""The order of the tutorials: what most people want comes first."""

from __future__ import annotations

ORDER = (
    "plot_table.py",
    "plot_sensors.py",
    "plot_genes.py",
    "plot_inducing_points.py",
    "plot_large_kernel.py",
    "plot_own_operator.py",
    "plot_add_method.py",
)


class WantedOrder:
    """The place of a tutorial; one that is not listed comes last, by its name."""

    def __init__(self, folder: str):
        self.folder = folder

    def __call__(self, name: str) -> tuple[int, str]:
        place = ORDER.index(name) if name in ORDER else len(ORDER)
        return place, name

    def __repr__(self) -> str:
        return "<WantedOrder>"
