"""Groups of columns that are chosen together, and columns with costs."""
