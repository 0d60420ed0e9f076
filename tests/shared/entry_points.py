"""A small gold and a system for every procedure, for tests that go through every entry point to a score.

A corpus of a known task needs nothing here; a new task that scores corpora needs an entry in `CASES`.
"""

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from shared import json_lines
from shared.conll_documents import as_ontonotes
from shared.neural import DIALECTS, LENGTHS, write_lines
from shared.universal_anaphora import write_clusters

from closeread.corpus.gold import read_gold
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.submissions import write_submission
from closeread.tasks import find_format
from closeread.tasks.coref.formats.conll import dump_conll
from closeread.tasks.coref.formats.reading import DEFAULT_READING
from closeread.tasks.coref.key_response import take_documents
from closeread.tasks.tne.tne_arrays import dump_submission as dump_arrays

NOTES_OF_SAMPLES = pytest.mark.filterwarnings(
    "ignore:.*1 possession has a relation to an unknown anchor:closeread.CloseReadWarning",
    "ignore:.*known odd:closeread.CloseReadWarning",
    "ignore:.*positions have gaps:closeread.CloseReadWarning",
    "ignore:2 linked noun phrases:closeread.CloseReadWarning",
    "ignore:1 of 2 groups has no Zeros F1:closeread.CloseReadWarning",
    "ignore:0 of the 2. datasets of crac:closeread.CloseReadWarning",
    "ignore:no datasets of crac202., but averaged with them:closeread.CloseReadWarning",
    "ignore:pooled over 2 treebanks:closeread.CloseReadWarning",
)  # those of the samples are expected


def sample_gold(corpus):
    """The records of a corpus's sample."""
    return list(read_gold(load_corpus(corpus), "sample").records)


def system_rows(corpus):
    """What a system says of the sample: gold, with errors at fixed places."""
    return CORPORA[corpus].system(sample_gold(corpus))


def mctaco(gold):
    turned = {"yes": "no", "no": "yes"}
    labels = [
        record["label"] if i % 3 else turned[record["label"]] for i, record in enumerate(gold)
    ]
    return [
        {"id": record["id"], "label": label} for record, label in zip(gold, labels, strict=True)
    ]


def tne(gold):
    """Every third link left out, every fifth with another preposition, one label for a pair."""
    rows = []
    for record in gold:
        links = {
            (link["anchor"], link["complement"]): link["preposition"]
            for link in record["np_relations"]
        }
        kept = [(pair, label) for i, (pair, label) in enumerate(links.items()) if i % 3]
        relations = [
            {"anchor": anchor, "complement": complement, "preposition": label if i % 5 else "near"}
            for i, ((anchor, complement), label) in enumerate(kept)
        ]
        rows.append({"id": record["id"], "relations": relations})
    return rows


def timelines(gold):
    """All entries but the first of each timeline, the last at another date."""
    rows = []
    for record in gold:
        entries = [
            {
                "position": entry["position"],
                "anchor": entry["anchor"],
                "mentions": entry["mentions"],
            }
            for entry in record["entries"][1:]
        ]
        entries = [*entries[:-1], {**entries[-1], "anchor": "1999-12-31"}] if entries else entries
        rows.append({"id": record["id"], "entity": record["entity"], "entries": entries})
    return rows


def possessions(gold):
    """All possessions but the last of each article, the first as certain as it is not."""
    names = ("possessor", "order", "certainty", "anchor", "relation", "relation_certainty")
    other = {"certain": "uncertain", "uncertain": "certain"}
    rows = []
    for record in gold:
        said = [
            {name: possession[name] for name in names} for possession in record["possessions"][:-1]
        ]
        said = [{**said[0], "certainty": other[said[0]["certainty"]]}, *said[1:]] if said else said
        rows.append({"article": record["article"], "possessions": said})
    return rows


def coreference(gold):
    """The chains without the first mention of each document, and with its last two chains as one."""
    rows = []
    for record in gold:
        first, *others = record["clusters"]
        clusters = [first[1:], *others[:-2], [*others[-2], *others[-1]]]
        rows.append(
            {"document": record["document"], "clusters": clusters, "n_tokens": record["n_tokens"]}
        )
    return rows


class Case(NamedTuple):
    """What a task's corpora have in common.

    Attributes:
        system: from gold records to a system's rows.
        fields: the fields of its units to slice by.
        predictions: from a system's rows to what its evaluate module takes.
        references: from gold records to what it takes.
        write: writes a system's rows for a corpus in its other submission format; None where it has none.
    """

    system: Callable
    fields: tuple[str, ...] = ()
    predictions: Callable = list
    references: Callable = list
    write: Callable | None = None


