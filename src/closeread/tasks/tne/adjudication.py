"""Consolidation: merge the links of several annotators into gold, with decisions where they differ.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 5.2 and Figure 3c: links are annotated on
clusters that have been consolidated before; links that all annotators have are kept, and another person decides on
the rest.

Conventions: a link holds for every member of the complement's cluster, so the unit of comparison and decision is a
*target*: an anchor and a cluster, as one integer, the position of the anchor among all noun phrases times the number of
clusters plus the number of the cluster.  Documents, noun phrases, clusters and labels are numbered as in
`closeread.tasks.tne.columns`.  A decision lists all prepositions that hold between the two, in order, or none.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from closeread.arrays import Ints, Mask
from closeread.corpus.schema import RowValidator, load_schema
from closeread.corpus.validation import accept_rows
from closeread.exceptions import FormatError, Problem, RequestError, join_names, pluralize, quote, shorten
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import read_bytes, read_lines
from closeread.records import Parsed, Record, name_problem
from closeread.tasks.tne.annotators import align
from closeread.tasks.tne.closure import check_spread
from closeread.tasks.tne.columns import LABELS, PREPOSITIONS, Documents
from closeread.tasks.tne.tne_jsonl import UNSAFE

ANNOTATORS = "ABCDEFGH"
"""The names of annotators in files of conflicts, in order."""

AROUND = 60
"""How many characters of context are shown on each side of a noun phrase."""


@dataclass(frozen=True, eq=False)
class Consolidation:
    """The links of all annotators; one entry for each target and preposition.

    Attributes:
        documents: the documents of the first annotator.
        target: (n,) the targets, in the order of the first annotator's links, then the second's, and so on.
        label: (n,) the prepositions.
        rank: (n, n_annotators) the position of the entry among those of each annotator, -1 if the annotator lacks it.
    """

    documents: Documents
    target: Ints
    label: Ints
    rank: Ints

    @cached_property
    def agreed(self) -> Mask:
        """(n,) whether all annotators have the entry."""
        agreed: Mask = np.logical_and.reduce(self.rank >= 0, axis=1)
        return agreed

    @cached_property
    def contested(self) -> Ints:
        """(n_conflicts,) the targets on which annotators differ, by document and then in the order of `target`."""
        distinct, first = np.unique(self.target[~self.agreed], return_index=True)
        in_order = distinct[np.argsort(first)]
        return in_order[np.argsort(self.place(in_order)[0], kind="stable")]

    def place(self, target: Ints) -> tuple[Ints, Ints, Ints]:
        """Return the documents, the numbers of the anchors and the clusters of targets."""
        anchor, cluster = np.divmod(target, max(len(self.documents.clusters.ids), 1))
        document = np.searchsorted(self.starts, anchor, side="right") - 1
        return document, anchor - self.starts[document], cluster

    @cached_property
    def starts(self) -> Ints:
        """(n_documents + 1,) the positions where the noun phrases of each document begin."""
        return np.concatenate([[0], np.cumsum(self.documents.sizes)])

    @cached_property
    def ids(self) -> Sequence[str]:
        """The ids of the documents."""
        return self.documents.column("id")

    @cached_property
    def members(self) -> list[list[int]]:
        """The numbers of the noun phrases of each cluster."""
        clusters = self.documents.clusters
        sizes = np.bincount(clusters.member_of, minlength=len(clusters.ids))
        return [part.tolist() for part in np.split(clusters.member, np.cumsum(sizes)[:-1])]

    @cached_property
    def prepositions(self) -> Mapping[int, list[list[str]]]:
        """The prepositions of each annotator for every contested target, in the annotator's order."""
        by_target: dict[int, list[list[str]]] = {
            target: [[] for _ in self.rank.T] for target in self.contested.tolist()
        }
        among = np.isin(self.target, self.contested)
        for annotator, rank in enumerate(self.rank.T):
            rows = np.flatnonzero(among & (rank >= 0))
            rows = rows[np.argsort(rank[rows])]
            for target, label in zip(self.target[rows].tolist(), self.label[rows].tolist(), strict=True):
                by_target[target][annotator].append(PREPOSITIONS[label])
        return by_target


