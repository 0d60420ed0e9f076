"""MUC for coreference, as an evaluate module."""

from closeread.hf.coreference import make_module

CorefMuc = make_module(__name__)
