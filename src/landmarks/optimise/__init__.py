"""Descent of a relaxation: step rules, stopping, and the record of the path."""

from .descent import Descent, Stop
from .path import Path
from .steps import SGD, Adam, Momentum

__all__ = ["SGD", "Adam", "Descent", "Momentum", "Path", "Stop"]
