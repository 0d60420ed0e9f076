"""A canvas in inches, shared by the figures of all tasks."""
