"""Put the mentions of coreference files into Universal Dependencies, which have the same text in other sentences.

UD_Turkish-IMST is the same treebank with other tokens, and some of its sentences stand in other documents; so mentions
are put in place by their text (`closeread.tasks.coref.marmara.sentence_search`).

Conventions: a document is that of a coreference file.  Its sentences are those of UD's document of that id, in the
order and with the numbers of UD, except those that were found to belong to another document; a sentence that was found
under another id follows the sentence that it follows in the coreference file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from itertools import groupby, pairwise
from typing import NamedTuple

from closeread.exceptions import Problem, ProblemList, join_names, pluralize, quote
from closeread.tasks.coref.marmara.coreference_xml import describe_mention
from closeread.tasks.coref.marmara.documents import Annotation, Document, Mention, Sentence
from closeread.tasks.coref.marmara.placed_documents import PlacedMention, make_placed_document, order_sentences
from closeread.tasks.coref.marmara.record_making import make_document
from closeread.tasks.coref.marmara.sentence_alignment import make_key
from closeread.tasks.coref.marmara.sentence_numbers import EXPECTED, find_document_id, is_sentence_number, sort_key
from closeread.tasks.coref.marmara.sentence_search import Found, Sought, Target, find_sentences
from closeread.tasks.coref.marmara.treebank_xml import number_names
from closeread.wording import name_option


class Placed(NamedTuple):
    """Documents with mentions put in place.

    Attributes:
        documents: the documents, without genre, in the order of their names; one without sentences is left out.
        files: the coreference file of each.
        problems: what is wrong with the files, with file and line.
        notices: what was dropped, left out or divided.
        lost: the mentions without a place, with their file.
        rest: a notice about the documents of the treebank without coreference, if there are any.
    """

    documents: list[Document]
    files: list[str]
    problems: list[Problem]
    notices: list[Problem]
    lost: list[tuple[str, Mention]]
    rest: list[Problem]


class _Part(NamedTuple):
    """A document: its name, the id in its sentence numbers, and its coreference file."""

    name: str
    id: str
    annotation: Annotation


class _Row(NamedTuple):
    """A sentence of a coreference file.

    Attributes:
        part: its document, by number.
        sought: its mentions, those without a key left out.
        found: where it was found, if it was.
    """

    part: int
    sought: Sought
    found: Found | None = None


def make_documents(treebank: Mapping[str, Sequence[Sentence]]) -> list[Document]:
    """Make documents without mentions of all documents of Universal Dependencies.

    Args:
        treebank: the sentences of each document, by id.
    """
    return [make_document(name, sentences, [], []) for name, sentences in treebank.items()]


def place_annotations(
    treebank: Mapping[str, Sequence[Sentence]], annotations: Sequence[Annotation], *, unaligned: str = "drop"
) -> Placed:
    """Put the mentions of coreference files into the documents of Universal Dependencies.

    Args:
        treebank: the sentences of each document of UD, by id.
        annotations: the coreference files, each valid in itself.
        unaligned: `"drop"` to drop mentions without a place, with a notice about each; `"error"` to make each a
            problem.
    """
    parts, problems, notices = _find_parts(treebank, annotations)
    rows = [row for number, part in enumerate(parts) for row in _list_rows(number, part)]
    found = find_sentences(treebank, [row.sought for row in rows])
    rows = [row._replace(found=one) for row, one in zip(rows, found, strict=True)]
    homes = _find_homes(treebank, parts, rows)
    owners = homes | {row.found.target: row.part for row in rows if row.found}
    documents: list[Document] = []
    files: list[str] = []
    lost: list[tuple[str, Mention]] = []
    broken: list[Problem] = ProblemList()
    of_part = {number: list(some) for number, some in groupby(rows, key=lambda row: row.part)}
    for number, part in enumerate(parts):
        own = [target for target, home in homes.items() if home == owners[target] == number]
        placed = _list_places(of_part.get(number, []))
        targets = order_sentences(own, (row.found.target for row in of_part.get(number, []) if row.found))
        sentences = {target: treebank[target.document][target.sentence] for target in targets}
        chains, notes = _split_chains(part.annotation, {mention.id for mention in placed})
        if sentences:
            documents.append(make_placed_document(part.name, sentences, placed, chains))
            files.append(part.annotation.file)
        else:
            what = f"no sentence of document {quote(part.name)} was found; left out"
            notices.append(Problem(what, None, part.annotation.file))
        in_place = {mention.id for mention in placed}
        lost += [(part.annotation.file, one) for one in part.annotation.mentions if one.id not in in_place]
        broken += notes
    notices += _describe_cuts(treebank, parts, homes)
    if unaligned == "error":
        problems += [_describe_lost(file, mention, unaligned) for file, mention in lost]
    elif lost:
        notices.append(_summarize(parts, len(lost), len(broken)))
        notices += [_describe_lost(file, mention, unaligned) for file, mention in lost] + broken
    return Placed(documents, files, problems, notices, lost, _describe_rest(treebank, parts))


def _find_parts(
    treebank: Mapping[str, Sequence[Sentence]], annotations: Sequence[Annotation]
) -> tuple[list[_Part], list[Problem], list[Problem]]:
    """Return the documents of coreference files, in order, the files that have none, and notices.

    A document of the treebank that several files point into is divided.
    """
    by_id: dict[str, list[Annotation]] = {}
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    for annotation in annotations:
        wrong = _check_sentences(annotation)
        problems += wrong
        if not annotation.mentions:
            notices.append(Problem("has no mentions, so it belongs to no document", None, annotation.file))
        elif not wrong:
            name = find_document_id(annotation.mentions[0].sentence)
            if name in treebank:
                by_id.setdefault(name, []).append(annotation)
            else:
                what = f"no document of the treebank has the id {quote(name)} (expected '# newdoc id = {name}')"
                problems.append(Problem(what, annotation.mentions[0].line, annotation.file))
    parts: list[_Part] = []
    for name in sorted(by_id):
        files = sorted(by_id[name], key=lambda one: min(_list_keys(one)))
        problems += _check_order(name, files)
        names = number_names([name] * len(files))
        parts += [_Part(own, name, one) for own, one in zip(names, files, strict=True)]
    return parts, problems, notices


def _check_sentences(annotation: Annotation) -> list[Problem]:
    """Find mentions whose sentence has another form than numbers of sentences, or is of another document."""
    problems: list[Problem] = ProblemList()
    first = annotation.mentions[0].sentence if annotation.mentions else ""
    for mention in annotation.mentions:
        if not is_sentence_number(mention.sentence):
            what = f"the sentence number has another form ({EXPECTED})"
        elif is_sentence_number(first) and find_document_id(mention.sentence) != find_document_id(first):
            what = f"is of another document than sentence {quote(first)} (expected one document a file)"
        else:
            continue
        problems.append(
            Problem(f"{describe_mention(mention.id, mention.sentence)}: {what}", mention.line, annotation.file)
        )
    return problems


def _list_keys(annotation: Annotation) -> list[tuple[str, int, int]]:
    return [sort_key(mention.sentence) for mention in annotation.mentions]


def _check_order(name: str, files: Sequence[Annotation]) -> list[Problem]:
    """Find files of a document that begin before the one before them ends, so that it can't be cut."""
    what = f"in document {quote(name)} (expected one file for each document)"
    return [
        Problem(f"its sentences interleave with those of {before.file}, {what}", None, after.file)
        for before, after in pairwise(files)
        if min(_list_keys(after)) <= max(_list_keys(before))
    ]


