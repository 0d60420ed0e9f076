"""The tables of Schüller et al. (2018), recomputed from a user's own copy of the corpus.

Conventions: scores are times 100.  What needs annotators' files is left out without them; so are the rows that need the
paper's word vectors.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from closeread.arrays import ratio
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.reproduction import Inputs, Recompute, Recomputed
from closeread.counts.table import CountTable
from closeread.records import Record
from closeread.tasks.coref.agreement import measure_agreement, resolve
from closeread.tasks.coref.annotators import gather_annotations
from closeread.tasks.coref.documents import MentionTable, table_of
from closeread.tasks.coref.errors import ChainErrors, find_chain_errors
from closeread.tasks.coref.marmara.baseline import predict, predict_mentions
from closeread.tasks.coref.marmara.equalities import AnnotationFiles, read_annotation_files
from closeread.tasks.coref.marmara.operations import Learner
from closeread.tasks.coref.marmara.records import average_by_tokens, facts, measure
from closeread.tasks.coref.procedure import PROCEDURE

CORPUS = "marmara_coref"
OVERALL, TOTAL = "Overall", "Total"
SCORES = {
    "MUC": "muc",
    "B3": "b3",
    "CEAFe": "ceafe",
    "CEAFm": "ceafm",
    "BLANC": "blanc",
    "LEA": "lea",
}
METHODS = {
    "SVC/GM/T": ("svc", Learner()),
    "SVR/GM/T": ("svr", Learner()),
    "SVR/PM/T": ("svr", Learner(mentions="predicted")),
}
FEW = 3
"""The number of missing or foreign mentions that the paper calls few."""


def table_1(inputs: Inputs) -> Recomputed:
    """Recompute Table 1: sizes, and with annotators' files their number, agreement, mentions and chains."""
    records = _read_records(inputs)
    values: list[tuple[str, str, float]] = [
        (one["document"], "Tok", one["n_tokens"]) for one in records
    ]
    if inputs.annotations is not None:
        found = read_annotation_files(inputs.annotations)
        gathered = gather_annotations(found.tables)
        for one in measure_agreement(gathered, resolve({})).documents:
            for column in ("IAA1", "IAA2"):
                alpha = one.alpha[column.lower()]
                if alpha is not None:
                    values.append((one.document, column, 100 * alpha))
        values += [(document.name, "Ann", len(document.annotations)) for document in gathered]
        values += [(document, "GM", size) for document, size in found.given.items()]
        for table in found.tables:
            sizes = np.bincount(table.entity)
            chained = sizes[sizes > 1]
            values += [
                (table.names[0], "AM", int(chained.sum())),
                (table.names[0], "AC", len(chained)),
            ]
    genre_of = {record["document"]: record["genre"] for record in records}
    cells: defaultdict[tuple[str, str], list[float]] = defaultdict(list)
    for document, column, value in values:  # means over documents or over annotations
        for row in filter(None, (genre_of.get(document), OVERALL)):
            cells[row, column].append(value)
    sums = {(row, "Doc"): len(group) for row, group in _group_by_genre(records).items()}
    return sums | {
        cell: float(ratio(sum(of_cell), len(of_cell))) for cell, of_cell in cells.items()
    }


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute Table 2: documents, tokens, mentions and chains by genre."""
    cells: dict[tuple[str, str], float] = {}
    for row, group in _group_by_genre(_read_records(inputs)).items():
        size = measure(group)
        cells[row, "Doc sum"] = size.documents
        cells[row, "Tok sum"], cells[row, "Tok avg"] = (
            size.tokens,
            float(ratio(size.tokens, size.documents)),
        )
        cells[row, "M sum"], cells[row, "M avg"] = (
            size.mentions,
            average_by_tokens(group, "mentions"),
        )
        cells[row, "C sum"], cells[row, "C avg"] = size.chains, average_by_tokens(group, "chains")
    return cells


def table_3(inputs: Inputs) -> Recomputed:
    """Recompute Table 3: mention detection, and SVC on gold mentions, by genre."""
    records = _read_records(inputs)
    detected = _score_by_genre(records, predict_mentions(records), ("mentions",))
    linked = _score_by_genre(records, _predict(records, "SVC/GM/T"), tuple(SCORES.values()))
    cells: dict[tuple[str, str], float] = {}
    for row, score in detected.items():
        cells[row, "RMD"], cells[row, "PMD"] = score("mentions/recall"), score("mentions/precision")
        cells |= {(row, column): linked[row](f"{name}/f1") for column, name in SCORES.items()}
    return cells


def table_4(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 4 that need no word vectors."""
    records = _read_records(inputs)
    cells: dict[tuple[str, str], float] = {}
    for row in METHODS:
        score = _score_by_genre(records, _predict(records, row), tuple(SCORES.values()))[TOTAL]
        cells |= {(row, column): score(f"{name}/f1") for column, name in SCORES.items()}
    return cells


def text(inputs: Inputs) -> Recomputed:
    """Recompute figures of the running text, those of annotators only if their files are given."""
    records = _read_records(inputs)
    gold, sections = table_of(records), dict[str, dict[str, float]]()
    if inputs.annotations is not None:
        found = read_annotation_files(inputs.annotations)
        sections["3.1"] = _recompute_phase_2(found)
        sections["3.4.1"] = _recompute_mistakes(find_chain_errors(gold, found.tables))
    relations = {
        token["relation"]
        for record in records
        for one in record["sentences"]
        for token in one["tokens"]
    }
    sections |= {
        "3.5": {"documents": len(records)},
        "4.2": {"dependency relations in the treebank, by the paper": len(relations - {None})},
        "3.4": _recompute_chains(records),
        "4.3": _recompute_baseline_errors(records, gold),
    }
    return {
        (row, section): value for section, rows in sections.items() for row, value in rows.items()
    }


