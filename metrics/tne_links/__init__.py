"""TNE's scores."""
