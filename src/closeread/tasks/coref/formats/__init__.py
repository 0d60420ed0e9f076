"""The formats of coreference files: each reads documents to a table of mentions, checks as it goes, and writes them."""
