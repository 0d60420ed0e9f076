"""CEAFm for coreference, as an evaluate module."""

from closeread.hf.coreference import make_module

CorefCeafm = make_module(__name__)
