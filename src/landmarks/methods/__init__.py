"""Ways to choose: random, greedy, search, relaxations, whole groups; `auto` combines them."""

from .._moved import moved_from

__getattr__ = moved_from("landmarks.methods")
