"""Kernels of TimeLine: arrays in, counts out."""
