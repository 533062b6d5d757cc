"""Searches for an aim: a target to rebuild, or measurements with noise."""
