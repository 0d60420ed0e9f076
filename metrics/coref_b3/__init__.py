"""B³ of coreference."""