def _list_rows(number: int, part: _Part) -> list[_Row]:
    """List the sentences of a document that can be sought, in order."""
    mentions: dict[str, list[Mention]] = {}
    for mention in part.annotation.mentions:
        if make_key(mention.text):
            mentions.setdefault(mention.sentence, []).append(mention)
    return [_Row(number, Sought(part.id, mentions[sentence])) for sentence in sorted(mentions, key=sort_key)]


def _find_homes(
    treebank: Mapping[str, Sequence[Sentence]], parts: Sequence[_Part], rows: Sequence[_Row]
) -> dict[Target, int]:
    """Return the document, by number, to which each sentence belongs that stands under the id of one.

    A document of UD is divided before the first sentence that was found, in order, for the next file.
    """
    cuts: dict[int, int] = {}
    for row in rows:
        if row.found and row.found.is_aligned:
            cuts.setdefault(row.part, row.found.target.sentence)
    homes: dict[Target, int] = {}
    for name, same in groupby(range(len(parts)), key=lambda number: parts[number].id):
        first, *others = same
        homes |= {Target(name, i): first for i in range(len(treebank[name]))}
        for number in others:
            homes |= {
                Target(name, i): number for i in range(cuts.get(number, len(treebank[name])), len(treebank[name]))
            }
    return homes


