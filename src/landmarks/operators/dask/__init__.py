"""Operators whose data dask holds."""
