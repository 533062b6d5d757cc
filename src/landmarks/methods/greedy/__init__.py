"""One pick after the other."""
