"""WikiPossessions as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.wikipossessions import declaration


class Wikipossessions(builder.CorpusBuilder):
    """WikiPossessions: who possessed an artifact, in which order, and when?"""

    CORPUS = declaration.CORPUS
