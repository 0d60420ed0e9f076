"""Harbour as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.harbour import declaration


class Harbour(builder.CorpusBuilder):
    """Harbour: questions about time in the harbour."""

    CORPUS = declaration.CORPUS
