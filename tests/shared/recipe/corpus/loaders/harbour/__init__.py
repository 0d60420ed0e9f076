"""Harbour: questions about time in the harbour."""
