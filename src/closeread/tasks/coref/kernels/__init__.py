"""Coreference kernels: arrays in, counts out."""
