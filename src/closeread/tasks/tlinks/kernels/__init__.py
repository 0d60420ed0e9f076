"""Arrays in, counts out."""
