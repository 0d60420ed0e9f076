"""One folder a corpus: what it is, where its files are, how it is read and scored."""
