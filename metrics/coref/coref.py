"""All scores of coreference, as an evaluate module."""

from closeread.hf.metric import make_module

Coref = make_module(__name__)
