"""Leaderboards: submissions to a shared task, judged, ranked and shown."""
