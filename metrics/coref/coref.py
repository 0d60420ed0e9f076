"""All scores of coreference, as an evaluate module."""

from closeread.hf.coreference import make_module

Coref = make_module(__name__)
