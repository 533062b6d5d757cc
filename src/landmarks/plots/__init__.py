"""Drawings with matplotlib, which is imported only when something is drawn."""
