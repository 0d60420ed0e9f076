"""Ship words as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.shipwords import declaration


class Shipwords(builder.CorpusBuilder):
    """Ship words: misspelt words in a logbook."""

    CORPUS = declaration.CORPUS
