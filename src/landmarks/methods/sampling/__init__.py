"""Random choices."""