def consolidation(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> Consolidation:
    """Compare the links of several annotators.

    Args:
        annotators: the documents of each, valid by the rules of the corpus.
        names: the names of the annotators in messages.

    Raises:
        RequestError: there are fewer than two annotators or more than `ANNOTATORS` has names for.
        FormatError: the annotators don't have the same documents, noun phrases and clusters, or one has no links; all
            problems at once.
    """
    if not 2 <= len(annotators) <= len(ANNOTATORS):
        raise RequestError(f"the number of annotators' files is {len(annotators)} (expected 2 to {len(ANNOTATORS)})")
    sides = align(annotators, names)
    problems = [*_find_missing_links(sides, names)]
    for documents, name in zip(sides[1:], names[1:], strict=True):
        for one, two in zip(sides[0], documents, strict=True):
            problems += _compare_clusters(one, two, names[0], name)
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])
    first = sides[0]
    entries = [_list_entries(documents, first) for documents in sides]
    lengths = [len(entry) for entry in entries]
    distinct, at, of_distinct = np.unique(np.concatenate(entries), return_index=True, return_inverse=True)
    rank = np.full((len(distinct), len(sides)), -1, np.int64)
    rank[of_distinct, np.repeat(np.arange(len(sides)), lengths)] = np.concatenate([np.arange(n) for n in lengths])
    order = np.argsort(at)
    target, label = np.divmod(distinct[order], len(PREPOSITIONS))
    return Consolidation(first, target, label, rank[order])


def _find_missing_links(sides: Sequence[Documents], names: Sequence[str]) -> Iterator[str]:
    for documents, name in zip(sides, names, strict=True):
        links = zip(documents.column("id"), documents.column("np_relations"), strict=True)
        without = [document for document, relations in links if relations is None]
        if without:
            of_documents = f"{len(without):,} of {len(documents):,} documents: {join_names(without)}"
            yield f"{name} has no links for {of_documents} (expected a list for each, possibly empty)"


def _compare_clusters(one: Record, two: Record, own: str, other: str) -> Iterator[str]:
    """Find differences between the clusters of a document; ids and order may differ."""
    if one["coref"] == two["coref"]:
        return
    kinds, theirs = ({frozenset(c["members"]): c.get("np_type") for c in side["coref"]} for side in (one, two))
    of_document = f"document {quote(one['id'])}"
    for members, kind in kinds.items():
        phrases = " and ".join(sorted(members, key=lambda name: (len(name), name)))
        if members not in theirs:
            found = f"{own} has the cluster {phrases}, which {other} lacks"
            yield f"{of_document}: {found} (expected the same clusters in all files)"
        elif kind is not None and theirs[members] is not None and kind != theirs[members]:
            types = f"{quote(theirs[members])} in {other} but {quote(kind)} in {own}"
            yield f"{of_document}: the cluster {phrases} is {types}"


def _list_entries(documents: Documents, first: Documents) -> Ints:
    """Return an annotator's entries in order, each once, as target times number of labels plus label."""
    links = documents.links
    starts = np.concatenate([[0], np.cumsum(first.sizes)])[links.document]
    target = (starts + links.anchor) * len(first.clusters.ids) + first.cluster_of[starts + links.complement]
    distinct, at = np.unique(target * len(PREPOSITIONS) + links.label, return_index=True)
    in_order: Ints = distinct[np.argsort(at)]
    return in_order


def conflicts(found: Consolidation, decided: Collection[int] = ()) -> list[Record]:
    """Return the conflicts as rows for a person to decide on, by document.

    Args:
        found: the links.
        decided: targets that have been decided already.
    """
    targets = found.contested[~np.isin(found.contested, list(decided))]
    document, anchor, cluster = (column.tolist() for column in found.place(targets))
    first = {place: _find_first(found, *place) for place in set(zip(document, cluster, strict=True))}
    return [
        _to_row(found, target, number, phrase, first[number, of])
        for target, number, phrase, of in zip(targets.tolist(), document, anchor, cluster, strict=True)
    ]


def _find_first(found: Consolidation, document: int, cluster: int) -> int:
    """Return the number of the first noun phrase of a cluster."""
    first_char, start = found.documents.noun_phrases.first_char, found.starts[document]
    return min(found.members[cluster], key=lambda number: (int(first_char[start + number]), number))


