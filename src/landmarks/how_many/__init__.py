"""Rules that find k from the data."""
