"""Methods: random, greedy, search, relaxations, groups; `auto` combines them."""

from .._moved import moved_from

__getattr__ = moved_from("landmarks.methods")
