"""Consolidation: from the links of several annotators to gold, by decisions where they differ.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2022), section 4 and Figure 3c: links are annotated on clusters that are
settled before; those that all annotators have are kept, and a further person decides on the others.

Conventions: links of TNE reach every member of the complement's cluster, so what is compared and decided is a *target*:
an anchor and a cluster, as one integer, the anchor's place among all noun phrases times the number of clusters plus the
cluster's number.  Documents, noun phrases, clusters and labels are numbered as in `closeread.tasks.tne.columns`.  A
decision says everything that holds between the two: the prepositions in order, or none.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from closeread.corpora.schema import RowValidator, load_schema
from closeread.errors import FormatError, Problem, RequestError, join_names, pluralize, quote, shorten
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import read_lines
from closeread.records import Parsed, Record, name_problem
from closeread.tasks.tne.annotators import side_by_side
from closeread.tasks.tne.columns import LABELS, PREPOSITIONS, Documents, Ints
from closeread.tasks.tne.tne_jsonl import UNSAFE

ANNOTATORS = "ABCDEFGH"
"""What annotators are called in files of conflicts, in order."""

AROUND = 60
"""How many characters of the text are shown on either side of a noun phrase."""


@dataclass(frozen=True, eq=False)
class Consolidation:
    """The links of all annotators, laid together; one entry for every target with a preposition.

    Attributes:
        documents: the first annotator's.
        target: (n,) the targets, in the order of the first annotator's links, then the second's, and so on.
        label: (n,) the prepositions.
        rank: (n, n_annotators) where the entry stands among those of each annotator, -1 where it does not.
    """

    documents: Documents
    target: Ints
    label: Ints
    rank: Ints

    @cached_property
    def agreed(self) -> NDArray[np.bool_]:
        """(n,) which entries all annotators have."""
        every: NDArray[np.bool_] = np.logical_and.reduce(self.rank >= 0, axis=1)
        return every

    @cached_property
    def contested(self) -> Ints:
        """(n_conflicts,) the targets on which annotators differ, by document and then in the order of `target`."""
        distinct, first = np.unique(self.target[~self.agreed], return_index=True)
        in_order = distinct[np.argsort(first)]
        return in_order[np.argsort(self.place(in_order)[0], kind="stable")]

    def place(self, target: Ints) -> tuple[Ints, Ints, Ints]:
        """The documents, the anchors' numbers and the clusters of targets."""
        anchor, cluster = np.divmod(target, max(len(self.documents.clusters.ids), 1))
        document = np.searchsorted(self.starts, anchor, side="right") - 1
        return document, anchor - self.starts[document], cluster

    @cached_property
    def starts(self) -> Ints:
        """(n_documents + 1,) where the noun phrases of each document begin among all."""
        return np.concatenate([[0], np.cumsum(self.documents.sizes)])

    @cached_property
    def ids(self) -> Sequence[str]:
        """The documents' ids."""
        return self.documents.column("id")

    @cached_property
    def members(self) -> list[list[int]]:
        """Of every cluster the numbers of its noun phrases."""
        clusters = self.documents.clusters
        sizes = np.bincount(clusters.member_of, minlength=len(clusters.ids))
        return [part.tolist() for part in np.split(clusters.member, np.cumsum(sizes)[:-1])]

    @cached_property
    def said(self) -> Mapping[int, list[list[str]]]:
        """Of every contested target the prepositions of each annotator, in the annotator's order."""
        said: dict[int, list[list[str]]] = {target: [[] for _ in self.rank.T] for target in self.contested.tolist()}
        among = np.isin(self.target, self.contested)
        for annotator, rank in enumerate(self.rank.T):
            rows = np.flatnonzero(among & (rank >= 0))
            rows = rows[np.argsort(rank[rows])]
            for target, label in zip(self.target[rows].tolist(), self.label[rows].tolist(), strict=True):
                said[target][annotator].append(PREPOSITIONS[label])
        return said


def consolidation(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> Consolidation:
    """The links of several annotators, laid together.

    Args:
        annotators: the documents of each, valid by the corpus's rules.
        names: what to call the annotators in messages.

    Raises:
        RequestError: there are fewer than two annotators or more than `ANNOTATORS` has names for.
        FormatError: the annotators don't have the same documents, noun phrases and clusters, or one has no links; all
            problems at once.
    """
    if not 2 <= len(annotators) <= len(ANNOTATORS):
        raise RequestError(f"annotators' files: {len(annotators)}; needed: 2 to {len(ANNOTATORS)}")
    laid = side_by_side(annotators, names)
    problems = [*_without_links(laid, names)]
    for documents, name in zip(laid[1:], names[1:], strict=True):
        for one, two in zip(laid[0], documents, strict=True):
            problems += _other_clusters(one, two, names[0], name)
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])
    first = laid[0]
    entries = [_entries(documents, first) for documents in laid]
    lengths = [len(entry) for entry in entries]
    distinct, at, of_distinct = np.unique(np.concatenate(entries), return_index=True, return_inverse=True)
    rank = np.full((len(distinct), len(laid)), -1, np.int64)
    rank[of_distinct, np.repeat(np.arange(len(laid)), lengths)] = np.concatenate([np.arange(n) for n in lengths])
    order = np.argsort(at)
    target, label = np.divmod(distinct[order], len(PREPOSITIONS))
    return Consolidation(first, target, label, rank[order])


