"""Small coreference documents, as records and as files, and their scores by every way to a score."""

import json
from pathlib import Path

import closeread
from closeread.counts.estimates import Resampling
from closeread.tasks.coref.key_response import align, read_side
from closeread.tasks.coref.metrics.scores import TITLES
from closeread.tasks.coref.procedure import PROCEDURE

NO_INTERVALS = Resampling(0)
KEY = {
    "a": [[[0, 0], [1, 1], [2, 2]], [[3, 3], [4, 4], [5, 5], [6, 6]]],
    "b": [[[0, 1], [3, 3]], [[2, 2]]],
}
RESPONSE = {
    "a": [[[0, 0], [1, 1]], [[2, 2], [3, 3]], [[5, 5], [6, 6], [7, 7], [8, 8]]],
    "b": [[[0, 1], [3, 3]]],
}
"""Document "a" is the example of Moosavi and Strube (2016, section 3); names are mapped to clusters."""

COREFUD = """# newdoc id = d
# global.Entity = eid-etype-head-other
# sent_id = 1
{rows}

"""


def score_records(key, response, metrics=tuple(TITLES), **options):
    """Score two mappings from names to clusters, without files; 0/0 is 0."""
    gold = [{"document": name, "clusters": clusters} for name, clusters in key.items()]
    system = [
        None if name not in response else {"document": name, "clusters": response[name]}
        for name in key
    ]
    procedure = PROCEDURE.with_metrics(metrics)
    table = procedure.count(gold=gold, system=system, **options)
    totals = table.values.sum(axis=0)
    return {metric.name: float(metric.score(totals, table.names)) for metric in procedure.metrics}


def report_files(key, response, resampling=NO_INTERVALS, **options):
    """Score a file against a key."""
    return closeread.score("coref", response, gold=key, resampling=resampling, **options)


def score_files(key, response, **options):
    """Score a file against a key, as a mapping from names to scores."""
    return as_values(report_files(key, response, **options))


def compare_files(key, first, second, **options):
    """Compare two files against a key."""
    return closeread.compare("coref", first, second, gold=key, **options)


def as_values(report):
    """Return the scores of a report as a mapping from names to numbers."""
    return {name: estimate.value for name, estimate in report.total.scores.items()}


def read_response(key, response, **options):
    """Read a key, and a response in the key's order, both files or documents in memory."""
    key, response = (Path(side) if isinstance(side, str) else side for side in (key, response))
    options = PROCEDURE.resolve_options(options)
    return align(read_side(key, options), response, options)


def write_jsonl(path, documents):
    rows = [{"document": name, "clusters": clusters} for name, clusters in documents.items()]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def write_conll(path, documents, length=9, form=str):
    """Write the documents as CoNLL, with invented words, in a form such as `as_ontonotes`."""
    lines = []
    for name, clusters in documents.items():
        cells = [[] for _ in range(length)]
        for number, cluster in enumerate(clusters):
            for start, end in cluster:
                if start == end:
                    cells[start].append(f"({number})")
                else:
                    cells[start].insert(0, f"({number}")
                    cells[end].append(f"{number})")
        rows = [
            f"{name}\t0\t{i}\tword{i}\tX\t{'|'.join(cell) or '-'}" for i, cell in enumerate(cells)
        ]
        lines += [f"#begin document ({name}); part 000", *rows, "", "#end document"]
    path.write_text(form("\n".join(lines) + "\n"))
    return path


def write_corefud(path, cells, words=None, dependencies=None):
    """Write one document as CorefUD, a row for each cell, by its id."""
    words, dependencies = words or {}, dependencies or {}
    rows = [
        f"{number}\t{words.get(number, 'w')}\t_\tNOUN\t_\t_\t_\t_\t{dependencies.get(number, '_')}\t"
        f"{f'Entity={cell}' if cell else '_'}"
        for number, cell in cells.items()
    ]
    path.write_text(COREFUD.format(rows="\n".join(rows)))
    return path
