"""B³ for coreference, as an evaluate module."""

from closeread.hf.metric import make_module

CorefB3 = make_module(__name__)
