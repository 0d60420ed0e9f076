"""Agreement of annotators of coreference."""