def _list_places(rows: Sequence[_Row]) -> list[PlacedMention]:
    return [
        PlacedMention(mention.id, row.found.target, place)
        for row in rows
        if row.found
        for mention, place in zip(row.sought.mentions, row.found.places, strict=True)
        if place is not None
    ]


def _split_chains(annotation: Annotation, placed: Set[str]) -> tuple[list[list[str]], list[Problem]]:
    """Return what is left of the chains, and notices about those that are not left with two mentions."""
    chains: list[list[str]] = []
    notices: list[Problem] = []
    for ids in annotation.chains:
        left = [one for one in ids if one in placed]
        if len(left) > 1:
            chains.append(left)
        else:
            what = f"the chain of mentions {join_names(ids)} is left with {pluralize(len(left), 'mention')}; dropped"
            notices.append(Problem(what, None, annotation.file))
    return chains, notices


def _describe_lost(file: str, mention: Mention, unaligned: str) -> Problem:
    reason = "its place in the treebank was not found" if make_key(mention.text) else "it has no text to look for"
    if unaligned == "error":
        what = f"{reason} (use {name_option('unaligned', 'drop')} to drop such mentions)"
    else:
        what = f"dropped, since {reason}"
    return Problem(
        f"{describe_mention(mention.id, mention.sentence)}, {quote(mention.text)}: {what}", mention.line, file
    )


def _summarize(parts: Sequence[_Part], n_lost: int, n_broken: int) -> Problem:
    n_mentions = sum(len(part.annotation.mentions) for part in parts)
    n_chains = sum(len(part.annotation.chains) for part in parts)
    chains = f" and {n_broken:,} of {pluralize(n_chains, 'chain')}" if n_broken else ""
    mentions = f"{n_lost:,} of {pluralize(n_mentions, 'mention')} ({n_lost / n_mentions:.1%})"
    return Problem(f"{mentions}{chains} dropped, since they were not found in the treebank by their text")


def _describe_cuts(
    treebank: Mapping[str, Sequence[Sentence]], parts: Sequence[_Part], homes: Mapping[Target, int]
) -> list[Problem]:
    """Return notices about documents of the treebank that are cut."""
    firsts: dict[int, Target] = {}
    for target, number in homes.items():
        firsts.setdefault(number, target)
    notices: list[Problem] = []
    for number, part in enumerate(parts):
        if part.name != part.id:
            what = f"document {quote(part.id)} is not cut, since no sentence of this file was found there in order"
            if first := firsts.get(number):
                before = quote(treebank[part.id][first.sentence]["number"])
                what = f"document {quote(part.id)} is cut before sentence {before}, where this file begins"
            notices.append(Problem(what, None, part.annotation.file))
    return notices


def _describe_rest(treebank: Mapping[str, Sequence[Sentence]], parts: Sequence[_Part]) -> list[Problem]:
    """Return a notice about documents of the treebank without coreference."""
    rest = sorted(treebank.keys() - {part.id for part in parts})
    if not rest:
        return []
    what = f"{pluralize(len(rest), 'document')} of the treebank without a coreference file left out: {join_names(rest)}"
    return [Problem(what)]
