"""The evaluate module of the WikiPossessions scores."""
