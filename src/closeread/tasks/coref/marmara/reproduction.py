"""The tables of Schüller et al. (2018), recomputed from a user's own copy of the corpus.

Conventions: scores are times 100.  What needs annotators' files is left out without them; so are the rows that need the
paper's word vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from closeread.arrays import ratio
from closeread.corpora.gold import load_corpus, read_gold
from closeread.corpora.reproduction import Inputs, Recompute, Recomputed
from closeread.counts.table import CountTable
from closeread.records import Record
from closeread.tasks.coref.agreement import measure_agreement, resolve
from closeread.tasks.coref.annotators import gather_annotations
from closeread.tasks.coref.chain_errors import ChainErrors, find_chain_errors
from closeread.tasks.coref.corpus_records import table_of_corpus
from closeread.tasks.coref.marmara.annotation_files import AnnotationFiles, iterate_sizes, read_annotation_files
from closeread.tasks.coref.marmara.baseline import Settings, predict, predict_mentions
from closeread.tasks.coref.marmara.facts import average_by_tokens, facts, sum_sizes
from closeread.tasks.coref.procedure import PROCEDURE

CORPUS = "marmara_coref"
OVERALL, TOTAL = "Overall", "Total"
SCORES = {"MUC": "muc", "B3": "b3", "CEAFe": "ceafe", "CEAFm": "ceafm", "BLANC": "blanc", "LEA": "lea"}
METHODS = {
    "SVC/GM/T": Settings("svc"),
    "SVR/GM/T": Settings("svr"),
    "SVR/PM/T": Settings("svr", mentions="predicted"),
}
FEW = 3
"""The number of missing or foreign mentions that the paper calls few."""


def table_1(inputs: Inputs) -> Recomputed:
    """Recompute Table 1: sizes, and with annotators' files their number, agreement, mentions and chains."""
    records = _read_records(inputs)
    genre_of = {record["document"]: record["genre"] for record in records}
    cells: dict[tuple[str, str], float] = {}
    for row, group in _group_by_genre(records, OVERALL):
        cells[row, "Doc"] = len(group)
        cells[row, "Tok"] = _mean([record["n_tokens"] for record in group])
    if inputs.annotations is not None:
        cells |= _recompute_annotations(read_annotation_files(inputs.annotations), genre_of)
    return cells


def _recompute_annotations(found: AnnotationFiles, genre_of: Mapping[str, str | None]) -> dict[tuple[str, str], float]:
    """Recompute the cells of Table 1 that need annotators' files: means over documents or over annotations."""
    gathered = gather_annotations(found.tables)
    masi = measure_agreement(gathered, resolve({}))
    product = measure_agreement(gathered, resolve({"iaa2": "distance_product"}))
    values: list[tuple[str, str, float]] = []
    for one, its_product in zip(masi.documents, product.documents, strict=True):
        values.append((one.document, "Ann", one.annotators))
        measures = (("IAA1", one.alpha["iaa1"]), ("IAA2", one.alpha["iaa2"]))
        for column, alpha in (*measures, ("IAA2, product", its_product.alpha["iaa2"])):
            if alpha is not None:
                values.append((one.document, column, 100 * alpha))
    values += [(document, "GM", size) for document, size in found.given.items()]
    for document, mentions, chains in iterate_sizes(found):
        values += [(document, "AM", mentions), (document, "AC", chains)]
    cells: dict[tuple[str, str], list[float]] = {}
    for document, column, value in values:
        for row in (genre_of.get(document), OVERALL):
            if row:
                cells.setdefault((row, column), []).append(value)
    return {cell: _mean(of_cell) for cell, of_cell in cells.items()}


def table_2(inputs: Inputs) -> Recomputed:
    """Recompute Table 2: documents, tokens, mentions and chains by genre."""
    cells: dict[tuple[str, str], float] = {}
    for row, group in _group_by_genre(_read_records(inputs), OVERALL):
        size = sum_sizes(group)
        cells[row, "Doc sum"] = size.documents
        cells[row, "Tok sum"], cells[row, "Tok avg"] = size.tokens, float(ratio(size.tokens, size.documents))
        cells[row, "M sum"], cells[row, "M avg"] = size.mentions, average_by_tokens(group, "mentions")
        cells[row, "C sum"], cells[row, "C avg"] = size.chains, average_by_tokens(group, "chains")
    return cells


def table_3(inputs: Inputs) -> Recomputed:
    """Recompute Table 3: mention detection, and SVC on gold mentions, by genre."""
    records = _read_records(inputs)
    detected = _score_by_genre(records, predict_mentions(records), ("mentions",))
    linked = _score_by_genre(records, _predict(records, METHODS["SVC/GM/T"]), tuple(SCORES.values()))
    cells: dict[tuple[str, str], float] = {}
    for row, score in detected.items():
        cells[row, "RMD"], cells[row, "PMD"] = score("mentions/recall"), score("mentions/precision")
        cells |= {(row, column): linked[row](f"{name}/f1") for column, name in SCORES.items()}
    return cells


def table_4(inputs: Inputs) -> Recomputed:
    """Recompute the rows of Table 4 that need no word vectors."""
    records = _read_records(inputs)
    cells: dict[tuple[str, str], float] = {}
    for row, settings in METHODS.items():
        score = _score_by_genre(records, _predict(records, settings), tuple(SCORES.values()))[TOTAL]
        cells |= {(row, column): score(f"{name}/f1") for column, name in SCORES.items()}
    return cells


