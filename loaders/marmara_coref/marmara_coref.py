"""Marmara Turkish Coreference as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.marmara_coref import declaration


class MarmaraCoref(builder.CorpusBuilder):
    """Marmara Turkish Coreference: which mentions of a Turkish text refer to the same entity?"""

    CORPUS = declaration.CORPUS
