"""What went wrong, beyond a number."""
