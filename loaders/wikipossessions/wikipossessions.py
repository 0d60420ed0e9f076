"""WikiPossessions as a dataset builder."""

from closeread.loaders.wikipossessions import declaration

from closeread.hf import builder


class Wikipossessions(builder.CorpusBuilder):
    """WikiPossessions: who possessed a work of art, in which order, and when?"""

    CORPUS = declaration.CORPUS
