"""CoNLL F1 for coreference, as an evaluate module."""

from closeread.hf.metric import make_module

CorefConll = make_module(__name__)
