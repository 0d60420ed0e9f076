"""What users can do with spelling."""

from __future__ import annotations

from typing import Annotated

from closeread.parameters import Operations, Output, Param, Read, Written


def convert(source: Annotated[Read, Param(metavar="SOURCE")], *, output: Output) -> Written:
    """Convert misspelt words with their corrections to JSON Lines.

    \b
    Example:
      closeread convert spelling words.txt -o words.jsonl
    """
    from closeread.corpus.gold import read_file
    from closeread.corpus.names import load_corpus
    from closeread.exceptions import pluralize
    from closeread.files import write_text
    from closeread.formats.json_lines import dump_json_lines

    corpus = load_corpus("shipwords")
    records = read_file(corpus, source, corpus.default_split)
    write_text(output, dump_json_lines(records))
    return Written(output, pluralize(len(records), "word"), records)


OPERATIONS: Operations = {"convert": {"spelling": convert}}
