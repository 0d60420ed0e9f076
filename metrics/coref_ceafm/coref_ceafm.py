"""CEAFm for coreference, as an evaluate module."""

from closeread.hf.metric import make_module

CorefCeafm = make_module(__name__)