def _to_row(found: Consolidation, target: int, document: int, anchor: int, complement: int) -> Record:
    phrases, start = found.documents.noun_phrases, int(found.starts[document])
    row: Record = {"id": found.ids[document]}
    for end, number in (("anchor", anchor), ("complement", complement)):
        begin, stop = int(phrases.first_char[start + number]), int(phrases.last_char[start + number])
        context = _show_context(found.documents[document]["text"], begin, stop)
        row |= {end: f"np{number}", f"{end}_text": _squeeze(phrases.text[start + number]), f"{end}_context": context}
    return {**row, **dict(zip(ANNOTATORS, found.prepositions[target], strict=False)), "decision": None}


def _show_context(text: str, begin: int, stop: int) -> str:
    """Show a span of a text in brackets, with the text around it.

    >>> _show_context("The roof of the building is green.", 12, 24)
    'The roof of [the building] is green.'
    """
    first, last = max(begin - AROUND, 0), min(stop + AROUND, len(text))
    before, after = "… " if first else "", " …" if last < len(text) else ""
    return f"{before}{_squeeze(f'{text[first:begin]}[{text[begin:stop]}]{text[stop:last]}')}{after}"


def _squeeze(text: str) -> str:
    """Put a text on one line, with single spaces."""
    return " ".join(text.split())


class Decisions(NamedTuple):
    """The contents of a file of conflicts after a person has edited it.

    Attributes:
        labels: the prepositions of every target with a decision, in order.
        problems: what is wrong with the file.
        open: the conflicts without a decision, as problems.
    """

    labels: Mapping[int, Sequence[int]]
    problems: list[Problem]
    open: list[Problem]


def decisions(found: Consolidation, rows: Parsed) -> Decisions:
    """Read the decisions of a file and check them against the conflicts.

    Args:
        found: the links.
        rows: the rows of the file, valid by the schema.
    """
    labels: dict[int, Sequence[int]] = {}
    problems, still_open = [], []
    lines: dict[int, int] = {}
    documents = {name: index for index, name in enumerate(found.ids)}
    for row, line in zip(rows.records, rows.lines, strict=True):
        target = _find_target(found, row, documents)
        if isinstance(target, str):
            problems.append(Problem(target, line))
            continue
        wrong = list(_check_row(row, found.prepositions[target]))
        if target in lines:
            wrong.append(f"is already on line {lines[target]:,} (expected one row for each anchor and cluster)")
        lines.setdefault(target, line)
        problems += [Problem(f"{_name_pair(row)}: {what}", line) for what in wrong]
        if row["decision"] is None:
            found_null = f"{_name_pair(row)}: decision is null (expected prepositions, or [] for no link)"
            still_open.append(Problem(found_null, line))
        elif not wrong:
            labels[target] = [LABELS[name] for name in row["decision"]]
    if absent := conflicts(found, lines):
        names = "; ".join(map(_name_pair, absent[:3])) + ("; …" if len(absent) > 3 else "")
        which = f"{len(absent):,} of {pluralize(len(found.contested), 'conflict')}"
        still_open.append(Problem(f"no row for {which}: {names} (expected one for each)"))
    return Decisions(labels, problems, still_open)


def read_decisions(found: Consolidation, path: Path, *, may_stay_open: bool = False) -> Mapping[int, Sequence[int]]:
    """Read a file of conflicts with decisions: the prepositions of every decided target.

    Args:
        found: the links that are decided on.
        path: the file, JSON Lines; it may be empty, as it is if all annotators agree.
        may_stay_open: accept conflicts without a decision.

    Raises:
        FormatError: a row is invalid or not about a conflict, or a conflict has no decision; all problems at once.
    """
    is_empty = path.is_file() and not (path.stat().st_size and read_bytes(path))
    # The words of the corpus contain characters that are refused elsewhere.
    schema = load_schema("tne")
    parsed = parse_json_lines([] if is_empty else read_lines(path), UNSAFE)
    accepted, invalid = accept_rows(RowValidator(schema, "decision"), parsed.records)
    parsed = parsed._replace(records=accepted)
    rejected = {problem.row for problem in invalid}
    valid = [number for number in range(len(parsed.records)) if number not in rejected]
    read = decisions(found, Parsed([parsed.records[n] for n in valid], [parsed.lines[n] for n in valid], []))
    unread = parsed.problems + [name_problem(parsed, "id", problem) for problem in invalid]
    problems = unread + read.problems
    if not may_stay_open:
        # Where rows could not be read, their conflicts are missing too; that is reported already.
        problems += [problem for problem in read.open if problem.line is not None or not unread]
    if problems:
        raise FormatError(path, sorted(problems, key=lambda problem: problem.order))
    return read.labels


