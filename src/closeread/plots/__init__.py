"""Pictures of records; matplotlib, which draws them, comes with the extra `plot`."""
