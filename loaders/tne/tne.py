"""TNE as a dataset builder."""

from closeread.loaders.tne import declaration

from closeread.hf import builder


class Tne(builder.CorpusBuilder):
    """TNE: which noun phrase of a text is related to which other, by which preposition?"""

    CORPUS = declaration.CORPUS
