"""Ship words: misspelt words in a logbook."""
