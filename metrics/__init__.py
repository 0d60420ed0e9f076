"""One folder an evaluate module."""
