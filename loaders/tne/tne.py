"""TNE as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.tne import declaration


class Tne(builder.CorpusBuilder):
    """TNE: which noun phrase of a text is related to which other, by which preposition?"""

    CORPUS = declaration.CORPUS
