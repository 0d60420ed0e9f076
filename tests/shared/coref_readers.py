"""Readers of the coreference formats with a row for every token, whatever a file's first line says."""

from closeread.tasks.coref.formats import conll, conllu
from closeread.tasks.coref.formats.reading import Reading


def read_conll(path, word_column=None):
    """Read the documents of a CoNLL file; the column of the word is counted from 1, and guessed if it is None."""
    reading = Reading(word_column=str(word_column or "auto"))
    return conll.read_records(path, reading)


def read_conllu(path):
    """Read the documents of a CorefUD file."""
    return conllu.read_records(path)
