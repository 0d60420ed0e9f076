"""A canvas in inches, shared by the pictures of every task."""
