"""MUC of coreference."""
