"""All scores of coreference."""
