"""McTaco as a dataset builder."""

from closeread.loaders.mctaco import declaration

from closeread.hf import builder


class Mctaco(builder.CorpusBuilder):
    """McTaco: is this answer to a question about time plausible?"""

    CORPUS = declaration.CORPUS