def _find_target(found: Consolidation, row: Record, documents: Mapping[str, int]) -> int | str:
    """Return the contested target of a row, or a message if it has none."""
    index = documents.get(row["id"])
    if index is None:
        return f"id {quote(row['id'])} is not a document of the annotators' files"
    size, start = int(found.documents.sizes[index]), int(found.starts[index])
    ends = [int(row[end].removeprefix("np")) for end in ("anchor", "complement")]
    if max(ends) >= size:
        expected = f"(expected two of its {pluralize(size, 'noun phrase')})"
        return f"{_name_pair(row)}: np{max(ends)} does not exist {expected}"
    n_clusters, cluster = len(found.documents.clusters.ids), int(found.documents.cluster_of[start + ends[1]])
    target = (start + ends[0]) * n_clusters + cluster
    if target in found.prepositions:
        return target
    labels = found.label[found.target == target].tolist()
    if labels:
        return f"{_name_pair(row)}: not a conflict, since all annotators link them by {_join_labels(labels)}"
    return f"{_name_pair(row)}: not a conflict, since no annotator links them"


def _join_labels(labels: Sequence[int]) -> str:
    return " and ".join(quote(PREPOSITIONS[label]) for label in labels)


def _name_pair(row: Record) -> str:
    return f"{row['anchor']} and {row['complement']} in {quote(row['id'])}"


def _check_row(row: Record, annotators: Sequence[Sequence[str]]) -> Iterator[str]:
    """Find what is wrong with a row, given the prepositions of every annotator."""
    for number, name in enumerate(ANNOTATORS):
        value = row.get(name)
        if value is not None and number >= len(annotators):
            expected = f"(expected nothing: there are {pluralize(len(annotators), 'annotator')})"
            yield f"{name} is {_to_json(value)} {expected}"
        elif value is not None and sorted(value) != sorted(annotators[number]):
            expected = f"(expected {_to_json(annotators[number])}, as in the file of that annotator)"
            yield f"{name} is {_to_json(value)} {expected}"
    decision = row["decision"] or []
    if len(set(decision)) < len(decision):
        yield f"decision is {_to_json(decision)} (expected each preposition once)"


def _to_json(prepositions: Sequence[str]) -> str:
    return shorten(json.dumps(prepositions), 60)


def consolidated(found: Consolidation, decided: Mapping[int, Sequence[int]] | None = None) -> list[Record]:
    """Return the first annotator's documents with the links that all annotators have, and with those decided on.

    Args:
        found: the links.
        decided: the labels of decided targets; of other conflicts, only what all annotators have is kept.

    Returns:
        Gold records; their links are in the order of `Consolidation.target`.

    Raises:
        RequestError: a document would have more links than `closeread.tasks.tne.closure.MAX_LINKS`.
    """
    decided = decided or {}
    kept = np.flatnonzero(found.agreed & ~np.isin(found.target, list(decided)))
    added = [(target, label) for target, labels in decided.items() for label in labels]
    added_target, added_label = np.array(added, np.int64).reshape(-1, 2).T
    target = np.concatenate([found.target[kept], added_target])
    label = np.concatenate([found.label[kept], added_label])
    by_target = np.argsort(found.target, kind="stable")  # a decision takes the place of the first entry of its target
    first = by_target[np.searchsorted(found.target, added_target, sorter=by_target)]
    order = np.argsort(np.concatenate([kept, first]), kind="stable")
    document, anchor, cluster = found.place(target[order])
    clusters, ids = found.documents.clusters, found.documents.clusters.ids
    check_spread(document, np.bincount(clusters.member_of, minlength=len(ids))[cluster], found.ids)
    relations: list[list[Record]] = [[] for _ in found.ids]
    columns = (column.tolist() for column in (document, anchor, label[order], cluster))
    for index, number, preposition, of_cluster in zip(*columns, strict=True):
        relations[index] += [
            {
                "anchor": f"np{number}",
                "complement": f"np{member}",
                "preposition": PREPOSITIONS[preposition],
                "complement_coref_cluster_id": ids[of_cluster],
            }
            for member in found.members[of_cluster]
        ]
    return [{**record, "np_relations": links} for record, links in zip(found.documents, relations, strict=True)]
