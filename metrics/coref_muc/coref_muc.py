"""MUC for coreference, as an evaluate module."""

from closeread.hf.metric import make_module

CorefMuc = make_module(__name__)
