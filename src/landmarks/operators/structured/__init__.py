"""Matrices of a known structure, multiplied without being formed."""
