"""Datasets and evaluate modules; no module outside this folder imports Hugging Face's libraries."""
