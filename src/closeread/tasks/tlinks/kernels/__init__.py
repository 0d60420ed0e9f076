"""Kernels of temporal links: arrays in, counts out."""
