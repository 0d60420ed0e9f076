"""Links between times and events in TimeML files."""
