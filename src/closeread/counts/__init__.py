"""Counts of every unit, and everything that is made of them; knows no language."""
