"""Models that need torch and transformers; no module outside this folder imports either."""
