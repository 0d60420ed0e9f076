"""Coreference files: key and response, read and aligned.

Conventions: key and response are files or folders (`closeread.tasks.coref.files`).  Documents are matched by
name, including the part.  If both sides have words, these must be the same.

e2e-coref and its followers name part 0 of document NAME ``NAME_0``, which CoNLL-2012 calls ``NAME; part 000``.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from closeread.counts.procedure import GoldSpec, Inconsistency, Options, System
from closeread.counts.table import CountTable
from closeread.exceptions import (
    FormatError,
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    join_names,
    pluralize,
    quote,
)
from closeread.files import text_suffix, write_text
from closeread.records import Origin, ParsedRows, Record
from closeread.tasks.coref.document_fields import add_fields
from closeread.tasks.coref.documents import (
    Documents,
    ListedWords,
    MentionTable,
    Words,
    document_digests,
    find_words,
    list_clusters,
    pack_clusters,
    reorder,
    table_of,
)
from closeread.tasks.coref.files import Reading, iterate_formats, read_document_file, read_document_folder
from closeread.tasks.coref.formats.conll import ConllWords
from closeread.tasks.coref.formats.coref_json import JsonWords, drop_other_fields, find_dialect, read_neural
from closeread.tasks.coref.formats.coref_json import table_of as table_of_records
from closeread.tasks.coref.metrics.matching import REPEATS_ADVICE, repeats, require_heads
from closeread.tasks.coref.relations import select_layer
from closeread.tasks.coref.rules import describe_reversed, describe_stray_head, find_lacking_heads

GENRE = "genre"


def table_of_corpus(records: Documents) -> MentionTable:
    """Convert documents to columns, with the lengths, words and genres of records of a corpus that have these."""
    table = table_of(records)
    given: list[Record] = [] if isinstance(records, MentionTable) else [one for one in records if isinstance(one, dict)]
    if not given or len(given) < len(records):
        return table
    if all(record.get("n_tokens") is not None for record in given):
        table = replace(table, n_tokens=np.array([record["n_tokens"] for record in given], np.int64))
    if all("sentences" in record for record in given):
        words = [[token["form"] for sentence in one["sentences"] for token in sentence["tokens"]] for one in given]
        table = replace(table, words=ListedWords(words, [[0] * len(of_record) for of_record in words]))
    if any(record.get(GENRE) for record in given):
        table = replace(table, document_fields={GENRE: [record.get(GENRE) or "" for record in given]})
    return table


OF_CONLL = re.compile(r"(.+); part ([0-9]{1,9})")
OF_SYSTEM = re.compile(r"(.+)_([0-9]{1,9})")


def match_names(key: MentionTable, response: MentionTable) -> MentionTable:
    """Give documents of the response the names that they have in the key, if only the form of the part differs.

    A notice says so.
    """
    new = _find_other_forms(key.names, response.names)
    if not new:
        return response
    old, first = next(iter(new.items()))
    found = f"{pluralize(len(new), 'document')} matched by name and part: {quote(old)} is {quote(first)} in the key"
    return replace(
        response,
        names=[new.get(name, name) for name in response.names],
        relations=response.relations and response.relations.rename(new),
        notices=[*response.notices, f"{found}{', and so on' if len(new) > 1 else ''}."],
    )


def _find_other_forms(known: Sequence[str], given: Sequence[str]) -> Mapping[str, str]:
    """Map given names that are unknown to known ones that are not given, if there is exactly one for each."""
    of_key = set(known)
    left = of_key.difference(given)
    by_part: dict[tuple[bool, str, int], list[str]] = {}
    for name in left:
        for form in _list_forms(name):
            by_part.setdefault(form, []).append(name)
    unknown = [name for name in given if name not in of_key] if left else []
    candidates = {
        name: [one for kind, stem, part in _list_forms(name) for one in by_part.get((not kind, stem, part), ())]
        for name in unknown
    }
    wanted = Counter(one for ones in candidates.values() for one in ones)
    return {name: ones[0] for name, ones in candidates.items() if len(ones) == 1 and wanted[ones[0]] == 1}


def _list_forms(name: str) -> Iterator[tuple[bool, str, int]]:
    """Yield the ways to read a name as that of a part: whether a system's, the document, and the number of the part."""
    for is_system, form in ((False, OF_CONLL), (True, OF_SYSTEM)):
        if parts := form.fullmatch(name):
            yield is_system, parts[1], int(parts[2])


