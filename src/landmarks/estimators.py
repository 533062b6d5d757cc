"""Where version 0.1 had its estimators; they are in `landmarks` and `landmarks.sklearn` now."""

from ._moved import moved_from

__getattr__ = moved_from("landmarks.estimators")
