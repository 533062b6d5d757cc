"""The file that a command reads, and the files that it writes."""
