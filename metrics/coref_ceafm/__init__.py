"""CEAFm of coreference."""
