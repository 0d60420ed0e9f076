"""Pages that show a key and what systems make of it, above and below the words of the text."""
