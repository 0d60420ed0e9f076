"""Codabench: bundles of shared tasks, and the scoring program that runs in them."""
