"""Models that need torch and transformers; nothing outside this folder imports either."""
