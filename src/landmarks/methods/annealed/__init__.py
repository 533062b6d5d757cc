"""Leverage mean-field annealing."""
