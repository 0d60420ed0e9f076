"""CEAFe for coreference, as an evaluate module."""

from closeread.hf.metric import make_module

CorefCeafe = make_module(__name__)
