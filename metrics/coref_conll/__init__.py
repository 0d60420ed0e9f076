"""CoNLL F1 of coreference."""
