"""Hides the library from Python with this folder in PYTHONPATH: evaluate imports it, for seconds, where it is there."""

raise ImportError("transformers is hidden, because nothing needs it here")
