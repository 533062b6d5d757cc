"""Whole groups of columns, and columns of different costs."""
