"""The figures and claims of Mathur, Moka and Botev (2023), redone: see `python -m paper --help`."""
