"""BLANC of coreference."""
