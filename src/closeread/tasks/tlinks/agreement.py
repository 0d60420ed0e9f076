"""Agreement of annotators of temporal links, two at a time, by awareness as of a system.

Conventions: the second annotator is scored against the first, and of more than two annotators, each against all before.
Precision and recall change places if the annotators do, so F1 is the same whichever comes first.  0/0 is None: without
links there is nothing to agree on, and means over pairs leave the pair out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from closeread.corpus.gold import GoldSource
from closeread.counts.agreement import PairwiseAgreement, Scores, compare_pairs
from closeread.counts.annotators import Annotator, find_repeated_paths, require_two
from closeread.exceptions import RequestError
from closeread.tasks.tlinks.procedure import PROCEDURE


def compare_annotators(annotators: Sequence[Annotator]) -> PairwiseAgreement:
    """Measure the agreement of annotators' files or folders, which have the same documents."""
    require_two(annotators)
    options = PROCEDURE.resolve_options({"missing": "error"})
    counting_options = PROCEDURE.keep_options(options, reading=False)
    notices = list(find_repeated_paths(annotators))
    n_documents = 0

    def compare(first: Annotator, second: Annotator) -> Scores:
        nonlocal n_documents
        if not isinstance(second.source, Path):
            raise RequestError("tlinks compares TimeML files, not records in memory")
        reader = PROCEDURE.reader
        gold = reader.read_gold(GoldSource(PROCEDURE, gold=first.source), options)
        system = reader.read_system(gold, second.source, options)
        table = PROCEDURE.count(gold=gold.records, system=system.rows, **counting_options)
        notices.extend([*gold.notices, *system.notices])
        notices.extend(reader.remarks(gold, system, options, table))
        n_documents = len(gold.records)
        return table.scores(replace(metric, zero_division=None) for metric in PROCEDURE.metrics)

    pairs = compare_pairs(annotators, compare)
    names = [annotator.name for annotator in annotators]
    return PairwiseAgreement(
        names,
        pairs,
        n_documents,
        PROCEDURE.unit,
        {"awareness": "Awareness"},
        ["f1"],
        notices=tuple(dict.fromkeys(notices)),
    )
