"""Consolidation: merge the links of several annotators into gold, with decisions where they differ.

Source: Elazar, Basmov, Goldberg and Tsarfaty (2021, preprint), section 5.2 and Figure 3c: links are annotated on
clusters that have been consolidated before; links that all annotators have are kept, and another person decides on
the rest.

Conventions: a link holds for every member of the complement's cluster, so the unit of comparison and decision is a
*target*: an anchor and a cluster.  A decision lists all prepositions that hold between the two, in order, or none.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from closeread.corpus.schema import RowValidator, load_schema
from closeread.corpus.validation import accept_rows
from closeread.exceptions import FormatError, Problem, RequestError, join_names, pluralize, quote, shorten
from closeread.formats.json_lines import parse_json_lines
from closeread.formats.text import read_bytes, read_lines
from closeread.records import Parsed, Record, name_problem
from closeread.tasks.tne.annotators import align
from closeread.tasks.tne.closure import check_spread
from closeread.tasks.tne.columns import Documents
from closeread.tasks.tne.rules import CLUSTER
from closeread.tasks.tne.tne_jsonl import UNSAFE

ANNOTATORS = "ABCDEFGH"  # the names of annotators in files of conflicts, in order

AROUND = 60  # how many characters of context are shown on each side of a noun phrase

Target = tuple[int, str, int]
"""The numbers of a document, the id of the anchor, and the number of the cluster in the document."""


Entry = tuple[Target, str]  # a target and a preposition


@dataclass(frozen=True, eq=False)
class Consolidation:
    """The links of all annotators."""

    documents: Documents  # the documents of the first annotator
    clusters: Sequence[Mapping[str, int]]  # the number of the cluster of each noun phrase, by its id, of every document
    sides: Sequence[Mapping[Entry, None]]  # the entries of each annotator, in order, each once

    @cached_property
    def entries(self) -> Mapping[Entry, bool]:
        """Whether all annotators have an entry, by entry: those of the first annotator first, in order."""
        return {entry: all(entry in one for one in self.sides) for side in self.sides for entry in side}

    @cached_property
    def contested(self) -> Mapping[Target, list[list[str]]]:
        """The prepositions of each annotator for the targets on which annotators differ, by document."""
        targets = dict.fromkeys(target for (target, _), is_agreed in self.entries.items() if not is_agreed)
        found: dict[Target, list[list[str]]] = {
            target: [[] for _ in self.sides] for target in sorted(targets, key=itemgetter(0))
        }
        for number, side in enumerate(self.sides):
            for target, preposition in side:
                if target in found:
                    found[target][number].append(preposition)
        return found


def consolidation(annotators: Sequence[Sequence[Record]], names: Sequence[str]) -> Consolidation:
    """Compare the links of several annotators."""
    if not 2 <= len(annotators) <= len(ANNOTATORS):
        raise RequestError(f"the number of annotators' files is {len(annotators)} (expected 2 to {len(ANNOTATORS)})")
    sides = align(annotators, names)
    problems = [*_find_missing_links(sides, names)]
    for documents, name in zip(sides[1:], names[1:], strict=True):
        for one, two in zip(sides[0], documents, strict=True):
            problems += _compare_clusters(one, two, names[0], name)
    if problems:
        raise FormatError("annotations", [Problem(what) for what in problems])
    clusters = [
        {name: number for number, cluster in enumerate(record["coref"]) for name in cluster["members"]}
        for record in sides[0]
    ]
    entries = [
        {
            ((index, link["anchor"], clusters[index][link["complement"]]), link["preposition"]): None
            for index, record in enumerate(documents)
            for link in record["np_relations"]
        }
        for documents in sides
    ]
    return Consolidation(sides[0], clusters, entries)


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


def conflicts(found: Consolidation, decided: Collection[Target] = ()) -> list[Record]:
    """Return the conflicts as rows for a person to decide on, by document, without those that are decided already."""
    rows = []
    for target, said in found.contested.items():
        if target in decided:
            continue
        index, anchor, cluster = target
        record = found.documents[index]
        phrases = {phrase["id"]: phrase for phrase in record["nps"]}
        first = min(
            (phrases[name] for name in record["coref"][cluster]["members"]),
            key=lambda phrase: (phrase["first_char"], int(phrase["id"].removeprefix("np"))),
        )
        row: Record = {"id": record["id"]}
        for end, phrase in (("anchor", phrases[anchor]), ("complement", first)):
            context = _show_context(record["text"], phrase["first_char"], phrase["last_char"])
            row |= {end: phrase["id"], f"{end}_text": _squeeze(phrase["text"]), f"{end}_context": context}
        rows.append({**row, **dict(zip(ANNOTATORS, said, strict=False)), "decision": None})
    return rows


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
    """The contents of a file of conflicts after a person has edited it."""

    labels: Mapping[Target, Sequence[str]]  # the prepositions of every target with a decision, in order
    problems: list[Problem]  # what is wrong with the file
    open: list[Problem]  # the conflicts without a decision, as problems


def decisions(found: Consolidation, rows: Parsed) -> Decisions:
    """Read the decisions of a file and check them against the conflicts."""
    labels: dict[Target, Sequence[str]] = {}
    problems, still_open = [], []
    lines: dict[Target, int] = {}
    documents = {name: index for index, name in enumerate(found.documents.column("id"))}
    for row, line in zip(rows.records, rows.lines, strict=True):
        target = _find_target(found, row, documents)
        if isinstance(target, str):
            problems.append(Problem(target, line))
            continue
        wrong = list(_check_row(row, found.contested[target]))
        if target in lines:
            wrong.append(f"is already on line {lines[target]:,} (expected one row for each anchor and cluster)")
        lines.setdefault(target, line)
        problems += [Problem(f"{_name_pair(row)}: {what}", line) for what in wrong]
        if row["decision"] is None:
            found_null = f"{_name_pair(row)}: decision is null (expected prepositions, or [] for no link)"
            still_open.append(Problem(found_null, line))
        elif not wrong:
            labels[target] = row["decision"]
    if absent := conflicts(found, lines):
        names = "; ".join(map(_name_pair, absent[:3])) + ("; …" if len(absent) > 3 else "")
        which = f"{len(absent):,} of {pluralize(len(found.contested), 'conflict')}"
        still_open.append(Problem(f"no row for {which}: {names} (expected one for each)"))
    return Decisions(labels, problems, still_open)


def read_decisions(found: Consolidation, path: Path, *, may_stay_open: bool = False) -> Mapping[Target, Sequence[str]]:
    """Read a file of conflicts with decisions: the prepositions of every decided target."""
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


def _find_target(found: Consolidation, row: Record, documents: Mapping[str, int]) -> Target | str:
    """Return the contested target of a row, or a message if it has none."""
    index = documents.get(row["id"])
    if index is None:
        return f"id {quote(row['id'])} is not a document of the annotators' files"
    clusters = found.clusters[index]
    last = max(row["anchor"], row["complement"], key=lambda name: int(name.removeprefix("np")))
    if last not in clusters:
        expected = f"(expected two of its {pluralize(len(clusters), 'noun phrase')})"
        return f"{_name_pair(row)}: {last} does not exist {expected}"
    target = (index, row["anchor"], clusters[row["complement"]])
    if target in found.contested:
        return target
    names = [quote(preposition) for of, preposition in found.entries if of == target]
    link = f"all annotators link them by {' and '.join(names)}" if names else "no annotator links them"
    return f"{_name_pair(row)}: not a conflict, since {link}"


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


def consolidated(found: Consolidation, decided: Mapping[Target, Sequence[str]] | None = None) -> list[Record]:
    """Return the first annotator's documents with the links that all annotators have, and with those decided on."""
    decided = decided or {}
    kept: dict[Entry, None] = {}
    for (target, preposition), is_agreed in found.entries.items():
        if target in decided:
            kept |= dict.fromkeys((target, name) for name in decided[target])
        elif is_agreed:
            kept[target, preposition] = None
    gold = [{**record, "np_relations": list[Record]()} for record in found.documents]
    sizes: Counter[int] = Counter()
    for (index, _, number), _ in kept:
        sizes[index] += len(gold[index]["coref"][number]["members"])
    for index, size in sorted(sizes.items()):
        check_spread(gold[index]["id"], size)
    for (index, anchor, number), preposition in kept:
        cluster = gold[index]["coref"][number]
        gold[index]["np_relations"] += [
            {"anchor": anchor, "complement": member, "preposition": preposition, CLUSTER: cluster["id"]}
            for member in cluster["members"]
        ]
    return gold