def _recompute_phase_2(found: AnnotationFiles) -> dict[str, float]:
    gathered = gather_annotations(found.tables)
    chains = [
        (one.name, chain) for one in gathered for _, chains in one.annotations for chain in chains
    ]
    linked = [(name, mention) for name, chain in chains if len(chain) > 1 for mention in chain]
    return {
        "annotators in Phase II": len(set(found.annotators)),
        "annotation files of Phase II": len(found.tables),
        "annotations per document in Phase II": float(ratio(len(found.tables), len(gathered))),
        "annotators of a unique mention in Phase II": float(ratio(len(linked), len(set(linked)))),
    }


def _recompute_chains(records: Sequence[Record]) -> dict[str, float]:
    found = facts(records)
    several = 100 * float(ratio(found["mentions: several tokens"], found["mentions"]))
    return {
        "mentions": found["mentions"],
        "chains": found["chains"],
        "percent of single-token mentions": 100 - several,
        "percent of mentions of several tokens": several,
        "percent of nested mentions": found["% of nested mentions"],
        "levels of nesting inside a nested mention": found["mentions nested in a nested mention"],
        "chains of two mentions": found["chains of two mentions"],
    }


def _recompute_mistakes(errors: ChainErrors) -> dict[str, float]:
    missing, foreign, kinds = errors.missing, errors.foreign, _list_shares(errors)
    exact = 100 * float(ratio(errors.kinds["exact"], errors.n_chains))
    of_kind = "percent of mistaken chains: "
    return {
        "annotated chains": errors.n_chains,
        "mentions in annotated chains": errors.n_mentions,
        "percent of annotated chains that equal a gold chain": exact,
        f"{of_kind}missing mentions": kinds["missing"],
        "of these, percent missing one mention": _share_up_to(missing, 1),
        "of these, percent missing at most three": _share_up_to(missing, FEW),
        f"{of_kind}mentions of several gold chains": kinds["mixed"],
        "of these, percent with one foreign mention": _share_up_to(foreign, 1),
        "of these, percent with at most three": _share_up_to(foreign, FEW),
        f"{of_kind}mentions of no gold chain beside right ones": kinds["extra"],
        f"{of_kind}only mentions of no gold chain": kinds["spurious"],
    }


def _recompute_baseline_errors(records: Sequence[Record], gold: MentionTable) -> dict[str, float]:
    of_gold, of_predicted = (
        _list_shares(find_chain_errors(gold, [table_of(_predict(records, method))]))
        for method in ("SVC/GM/T", "SVR/PM/T")
    )
    return {
        "gold mentions: percent of wrong chains that miss a mention": of_gold["missing"],
        "gold mentions: percent of wrong chains with mentions of several gold chains": of_gold[
            "mixed"
        ],
        "predicted mentions: percent of predicted chains with spurious mentions only": of_predicted[
            "spurious"
        ],
        "predicted mentions: percent missing some mention": of_predicted["missing"],
        "predicted mentions: percent with mentions that are not in gold": of_predicted["extra"],
        "predicted mentions: percent that merge gold chains": of_predicted["mixed"],
    }


def _read_records(inputs: Inputs) -> Sequence[Record]:
    return read_gold(load_corpus(CORPUS), data_dir=inputs.data_dir).records


def _group_by_genre(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Return the documents of every genre, and all documents."""
    genres = filter(None, dict.fromkeys(record["genre"] for record in records))
    groups = {genre: [record for record in records if record["genre"] == genre] for genre in genres}
    return {**groups, OVERALL: list(records)}


def _predict(records: Sequence[Record], method: str) -> list[Record]:
    return [prediction.row for prediction in predict(records, *METHODS[method])]


def _score_by_genre(
    records: Sequence[Record], rows: Sequence[Record], metrics: Sequence[str]
) -> dict[str, Callable[[str], float]]:
    """Score predictions; return a function from the name of a score to its value, by genre and in all."""
    table = PROCEDURE.count(gold=table_of(records), system=table_of(rows), metrics=metrics)
    procedure = PROCEDURE.select_metrics(metrics, {})

    def make(of: CountTable) -> Callable[[str], float]:
        scores = of.scores(procedure.metrics)
        return lambda name: 100 * float(scores[name] or 0)

    genres = table.slices("genre") if "genre" in table.fields else {}  # your copy may not say them
    return {row: make(of) for row, of in {**genres, TOTAL: table}.items()}


def _list_shares(errors: ChainErrors) -> dict[str, float]:
    """Return the share of every kind in the chains that are not exact."""
    return {
        kind: 100 * float(ratio(n, errors.n_mistaken))
        for kind, n in errors.kinds.items()
        if kind != "exact"
    }


def _share_up_to(counts: Mapping[str, int], most: int) -> float:
    """Return the share of counts with a number up to `most`, in percent."""
    few = sum(count for number, count in counts.items() if int(number) <= most)
    return 100 * float(ratio(few, sum(counts.values())))


TAKES = ("annotations",)

RECOMPUTE: Mapping[str, Recompute] = {
    "Table 1": table_1,
    "Table 2": table_2,
    "Table 3": table_3,
    "Table 4": table_4,
    "Text": text,
}
