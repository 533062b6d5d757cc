"""Lower bounds on the error of any choice."""
