"""What annotators of coreference do: their agreement, their adjudication, and their mistakes in chains."""
