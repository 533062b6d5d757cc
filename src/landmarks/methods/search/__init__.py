"""Local and exact search."""
