"""Corpora by declaration: their files, schemas and gold, and what systems send.  `closeread.corpora()` lists them."""

from closeread._called import make_callable

make_callable(__name__)
