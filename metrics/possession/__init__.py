"""WikiPossessions' scores."""
