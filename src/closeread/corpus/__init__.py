"""Corpora by declaration: their files, schemas and gold, and what systems send.  `closeread.corpora()` lists them."""
