"""Coreference: who is who."""
