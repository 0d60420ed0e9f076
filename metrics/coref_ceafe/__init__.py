"""CEAFe of coreference."""
