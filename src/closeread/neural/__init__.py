"""Models that need torch and transformers, which no module outside this folder imports, or spaCy."""
