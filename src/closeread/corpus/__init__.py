"""Corpora, declared as data: their files, schemas, gold and submissions.  `closeread.corpora()` lists them."""
