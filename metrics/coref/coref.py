"""All scores of coreference, as an evaluate module."""

from closeread.hf.modules import make_module

Coref = make_module(__name__)
