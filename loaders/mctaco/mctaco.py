"""McTaco as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.mctaco import declaration


class Mctaco(builder.CorpusBuilder):
    """McTaco: is this answer to a question about time plausible?"""

    CORPUS = declaration.CORPUS
