"""Counts of units, and everything that is computed from them; independent of any language or task."""
