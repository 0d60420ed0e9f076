"""SemEval-2015 Task 4, TimeLine, as a dataset builder."""

from closeread.hf import builder
from closeread.loaders.semeval2015_timeline import declaration


class Semeval2015Timeline(builder.CorpusBuilder):
    """SemEval-2015 Task 4, TimeLine: what happened to an entity, in which order and when, over many documents?"""

    CORPUS = declaration.CORPUS
