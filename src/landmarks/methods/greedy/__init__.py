"""Methods that add one column at a time."""
