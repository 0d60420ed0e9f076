"""Arrays in, counts out: NumPy and SciPy only, no files, no records."""
