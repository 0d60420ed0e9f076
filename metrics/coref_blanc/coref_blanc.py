"""BLANC for coreference, as an evaluate module."""

from closeread.hf.metric import make_module

CorefBlanc = make_module(__name__)
