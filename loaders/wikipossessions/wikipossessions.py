"""WikiPossessions as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.wikipossessions import declaration


class Wikipossessions(builder.CorpusBuilder):
    """WikiPossessions: who possessed a work of art, in which order, and when?"""

    CORPUS = declaration.CORPUS
