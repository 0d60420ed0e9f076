"""From several annotators' labels to one: which candidates are kept, and with what label."""
