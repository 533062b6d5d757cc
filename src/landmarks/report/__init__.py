"""A selection in words: headline numbers, a table for the screen, and one HTML page to share."""