CASES = {
    "mctaco": Case(
        mctaco,
        ("category",),
        lambda rows: [row["label"] for row in rows],
        write=lambda rows, path, corpus: path.write_text(
            "".join(f"{row['label']}\n" for row in rows), "utf-8"
        ),
    ),
    "tne": Case(
        tne,
        ("domain",),
        write=lambda rows, path, corpus: path.write_text(
            dump_arrays(rows, sample_gold(corpus)), "utf-8"
        ),
    ),
    "timeline": Case(
        timelines,
        predictions=lambda rows: rows,
        write=lambda rows, path, corpus: write_submission(path, rows, load_corpus(corpus)),
    ),
    "wikipossessions": Case(possessions),
    "coref": Case(
        coreference,
        ("genre",),
        lambda rows: [row["clusters"] for row in rows],
        lambda records: [record["clusters"] for record in records],
        lambda rows, path, corpus: path.write_text(
            dump_conll(take_documents(rows, "rows", is_response=True)), "utf-8"
        ),
    ),
}
"""By the task's name."""

TASKS = {name: load_corpus(name).procedure for name in corpus_names()}
CORPORA = {name: CASES[task] for name, task in TASKS.items() if task in CASES}
"""By the corpus's name."""

KEY = [
    {"document": "a", "clusters": [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]]},
    {"document": "b", "clusters": [[[0, 1], [4, 4]]]},
]
RESPONSE = [
    {
        "document": "a",
        "clusters": [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]],
    },
    {"document": "b", "clusters": [[[0, 1], [4, 4]], [[2, 2], [3, 3]]]},
]
COREF_FORMATS = {
    "conll": ".conll",
    "ontonotes": ".v4_gold_conll",
    "conllu": ".conllu",
    "conllua": ".conllua",
    "coref_json": ".jsonl",
}

COREF_FORMS = ("e2e", "subtokens", "wl", "e2e records", "gzip", "folder")
"""Other forms of coreference files and records."""


def with_heads(records):
    """The documents with the last token of each mention as its head."""
    return [
        {
            **record,
            "clusters": [
                [[start, end, end] for start, end in cluster] for cluster in record["clusters"]
            ],
        }
        for record in records
    ]


def write_form(side, form):
    """The documents of a side in one of `COREF_FORMS`."""
    records = {"key": KEY, "response": RESPONSE}[side]
    if form == "e2e records":
        return list(map(DIALECTS["e2e"], records))
    if form in DIALECTS:
        return write_lines(Path(f"{side}-{form}.jsonlines"), map(DIALECTS[form], records))
    path = write_key(side, "conll")
    if form == "gzip":
        Path(f"{path}.gz").write_bytes(gzip.compress(path.read_bytes()))
        return Path(f"{path}.gz")
    (folder := Path(f"{side}-files", "inside")).mkdir(parents=True)
    first, second = path.read_text("utf-8").split("#end document\n")[:2]
    (folder / "one.conll").write_text(f"{first}#end document\n", "utf-8")
    (folder.parent / "two_gold.gz").write_bytes(gzip.compress(f"{second}#end document\n".encode()))
    return folder.parent


def write_key(side, name, records=None):
    """The documents of a side in a format, or the records themselves."""
    records = records or {"key": KEY, "response": RESPONSE}[side]
    if name == "records":
        return records
    path = Path(f"{side}{COREF_FORMATS[name]}")
    if name == "conllua":
        path.write_text(write_clusters(records, LENGTHS), "utf-8")
        return path
    jsonl = Path(f"{side}-records.jsonl")
    jsonl.write_text(
        json_lines.dump({**record, "n_tokens": LENGTHS[record["document"]]} for record in records)
    )
    documents = find_format("coref", "coref_json").read(jsonl, DEFAULT_READING).documents
    if name == "ontonotes":
        text = as_ontonotes(find_format("coref", "conll").write(documents))
    else:
        text = find_format("coref", name).write(documents)
    path.write_text(text, "utf-8")
    return path


def timeml(*links):
    """A document of four events with these links."""
    events = "".join(f'<EVENT eid="e{i}">ran</EVENT> ' for i in range(1, 5))
    instances = "".join(f'<MAKEINSTANCE eiid="ei{i}" eventID="e{i}"/>\n' for i in range(1, 5))
    tlinks = "".join(
        f'<TLINK lid="l{i}" eventInstanceID="{a}" relatedToEventInstance="{b}" relType="{relation}"/>\n'
        for i, (a, relation, b) in enumerate((link.split() for link in links), start=1)
    )
    return f"<TimeML>\n<TEXT>{events}</TEXT>\n{instances}{tlinks}</TimeML>\n"


TIMEML_FILES = {
    "key": {
        "a": timeml("ei1 BEFORE ei2", "ei2 BEFORE ei3", "ei3 INCLUDES ei4"),
        "b": timeml("ei1 SIMULTANEOUS ei2", "ei3 BEFORE ei4"),
    },
    "response": {
        "a": timeml("ei1 BEFORE ei3", "ei2 AFTER ei3"),
        "b": timeml("ei2 SIMULTANEOUS ei1", "ei2 BEFORE ei3"),
    },
}


def flat(report):
    """The value of each score."""
    return {name: estimate.value for name, estimate in report.total.scores.items()}
