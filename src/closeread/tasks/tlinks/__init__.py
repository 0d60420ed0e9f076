"""Temporal links between events and times in TimeML files."""
