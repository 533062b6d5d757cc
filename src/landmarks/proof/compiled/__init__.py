"""The exact search by counting, in C."""
