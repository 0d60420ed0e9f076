"""The evaluate module of spelling accuracy."""