def section_3_1(inputs: Inputs) -> Recomputed:
    """Recompute what section 3.1 says of the annotations of Phase II."""
    if inputs.annotations is None:
        return {}
    found = read_annotation_files(inputs.annotations)
    gathered = gather_annotations(found.tables)
    in_chains = np.bincount(gathered.row_chain)[gathered.row_chain] > 1
    different = len(np.unique(gathered.row_mention[in_chains]))
    values = {
        "annotators in Phase II": len(set(found.annotators)),
        "annotation files of Phase II": len(found.files),
        "annotations a document in Phase II": float(ratio(len(found.files), len(gathered.names))),
        "annotators of a unique mention in Phase II": float(ratio(int(in_chains.sum()), different)),
    }
    return {(row, "value"): value for row, value in values.items()}


def section_3_4(inputs: Inputs) -> Recomputed:
    """Recompute what section 3.4 says of mentions and chains."""
    found = facts(_read_records(inputs))
    several = 100 * float(ratio(found["mentions: several tokens"], found["mentions"]))
    same = (
        "mentions",
        "chains",
        "% of nested mentions",
        "mentions nested in a nested mention",
        "chains of two mentions",
    )
    values = {name: found[name] for name in same}
    values |= {"% of mentions of several tokens": several, "% of single-token mentions": 100 - several}
    return {(row, "value"): value for row, value in values.items()}


def section_3_4_1(inputs: Inputs) -> Recomputed:
    """Recompute what section 3.4.1 says of annotators' mistakes."""
    if inputs.annotations is None:
        return {}
    found = read_annotation_files(inputs.annotations)
    errors = find_chain_errors(table_of_corpus(_read_records(inputs)), found.tables)
    missing, foreign = errors.count_missing(), errors.count_foreign()
    kinds = _list_shares(errors)
    values = {
        "annotated chains": len(errors.kind),
        "mentions in annotated chains": int(errors.size.sum()),
        "% of chains that equal a gold chain": 100 * float(ratio(errors.count_kinds()["exact"], len(errors.kind))),
        "% of mistaken chains: missing mentions": kinds["missing"],
        "% of these that miss one": _share_up_to(missing, 1),
        "% of these that miss at most three": _share_up_to(missing, FEW),
        "% of mistaken chains: mentions of several gold chains": kinds["mixed"],
        "% of these with one foreign mention": _share_up_to(foreign, 1),
        "% of these with at most three": _share_up_to(foreign, FEW),
        "% of mistaken chains: mentions of no gold chain beside right ones": kinds["extra"],
        "% of mistaken chains: only mentions of no gold chain": kinds["spurious"],
    }
    return {(row, "value"): value for row, value in values.items()}


def section_4_3(inputs: Inputs) -> Recomputed:
    """Recompute what section 4.3 says of the baseline's mistaken chains."""
    records = _read_records(inputs)
    gold = table_of_corpus(records)

    def shares(method: str) -> dict[str, float]:
        return _list_shares(find_chain_errors(gold, [table_of_corpus(_predict(records, METHODS[method]))]))

    of_gold, of_predicted = shares("SVC/GM/T"), shares("SVR/PM/T")
    values = {
        "gold mentions: % that miss a mention": of_gold["missing"],
        "gold mentions: % with mentions of several gold chains": of_gold["mixed"],
        "predicted mentions: % with only mentions of no gold chain": of_predicted["spurious"],
        "predicted mentions: % that miss a mention": of_predicted["missing"],
        "predicted mentions: % with mentions of no gold chain beside right ones": of_predicted["extra"],
        "predicted mentions: % with mentions of several gold chains": of_predicted["mixed"],
    }
    return {(row, "value"): value for row, value in values.items()}


def _read_records(inputs: Inputs) -> Sequence[Record]:
    return read_gold(load_corpus(CORPUS), data_dir=inputs.data_dir).records


def _group_by_genre(records: Sequence[Record], whole: str) -> Iterator[tuple[str, list[Record]]]:
    """Yield the documents of every genre, and all documents."""
    for genre in dict.fromkeys(record["genre"] for record in records):
        if genre:
            yield genre, [record for record in records if record["genre"] == genre]
    yield whole, list(records)


def _predict(records: Sequence[Record], settings: Settings) -> list[Record]:
    return [prediction.row for prediction in predict(records, settings)]


def _score_by_genre(
    records: Sequence[Record], rows: Sequence[Record], metrics: Sequence[str]
) -> dict[str, Callable[[str], float]]:
    """Score predictions; return a function from the name of a score to its value, by genre and in all."""
    gold, system = table_of_corpus(records), table_of_corpus(rows)
    table = PROCEDURE.count(gold=gold, system=system, metrics=metrics)
    procedure = PROCEDURE.select_metrics(metrics, {})

    def make(of: CountTable) -> Callable[[str], float]:
        scores = of.scores(procedure.metrics)
        return lambda name: 100 * float(scores[name] or 0)

    return {genre: make(of) for genre, of in table.slices("genre").items()} | {TOTAL: make(table)}


def _list_shares(errors: ChainErrors) -> dict[str, float]:
    """Return the share of every kind in the chains that are not exact."""
    kinds = errors.count_kinds()
    return {kind: 100 * float(ratio(count, errors.n_mistaken)) for kind, count in kinds.items() if kind != "exact"}


def _share_up_to(counts: Mapping[str, int], most: int) -> float:
    """Return the share of counts with a number up to `most`, in percent."""
    few = sum(count for number, count in counts.items() if int(number) <= most)
    return 100 * float(ratio(few, sum(counts.values())))


def _mean(values: Sequence[float]) -> float:
    return float(ratio(sum(values), len(values)))


RECOMPUTE: Mapping[str, Recompute] = {
    "Table 1": table_1,
    "Table 2": table_2,
    "Table 3": table_3,
    "Table 4": table_4,
    "Section 3.1": section_3_1,
    "Section 3.4": section_3_4,
    "Section 3.4.1": section_3_4_1,
    "Section 4.3": section_4_3,
}
