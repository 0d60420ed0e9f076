"""LEA of coreference."""
