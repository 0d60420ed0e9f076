"""LEA for coreference, as an evaluate module."""

from closeread.hf.metric import make_module

CorefLea = make_module(__name__)