def _without_links(laid: Sequence[Documents], names: Sequence[str]) -> Iterator[str]:
    for documents, name in zip(laid, names, strict=True):
        links = zip(documents.column("id"), documents.column("np_relations"), strict=True)
        without = [document for document, relations in links if relations is None]
        if without:
            of_documents = f"{len(without):,} of {len(documents):,} documents ({join_names(without)})"
            yield f"{name} has no links for {of_documents}; needed: a list for each, which may be empty"


def _other_clusters(one: Record, two: Record, own: str, other: str) -> Iterator[str]:
    """What differs in the clusters of a document; their ids and their order may."""
    if one["coref"] == two["coref"]:
        return
    kinds, theirs = ({frozenset(c["members"]): c.get("np_type") for c in side["coref"]} for side in (one, two))
    of_document = f"document {quote(one['id'])}"
    for members, kind in kinds.items():
        named = " and ".join(sorted(members, key=lambda name: (len(name), name)))
        if members not in theirs:
            yield f"{of_document}: {own} has the cluster {named}, which {other} lacks; needed: the same clusters in all"
        elif kind is not None and theirs[members] is not None and kind != theirs[members]:
            needed = f"needed: {quote(kind)}, as in {own}"
            yield f"{of_document}: the cluster {named} is {quote(theirs[members])} in {other}; {needed}"


def _entries(documents: Documents, first: Documents) -> Ints:
    """An annotator's targets with prepositions, each once, in order: the target times the number of labels plus one."""
    links = documents.links
    starts = np.concatenate([[0], np.cumsum(first.sizes)])[links.document]
    target = (starts + links.anchor) * len(first.clusters.ids) + first.cluster_of[starts + links.complement]
    distinct, at = np.unique(target * len(PREPOSITIONS) + links.label, return_index=True)
    in_order: Ints = distinct[np.argsort(at)]
    return in_order


def conflicts(found: Consolidation, decided: Collection[int] = ()) -> list[Record]:
    """The conflicts as rows for a person to decide on, by document.

    Args:
        found: the links.
        decided: the targets that need no decision any more.
    """
    targets = found.contested[~np.isin(found.contested, list(decided))]
    return [
        _row(found, target, document, anchor, cluster)
        for target, document, anchor, cluster in zip(
            targets.tolist(), *(column.tolist() for column in found.place(targets)), strict=True
        )
    ]


def _row(found: Consolidation, target: int, document: int, anchor: int, cluster: int) -> Record:
    phrases, start = found.documents.noun_phrases, int(found.starts[document])
    complement = min(found.members[cluster], key=lambda number: (int(phrases.first_char[start + number]), number))
    row: Record = {"id": found.ids[document]}
    for end, number in (("anchor", anchor), ("complement", complement)):
        begin, stop = int(phrases.first_char[start + number]), int(phrases.last_char[start + number])
        context = _context(found.documents[document]["text"], begin, stop)
        row |= {end: f"np{number}", f"{end}_text": _on_a_line(phrases.text[start + number]), f"{end}_context": context}
    return {**row, **dict(zip(ANNOTATORS, found.said[target], strict=False)), "decision": None}


def _context(text: str, begin: int, stop: int) -> str:
    """A span of a text in brackets, with what stands around it.

    >>> _context("The roof of the building is green.", 12, 24)
    'The roof of [the building] is green.'
    """
    first, last = max(begin - AROUND, 0), min(stop + AROUND, len(text))
    before, after = "… " if first else "", " …" if last < len(text) else ""
    return f"{before}{_on_a_line(f'{text[first:begin]}[{text[begin:stop]}]{text[stop:last]}')}{after}"


def _on_a_line(text: str) -> str:
    return " ".join(text.split())


class Decisions(NamedTuple):
    """What a file of conflicts says once a person has been over it.

    Attributes:
        labels: of every target that is decided the prepositions, in order.
        problems: what is wrong with the file.
        open: the conflicts without a decision, put as problems.
    """

    labels: Mapping[int, Sequence[int]]
    problems: list[Problem]
    open: list[Problem]


