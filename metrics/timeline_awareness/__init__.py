"""Temporal awareness of TimeLine."""
