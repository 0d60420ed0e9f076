"""The dataset card of each corpus; the parts between `generated` marks come from schema and declaration."""