def decisions(found: Consolidation, rows: Parsed) -> Decisions:
    """The decisions of a file, compared with the conflicts.

    Args:
        found: the links that are decided on.
        rows: the rows of the file, valid by the schema.
    """
    labels: dict[int, Sequence[int]] = {}
    problems, still_open = [], []
    lines: dict[int, int] = {}
    documents = {name: index for index, name in enumerate(found.ids)}
    for row, line in zip(rows.records, rows.lines, strict=True):
        target = _target(found, row, documents)
        if isinstance(target, str):
            problems.append(Problem(target, line))
            continue
        wrong = list(_wrong_with(row, found.said[target]))
        if target in lines:
            wrong.append(f"stands on line {lines[target]:,} already; needed: one decision for an anchor and a cluster")
        lines.setdefault(target, line)
        problems += [Problem(f"{_named(row)}: {what}", line) for what in wrong]
        if row["decision"] is None:
            still_open.append(Problem(f"{_named(row)}: decision is null; needed: prepositions, or [] for none", line))
        elif not wrong:
            labels[target] = [LABELS[name] for name in row["decision"]]
    if absent := conflicts(found, lines):
        which = "; ".join(map(_named, absent[:3])) + ("; …" if len(absent) > 3 else "")
        needed = f"needed: one for each of the {pluralize(len(found.contested), 'conflict')}"
        still_open.append(Problem(f"no row for {pluralize(len(absent), 'conflict')}: {which}; {needed}"))
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
    is_empty = path.is_file() and not path.stat().st_size
    # The words of the corpus contain characters that are refused elsewhere.
    parsed = parse_json_lines([] if is_empty else read_lines(path), UNSAFE)
    invalid = RowValidator(load_schema("tne"), "decision").problems(parsed.records)
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


def _target(found: Consolidation, row: Record, documents: Mapping[str, int]) -> int | str:
    """The contested target that a row is about, or what is wrong if it is about none."""
    index = documents.get(row["id"])
    if index is None:
        return f"id {quote(row['id'])} is no document of the annotators' files"
    size, start = int(found.documents.sizes[index]), int(found.starts[index])
    ends = [int(row[end].removeprefix("np")) for end in ("anchor", "complement")]
    if max(ends) >= size:
        return f"{_named(row)}: np{max(ends)} does not exist; needed: two of its {pluralize(size, 'noun phrase')}"
    n_clusters, cluster = len(found.documents.clusters.ids), int(found.documents.cluster_of[start + ends[1]])
    target = (start + ends[0]) * n_clusters + cluster
    if target in found.said:
        return target
    labels = found.label[found.target == target].tolist()
    if labels:
        return f"{_named(row)} are no conflict: all annotators link them by {_in_words(labels)}"
    return f"{_named(row)} are no conflict: no annotator links them"


def _in_words(labels: Sequence[int]) -> str:
    return " and ".join(quote(PREPOSITIONS[label]) for label in labels)


def _named(row: Record) -> str:
    return f"{quote(row['id'])}, {row['anchor']} and {row['complement']}"


def _wrong_with(row: Record, said: Sequence[Sequence[str]]) -> Iterator[str]:
    """What is wrong with a row about a conflict."""
    for number, name in enumerate(ANNOTATORS):
        told = row.get(name)
        if told is not None and number >= len(said):
            yield f"{name} is {_as_json(told)}; needed: nothing, since there are {pluralize(len(said), 'annotator')}"
        elif told is not None and sorted(told) != sorted(said[number]):
            needed = f"needed: {_as_json(said[number])}, as that annotator's file says now"
            yield f"{name} is {_as_json(told)}; {needed}"
    decision = row["decision"] or []
    if len(set(decision)) < len(decision):
        yield f"decision is {_as_json(decision)}; needed: each preposition once"


def _as_json(prepositions: Sequence[str]) -> str:
    return shorten(json.dumps(prepositions), 60)


def consolidated(found: Consolidation, decided: Mapping[int, Sequence[int]] | None = None) -> list[Record]:
    """The first annotator's documents with the links that all have, and with those that were decided on.

    Args:
        found: the links.
        decided: targets with all that holds of them; of other conflicts only what all annotators have is kept.

    Returns:
        Gold records; their links are in the order of `Consolidation.target`.
    """
    decided = decided or {}
    kept = np.flatnonzero(found.agreed & ~np.isin(found.target, list(decided)))
    settled = [(target, label) for target, labels in decided.items() for label in labels]
    added_target, added_label = np.array(settled, np.int64).reshape(-1, 2).T
    target = np.concatenate([found.target[kept], added_target])
    label = np.concatenate([found.label[kept], added_label])
    by_target = np.argsort(found.target, kind="stable")  # a decision takes the place of the first that it decides on
    first = by_target[np.searchsorted(found.target, added_target, sorter=by_target)]
    order = np.argsort(np.concatenate([kept, first]), kind="stable")
    document, anchor, cluster = found.place(target[order])
    ids = found.documents.clusters.ids
    relations: list[list[Record]] = [[] for _ in found.ids]
    columns = (column.tolist() for column in (document, anchor, label[order], cluster))
    for index, number, preposition, of in zip(*columns, strict=True):
        relations[index] += [
            {
                "anchor": f"np{number}",
                "complement": f"np{member}",
                "preposition": PREPOSITIONS[preposition],
                "complement_coref_cluster_id": ids[of],
            }
            for member in found.members[of]
        ]
    return [{**record, "np_relations": links} for record, links in zip(found.documents, relations, strict=True)]
