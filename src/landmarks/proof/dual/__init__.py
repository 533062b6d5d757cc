"""The dual bound of the trace error: its value, its ascent, and its value with rounding."""
