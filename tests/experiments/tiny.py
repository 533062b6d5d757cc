"""Each figure of the paper made tiny: its own methods on a small data set and two sizes."""

from dataclasses import replace

from landmarks.experiments import read_settings


def tiny(name, dataset="wine", rows=None, trials=1, only=()):
    figure = read_settings(name, quick=True)
    if name == "figure1":
        return replace(figure, options=dict(figure.options) | {"dataset": dataset, "at_most": 5})
    panels = tuple(
        replace(panel, dataset=dataset, k=(3, 5), rows=rows, trials={})
        for panel in figure.panels[:1]
    )
    entries = tuple(entry for entry in figure.entries if not only or entry.label in only)
    return replace(figure, panels=panels, entries=entries, trials=trials)