def find_unknown_documents(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """Find the documents of the response that the key lacks."""
    known = set(key.names)
    if known.issuperset(response.names):
        return
    by_stem = {name.partition("; part")[0]: name for name in key.names}
    for document, name in enumerate(response.names):
        if name not in known:
            system = OF_SYSTEM.fullmatch(name)
            like = by_stem.get(name.partition("; part")[0]) or (system and by_stem.get(system[1]))
            hint = f"; did you mean {quote(like)}? (the part belongs to the name)" if like else ""
            if not (hint or document) and "0" in (name, *key.names[:1]):
                has = f"; the key has {quote(key.names[0])}, …" if key.names else ""
                hint = f"{has} (documents without names are numbered from 0)"
            yield Problem(f"document {quote(name)} is not in the key{hint}", None, response.file_of(document))


SLASHED = re.compile(rb"^/(?=[.?]$)", re.MULTILINE)
"""The slash of the words ``/.`` and ``/?`` of OntoNotes, which the preprocessing of neural systems removes."""


def token_differences(
    key: MentionTable, response: MentionTable, words: str = "error", *, other: str = "the key"
) -> list[Problem]:
    """Find the documents of both sides whose tokens differ; one problem per document, with the line of the response.

    Words are compared if both sides have them, and `words` is "error".  `other` is what messages call the first side.
    """
    shared = _pair_documents(key, response)
    return [problem for k, r in shared for problem in _compare_tokens(key, k, response, r, words, other)]


def note_other_words(key: MentionTable, response: MentionTable) -> list[str]:
    """Describe the words that differ, in one sentence; none if there are none."""
    compared = ((response.names[r], compare_words(key, k, response, r)) for k, r in _pair_documents(key, response))
    found = [(name, *difference) for name, difference in compared if difference]
    if not found:
        return []
    names, numbers, problems = zip(*found, strict=True)
    where = f"{pluralize(len(names), 'document')} ({join_names(names)})"
    line = f"line {problems[0].line}: " if problems[0].line else ""
    first = f"first: {line}{problems[0].what}"
    differ = "differs" if sum(numbers) == 1 else "differ"
    return [f"{pluralize(sum(numbers), 'word')} of the response {differ} from the key's in {where}; {first}"]


def _pair_documents(key: MentionTable, response: MentionTable) -> list[tuple[int, int]]:
    """Pair the documents of the same name, in the response's order; none if nothing of them can be compared."""
    if (key.words is None or response.words is None) and (key.n_tokens is None or response.n_tokens is None):
        return []
    index = {name: i for i, name in enumerate(key.names)}
    return [(index[name], i) for i, name in enumerate(response.names) if name in index]


def _compare_tokens(
    key: MentionTable, k: int, response: MentionTable, r: int, words: str, name: str
) -> Iterator[Problem]:
    line, file = None, response.file_of(r)
    if words == "error" and (difference := compare_words(key, k, response, r, name)):
        _, problem = difference
        yield problem
        line = problem.line
    if key.n_tokens is not None and response.n_tokens is not None:
        own, other = _list_empty_nodes(key, k, response, r), _list_empty_nodes(response, r, key, k)
        expected, tokens = int(key.n_tokens[k]) - len(own), int(response.n_tokens[r]) - len(other)
        if expected != tokens:
            nodes = " (not counting empty nodes)" if own or other else ""
            found = f"document {quote(response.names[r])} has {pluralize(tokens, 'token')}{nodes}"
            yield Problem(f"{found}, but {expected:,} in {name}", line, file)


def compare_words(
    key: MentionTable, k: int, response: MentionTable, r: int, of: str = "the key"
) -> tuple[int, Problem] | None:
    """Return the number of words that differ, up to the end of the shorter document, and the first of them.

    Args:
        key, response: the tables.
        k, r: the document in each.
        of: what to call the first table in the message.
    """
    (own, i), (other, j) = find_words(key, k), find_words(response, r)
    if not own or not other or _have_equal_digests(own, i, other, j):
        return None
    expected, found = own.packed(i), other.packed(j)
    if isinstance(own, JsonWords) or isinstance(other, JsonWords):
        expected, found = SLASHED.sub(b"", expected), SLASHED.sub(b"", found)
    # Some files have "_" for every word.
    if expected == found or not expected.strip(b"_\n") or not found.strip(b"_\n"):
        return None
    sides = (expected, _list_empty_nodes(key, k, response, r)), (found, _list_empty_nodes(response, r, key, k))
    pairs = zip(*(_list_words(text, nodes) for text, nodes in sides), strict=False)
    differing = [(key_token, token) for (key_token, one), (token, two) in pairs if one != two]
    if not differing:
        return None
    key_token, token = differing[0]
    ours, theirs = quote(own(i)[key_token]), quote(other(j)[token])
    what = f"token {token} of document {quote(response.names[r])} is {theirs}, but {ours} in {of}"
    if row := own.line_of(i, key_token):
        what += f" (line {row}" + (f" of {key.file_of(k)})" if key.files else ")")
    return len(differing), Problem(what, other.line_of(j, token) or None, response.file_of(r))


def _list_words(text: bytes, left_out: Sequence[int]) -> list[tuple[int, bytes]]:
    """List the words of a document with their tokens, without some tokens."""
    tokens = set(left_out)
    return [(token, word) for token, word in enumerate(text.split(b"\n")[:-1]) if token not in tokens]


def _list_empty_nodes(table: MentionTable, document: int, other: MentionTable, its: int) -> list[int]:
    """List the empty nodes of a document; none if the other side's format has no such and counts them as words."""
    if table.empty is None:
        return []
    words, _ = find_words(other, its)
    if isinstance(words, ConllWords | JsonWords | None) and _count(table, document) == _count(other, its):
        return []
    low, high = np.searchsorted(table.empty.document, [document, document + 1])
    found: list[int] = table.empty.token[low:high].tolist()
    return found


def _count(table: MentionTable, document: int) -> int | None:
    return None if table.n_tokens is None else int(table.n_tokens[document])


def _have_equal_digests(key: Words, k: int, response: Words, r: int) -> bool:
    if type(key) is not type(response):
        return False
    # To ask for the protocol takes ten times as long, for every document.
    own, other = getattr(key, "digest", None), getattr(response, "digest", None)
    return own is not None and other is not None and bool(own(k) == other(r))


NO_CORPUS = Origin("coref", None, None, None)


@dataclass(frozen=True)
class Key:
    """The gold side.

    Attributes:
        records: the documents.
        origin: where they came from.
        notices: notes for the user about them.
    """

    records: MentionTable
    origin: Origin = NO_CORPUS
    notices: Sequence[str] = ()


@dataclass(frozen=True)
class CoreferenceSides:
    """A key and a response, matched by document name: two files, or a corpus and a file."""

    @property
    def key_first(self) -> bool:
        """Whether the gold is a file given by the user, the key."""
        return True

    def read_gold(self, place: GoldSpec, options: Options) -> Key:
        """Read the documents of a corpus or of a key."""
        if place.corpus is not None:
            from closeread.corpus.gold import read_corpus_gold

            gold = read_corpus_gold(place)
            table = _with_trees(table_of_corpus(gold.records), Path(place.corpus), options)
            key = Key(table, gold.origin, gold.notices)
        elif place.gold is None:
            raise RequestError("coref has no corpus of its own; give a key as the gold")
        else:
            table = read_key(place.gold, options["duplicates"], options["word_column"], options["layer"])
            key = Key(_with_trees(table, place.gold, options), notices=table.notices)
        return replace(key, records=add_fields(key.records, Path(options["fields"]))) if options["fields"] else key

    def wrap_gold(self, records: Sequence[Any], corpus: str | None) -> Key:
        """Use documents in memory, which are already validated."""
        return Key(table_of_corpus(records))

    def pack(self, definition: str, rows: Sequence[Any]) -> MentionTable | None:
        """Return the clusters of documents in memory as columns; None if something may be wrong with them."""
        return pack_clusters(rows) if definition == "clusters" else None

    def read_system(self, gold: Key, source: Path | Sequence[Any], options: Options) -> System:
        """Read a response and put its documents in the order of the key's."""
        names = ("missing", "duplicates", "words", "word_column", "layer")
        response = align(gold.records, source, **{name: options[name] for name in names})
        require_heads(gold.records, response, options["matching"])
        return System(response, [gold.records.names[i] for i in sorted(response.absent)], response.notices)

    def check_form(self, corpus: str | None, names: Sequence[str], source: Path, options: Options) -> None:
        """Check a response without a key, of which only the names of documents are known."""
        unknown = table_of([{"document": name, "clusters": []} for name in names])
        own = ("missing", "duplicates", "words", "word_column", "layer")
        response = align(unknown, source, **{name: options[name] for name in own})
        if options["matching"] == "head":
            require_heads(response, response, "head")

    def validate(self, gold: Sequence[Any], system: Sequence[Any], options: Options) -> Iterable[Inconsistency]:
        """Find problems that the schema can't express."""
        return validate(gold, system, options["duplicates"])

    def names(self, gold: Key) -> Sequence[str]:
        """The documents' names."""
        return gold.records.names

    def digests(self, gold: Key, options: Options) -> Mapping[str, bytes]:
        """The sha256 of each document's entities, without its name, by document name.

        Heads are left out if mentions are matched by span, so that CoNLL and CorefUD files with the same spans are the
        same gold.  Empty nodes and their dependencies are part of it unless zeros are matched by place.
        """
        key, by_place = gold.records, options["zeros"] == "linear"
        needs_heads = options["matching"] in ("head", "partial") or not by_place
        digests = document_digests(key if needs_heads else replace(key, head=None))
        if key.trees is not None:
            pairs = zip(digests, key.trees.digests, strict=True)
            digests = [hashlib.sha256(mentions + trees).digest() for mentions, trees in pairs]
        if key.empty is not None and not by_place:
            from closeread.tasks.coref.empty_nodes import digest_nodes

            digests = digest_nodes(key.empty, digests)
        if key.relations is not None or key.minimum:
            from closeread.tasks.coref.metrics.relations import digest_relations

            digests = digest_relations(key, digests, options)
        return dict(zip(key.names, digests, strict=True))

    def remarks(self, gold: Key, system: System, options: Options, table: CountTable | None = None) -> Iterable[str]:
        """Notes for the user about both sides."""
        key = gold.records
        if options["duplicates"] != "first" and key.empty is None and not isinstance(system.rows, MentionTable):
            return  # documents in memory have nothing else to tell, and would be made columns only for this
        response = table_of(system.rows)
        for name, side in (("key", key), ("response", response)) if options["duplicates"] == "first" else ():
            if n_repeats := len(repeats(side)):
                yield f"the {name} repeats {pluralize(n_repeats, 'mention')}; only the first of each counts"
        if key.empty is not None or response.empty is not None:
            from closeread.tasks.coref.empty_nodes import describe_difference

            yield from describe_difference(key, response, options["zeros"])
        for name, side in (("key", key), ("response", response)):
            if isinstance(side, MentionTable) and side.relations is not None:
                from closeread.tasks.coref.metrics.relations import describe_relations

                yield from describe_relations(side, name, options, table.names if table else ())


def validate(gold: Documents, system: Documents, duplicates: str) -> Iterator[Inconsistency]:
    """Find mentions that end before they start, stray and missing heads, and repeated mentions if they are an error.

    Yields:
        The side ("gold" or "system"), the document's number from 0, and the problem.
    """
    for name, documents in (("gold", gold), ("system", system)):
        nested = () if isinstance(documents, MentionTable) else list_clusters(documents)
        if lacking := [Inconsistency(name, document, what) for document, what in find_lacking_heads(nested, "")]:
            yield from lacking
            continue
        table = table_of(documents)
        is_reversed = table.start > table.end
        head = table.start if table.head is None else table.head
        is_stray = ~is_reversed & ((head < table.start) | (head > table.end))
        for row in np.flatnonzero(is_reversed | is_stray).tolist():
            mention = [int(column[row]) for column in (table.start, table.end, head)]
            what = describe_reversed(mention[:2]) if is_reversed[row] else describe_stray_head(mention)
            yield Inconsistency(name, int(table.document[row]), what)
        for first, again in repeats(table).tolist() if duplicates == "error" else ():
            one, other = table.label(first), table.label(again)
            where = f"entities {one} and {other}" if one != other else f"entity {one} twice"
            found = f"mention [{int(table.start[again])}, {int(table.end[again])}] is in {where} (numbered from 0)"
            yield Inconsistency(name, int(table.document[again]), f"{found}; {REPEATS_ADVICE}")


def _with_trees(key: MentionTable, source: Path | Sequence[Any], options: Options) -> MentionTable:
    """Return the key with its constituents if mentions are matched by them."""
    if options["matching"] != "minimum" or key.minimum or not len(key.start):
        return key
    from closeread.tasks.coref.metrics.minimum_spans import read_trees

    return replace(key, trees=read_trees(key, source if isinstance(source, Path) else Path("gold")))


def read_documents(path: Path, *, is_response: bool = False, word_column: str = "auto") -> MentionTable:
    """Read the documents of a file, or of all files of a folder.

    Args:
        path: the file or the folder.
        is_response: whether it is the output of a system, whose predictions may be next to gold annotation.
        word_column: the column of the words of CoNLL files, from 1; "auto" to guess it.
    """
    read = read_document_folder if path.is_dir() else read_document_file
    return read(path, Reading(is_response, word_column))


def write_documents(documents: MentionTable, path: Path) -> None:
    """Write documents in the format of the file's suffix: CoNLL, CorefUD, Universal Anaphora or JSON Lines."""
    write_text(path, dump_documents(documents, path))


def dump_documents(documents: MentionTable, path: Path) -> str:
    """Return documents as the text of a file, as `write_documents` does."""
    writers = {suffix: one.write for one in iterate_formats() for suffix in one.suffixes}
    write = writers.get(text_suffix(path))
    if write is None:
        raise RequestError(f"{path}: the suffix is '{path.suffix}' (expected one of {', '.join(writers)})")
    try:
        return write(documents)
    except ValueError as error:
        raise RequestError(f"cannot write {path}: {error}") from None


def take_documents(records: Sequence[Record], name: str, *, is_response: bool) -> MentionTable:
    """Check documents in memory, records as JSON Lines of coreference have them.

    Args:
        records: the documents; clusters alone are those of documents that are named by their numbers, from 0.
        name: what to call them in messages.
        is_response: whether they are the output of a system.
    """
    from closeread.corpus.schema import load_schema
    from closeread.corpus.validation import convert_rows, load_rules, validate_records

    if not isinstance(records, Mapping):
        if (packed := _pack(records)) is not None:
            return packed
        records = convert_rows(records)
    if problem := _describe_single(records, name):
        raise FormatError(name, [Problem(problem)])
    if records and all(isinstance(record, list) for record in records):
        records = [{"document": str(number), "clusters": clusters} for number, clusters in enumerate(records)]
    if (dialect := find_dialect(next(iter(records), None))) is not None:
        found = read_neural(ParsedRows(records, []), dialect, is_response=is_response)
        if isinstance(found, list):
            raise FormatError(name, found)
        return replace(found, notices=[f"{name}: {notice}" for notice in found.notices])
    if drop_other_fields(first := next(iter(records), None)) is not first:
        records = list(map(drop_other_fields, records))
    rules = load_rules("coref")
    parsed, schema = ParsedRows(records, []), load_schema("coref")
    check = rules.find_inconsistencies
    return table_of_records(validate_records(name, parsed, schema, "document", "document", find_inconsistencies=check))


def _pack(records: Sequence[Any]) -> MentionTable | None:
    """Return documents that have nothing but clusters, and maybe names, as columns; None if something may be wrong."""
    kinds = set(map(type, records))
    if kinds == {list}:
        packed = pack_clusters(records)
        return packed and replace(packed, unnamed=frozenset())
    if kinds != {dict} or any(record.keys() != {"document", "clusters"} for record in records):
        return None
    names = [record["document"] for record in records]
    is_named = set(map(type, names)) == {str} and len(set(names)) == len(names) and all(map(str.isprintable, names))
    packed = pack_clusters([record["clusters"] for record in records]) if is_named and all(names) else None
    return packed and replace(packed, names=names, unnamed=frozenset())


def _describe_single(records: object, name: str) -> str:
    """Say that these are a single document, which is not in a list; empty if they are a list of records."""
    if isinstance(records, Mapping):
        return f"is a single document (expected a list of documents; wrap it in a list: [{name}])"
    if isinstance(records, Sequence) and all(isinstance(record, Mapping) for record in records):
        return ""
    from closeread.corpus.schema import RowValidator, load_schema

    expected = 'expected a list of documents: [{"document": NAME, "clusters": [...]}, ...]'
    validator = RowValidator(load_schema("coref"), "clusters")
    return f"are the clusters of a single document ({expected})" if validator.accepts(records) else ""


def read_key(
    source: Path | Sequence[Record], duplicates: str = "error", word_column: str = "auto", layer: str = "identity"
) -> MentionTable:
    """Read the documents of a key: one of the layers of their annotation."""
    if isinstance(source, Path):
        table = read_documents(source, word_column=word_column)
    else:
        table = take_documents(source, "gold", is_response=False)
    table = select_layer(table, layer)
    problems = list(find_repeated(table)) if duplicates == "error" else []
    if problems:
        raise FormatError(source if isinstance(source, Path) else "gold", problems)
    return table


def align(
    key: MentionTable,
    source: Path | Sequence[Record],
    *,
    missing: str = "empty",
    duplicates: str = "error",
    words: str = "error",
    word_column: str = "auto",
    layer: str = "identity",
) -> MentionTable:
    """Read a response and put its documents in the order of the key's."""
    try:
        if isinstance(source, Path):
            response = read_documents(source, is_response=True, word_column=word_column)
        else:
            response = take_documents(source, "predictions", is_response=True)
    except InputError as error:
        raise SubmissionError(error.source, error.problems) from None
    response = match_names(key, select_layer(response, layer))
    given = set(response.names)
    problems = list(find_unknown_documents(key, response))
    absent = [name for name in key.names if name not in given]
    if absent and missing == "error":
        from closeread.corpus.submissions import advise_missing

        lacking = "has no response" if len(absent) == 1 else "have no response"
        found = f"{len(absent):,} of the {len(key.names):,} documents of the key {lacking}: {join_names(absent)}"
        problems.append(Problem(f"{found}. Add them{advise_missing()}"))
    problems += token_differences(key, response, words)
    problems += _find_beyond(key, response)
    if duplicates == "error":
        problems += find_repeated(response)
    if problems:
        name = source if isinstance(source, Path) else "predictions"
        raise SubmissionError(name, sorted(problems, key=lambda problem: problem.order))
    notices = (*response.notices, *note_other_words(key, response)) if words == "warn" else response.notices
    return replace(reorder(key, response), notices=notices)


def find_repeated(table: MentionTable, advice: str = REPEATS_ADVICE) -> Iterator[Problem]:
    """Find the mentions that repeat an earlier one; messages end with the advice."""
    for first, again in repeats(table).tolist():
        document, start, end = int(table.document[again]), int(table.start[again]), int(table.end[again])
        names = [quote(table.label(row)) for row in (first, again)]
        where = f"in entities {names[0]} and {names[1]}" if names[0] != names[1] else f"twice in entity {names[0]}"
        found = f"document {quote(table.names[document])}: the mention of tokens {start} to {end} is {where}"
        line = table.words.line_of(document, start) if table.words is not None else None
        yield Problem(f"{found}; {advice}", line or None, table.file_of(document))


def _find_beyond(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """Find mentions beyond the end of a document whose length is known from the other side only."""
    if key.n_tokens is not None and response.n_tokens is None:
        for row, length in _find_too_far(response, key):
            document, start, end = int(response.document[row]), response.start[row], response.end[row]
            found = f"document {quote(response.names[document])}: the mention [{start}, {end}] is outside the document"
            what = f"{found}, which has {length:,} tokens in the key (numbered from 0)"
            yield Problem(what, None, response.file_of(document))
    if response.n_tokens is not None and key.n_tokens is None:
        for row, length in _find_too_far(key, response):
            name, start, end = key.names[key.document[row]], key.start[row], key.end[row]
            yield Problem(f"document {quote(name)} has {length:,} tokens, but the key has a mention [{start}, {end}]")


def _find_too_far(table: MentionTable, other: MentionTable) -> Iterator[tuple[int, int]]:
    """Find the mentions that end beyond the length of the document in the other table, with that length."""
    tokens = [] if other.n_tokens is None else other.n_tokens.tolist()
    length = dict(zip(other.names, tokens, strict=True))
    lengths = np.array([length.get(name, np.iinfo(np.int64).max) for name in table.names], np.int64)
    for row in np.flatnonzero(table.end >= lengths[table.document]).tolist():
        yield row, length[table.names[table.document[row]]]
