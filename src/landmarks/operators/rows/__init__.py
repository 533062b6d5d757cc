"""Matrices too large for memory, read in consecutive blocks of rows."""
