"""Why these columns: reasons, substitutes, stability."""
