"""Key and response of coreference, read and aligned: two files or folders, a corpus and a file, or objects in memory.

Conventions: documents are matched by name, including the part.  If both sides have words, these must be the same.

e2e-coref and its followers name part 0 of document NAME ``NAME_0``, which CoNLL-2012 calls ``NAME; part 000``.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from closeread.corpus.gold import GoldSource, read_corpus_gold
from closeread.corpus.submissions import advise_missing
from closeread.counts.procedure import Inconsistency, Options, System
from closeread.counts.table import CountTable
from closeread.exceptions import (
    FormatError,
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    advise,
    blame_submission,
    join_names,
    pluralize,
    quote,
    suggest_id,
)
from closeread.records import Origin, Record
from closeread.tasks.coref.alignment import align_documents
from closeread.tasks.coref.document_fields import add_fields
from closeread.tasks.coref.documents import (
    MentionTable,
    Words,
    document_digests,
    find_words,
    list_clusters,
    pack_clusters,
    reorder,
    table_of,
)
from closeread.tasks.coref.files import (
    name_in_file,
    read_documents,
    rename_documents,
    take_documents,
)
from closeread.tasks.coref.formats.conll import ConllWords
from closeread.tasks.coref.formats.coref_json import UNKNOWN, JsonWords
from closeread.tasks.coref.formats.marked_text import MarkedWords, name_in_order
from closeread.tasks.coref.heads import add_heads
from closeread.tasks.coref.metrics.matching import (
    count_dropped,
    find_repeated_mentions,
    have_common_mentions,
    require_heads,
)
from closeread.tasks.coref.relations import select_layer
from closeread.tasks.coref.rules import find_lacking_heads, find_misplaced_mentions

# Names

PART = re.compile(r"(.+)(; part |_)([0-9]{1,9})")
OF_SYSTEM = "_"  # before the number of a part, in names of systems


def match_names(key: MentionTable, response: MentionTable) -> MentionTable:
    """Give documents of the response the names that they have in the key, if only the form of the part differs.

    Parts are compared as numbers, and a name without a part is that of the only part in the key.  The file of a
    document is part of its name where several files of a side have documents of the same name.
    """
    known = set(key.names)
    left = known.difference(response.names)
    if not left:
        return response
    by_part, by_stem = _group_by_part(key.names)
    files = zip(key.files or (), key.names, strict=bool(key.files))
    by_file = {name_in_file(file, name): name for file, name in files}
    new: dict[str, str] = {}
    for document, name in enumerate(response.names):
        if name in known:
            continue
        file, form = response.file_of(document), PART.fullmatch(name)
        if file and name_in_file(file, name) in left:
            new[name] = name_in_file(file, name)
            continue
        if by_file.get(name) in left:
            new[name] = by_file[name]
            continue
        candidates = by_part.get((form[1], int(form[3])), []) if form else []
        candidates = candidates or by_stem.get(name, [])
        if len(candidates) == 1 and candidates[0] in left:
            new[name] = candidates[0]
    wanted = Counter(new.values())
    new = {old: name for old, name in new.items() if wanted[name] == 1}
    if not new:
        return response
    old, first = next(iter(new.items()))
    found = f"{pluralize(len(new), 'document')} matched by name and part: {quote(old)} is {quote(first)} in the key"
    notice = f"{found}{', and so on' if len(new) > 1 else ''}."
    return replace(rename_documents(response, new), notices=[*response.notices, notice])


def _group_by_part(
    names: Sequence[str],
) -> tuple[dict[tuple[str, int], list[str]], dict[str, list[str]]]:
    """Group names by what stands before the part with its number, and without it."""
    by_part: dict[tuple[str, int], list[str]] = {}
    by_stem: dict[str, list[str]] = {}
    for name in names:
        if form := PART.fullmatch(name):
            by_part.setdefault((form[1], int(form[3])), []).append(name)
            by_stem.setdefault(form[1], []).append(name)
    return by_part, by_stem


def _find_unknown_documents(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """Find the documents of the response that the key lacks.

    There is one problem for each file: the key may be a part of what the response has.
    """
    known = {*key.names, *key.broken}
    numbers_by_file: defaultdict[str | None, list[int]] = defaultdict(list)
    for number, name in enumerate(response.names):
        if name not in known:
            numbers_by_file[response.file_of(number)].append(number)
    advice = advise("; {extra=skip} leaves out what the key lacks")
    for file, numbers in numbers_by_file.items():
        names = [response.names[number] for number in numbers]
        hint = _suggest_document(key, response, numbers[0])
        if len(names) == 1:
            message = f"document {quote(names[0])} is not in the key{hint}"
        else:
            message = f"{len(names):,} documents are not in the key: {join_names(names)}"
            message += hint and f" (first: {hint.removeprefix('; ')})"
        yield Problem(message + advice, None, file)


def _suggest_document(key: MentionTable, response: MentionTable, number: int) -> str:
    """Return the document of the key that one of the response with this number may stand for, or nothing."""
    name = response.names[number]
    by_stem = {name.partition("; part")[0]: name for name in key.names}
    form = PART.fullmatch(name)
    stem = form[1] if form and form[2] == OF_SYSTEM else ""
    like = by_stem.get(name.partition("; part")[0]) or by_stem.get(stem)
    if like:
        return f"; did you mean {quote(like)}? (the part belongs to the name)"
    absent = [name for name in key.names if name not in response.names]
    unknown = sorted(set(response.names) - set(key.names))
    hint = suggest_id(name, absent, unknown)
    if not (hint or number) and "0" in (name, *key.names[:1]):
        has = f"; the key has {quote(key.names[0])}, …" if key.names else ""
        hint = f"{has} (documents without names are numbered from 0)"
    return hint


# Words

SLASHED = re.compile(rb"^/(?=[.?]$)", re.MULTILINE)
"""The slash of the words ``/.`` and ``/?`` of OntoNotes, which the preprocessing of neural systems removes."""


def token_differences(
    key: MentionTable, response: MentionTable, words: str = "error"
) -> list[Problem]:
    """Find the documents whose tokens differ on both sides, with the line of the response.

    Their numbers are compared if both sides have them; and words, if both have them and `words` is "error".
    """
    problems = []
    for k, r in _pair_documents(key, response):
        line = None
        if words in ("error", "align") and (difference := compare_words(key, k, response, r)):
            problems.append(difference[1])
            line = difference[1].line
        if key.n_tokens is not None and response.n_tokens is not None:
            nodes = (
                len(_find_uncounted(key, k, response, r)),
                len(_find_uncounted(response, r, key, k)),
            )
            expected, tokens = int(key.n_tokens[k]) - nodes[0], int(response.n_tokens[r]) - nodes[1]
            if expected != tokens:
                found = f"document {quote(response.names[r])} has {pluralize(tokens, 'token')}"
                what = f"{found}{' (not counting empty nodes)' * any(nodes)}, but {expected:,} in the key"
                problems.append(Problem(what, line, response.file_of(r)))
    return problems


def note_other_words(key: MentionTable, response: MentionTable) -> list[str]:
    """Describe the words that differ, in one sentence; none if there are none."""
    compared = (
        (response.names[r], compare_words(key, k, response, r))
        for k, r in _pair_documents(key, response)
    )
    found = [(name, *difference) for name, difference in compared if difference]
    if not found:
        return []
    names, numbers, problems = zip(*found, strict=True)
    where = f"{pluralize(len(names), 'document')} ({join_names(names)})"
    first = (
        f"line {problems[0].line}: {problems[0].message}"
        if problems[0].line
        else problems[0].message
    )
    differ = "differs" if sum(numbers) == 1 else "differ"
    return [
        f"{pluralize(sum(numbers), 'word')} of the response {differ} from the key's in {where}; first: {first}"
    ]


def _pair_documents(key: MentionTable, response: MentionTable) -> list[tuple[int, int]]:
    """Pair the documents of the same name, in the response's order; none if nothing of them can be compared."""
    if (key.words is None or response.words is None) and (
        key.n_tokens is None or response.n_tokens is None
    ):
        return []
    index = {name: i for i, name in enumerate(key.names)}
    return [(index[name], i) for i, name in enumerate(response.names) if name in index]


def compare_words(
    key: MentionTable, k: int, response: MentionTable, r: int, of: str = "the key"
) -> tuple[int, Problem] | None:
    """Compare the words of two documents, given by their numbers; `of` is what messages call the first table.

    Returns how many differ, up to the end of the shorter document, and the first of them; None if none do.
    """
    (key_words, i), (response_words, j) = find_words(key, k), find_words(response, r)
    if not key_words or not response_words or _have_equal_digests(key_words, i, response_words, j):
        return None
    expected, found = key_words.packed(i), response_words.packed(j)
    if any(isinstance(words, MarkedWords | JsonWords) for words in (key_words, response_words)):
        expected, found = expected.replace(b" ", b"_"), found.replace(b" ", b"_")
    if isinstance(key_words, JsonWords) or isinstance(response_words, JsonWords):
        expected, found = SLASHED.sub(b"", expected), SLASHED.sub(b"", found)
    # Some files have "_" for every word.
    if expected == found or not expected.strip(b"_\n") or not found.strip(b"_\n"):
        return None
    sides = []
    for text, left_out in (
        (expected, _find_uncounted(key, k, response, r)),
        (found, _find_uncounted(response, r, key, k)),
    ):
        sides.append(
            [
                (token, word)
                for token, word in enumerate(text.split(b"\n")[:-1])
                if token not in left_out
            ]
        )
    differing = [(a, b) for (a, one), (b, two) in zip(*sides, strict=False) if one != two]
    if not differing:
        return None
    key_token, token = differing[0]
    words = f"{quote(response_words(j)[token])}, but {quote(key_words(i)[key_token])} in {of}"
    what = f"token {token} of document {quote(response.names[r])} is {words}"
    if row := key_words.line_of(i, key_token):
        what += f" (line {row}" + (f" of {key.file_of(k)})" if key.files else ")")
    return len(differing), Problem(
        what, response_words.line_of(j, token) or None, response.file_of(r)
    )


def _find_uncounted(
    table: MentionTable, document: int, other: MentionTable, other_document: int
) -> set[int]:
    """Find the empty nodes of a document; none if the other side's format has no such and counts them as words."""
    if table.empty is None:
        return set()
    lengths = [
        None if of.n_tokens is None else of.n_tokens[n]
        for of, n in ((table, document), (other, other_document))
    ]
    has_nodes = other.empty is not None and bool(other.empty[other_document])
    words = find_words(other, other_document)[0]
    if (
        not has_nodes
        and isinstance(words, ConllWords | JsonWords | None)
        and lengths[0] == lengths[1]
    ):
        return set()
    return {node.token for node in table.empty[document]}


def _have_equal_digests(key: Words, k: int, response: Words, r: int) -> bool:
    # Checking the protocol takes ten times as long, for every document.
    of_key, of_response = (getattr(words, "digest", None) for words in (key, response))
    return (
        type(key) is type(response)
        and of_key is not None
        and of_response is not None
        and of_key(k) == of_response(r)
    )


# Alignment


def read_key(source: Path | Sequence[Record], options: Options) -> MentionTable:
    """Read the documents of a key: one of the layers of their annotation."""
    if isinstance(source, Path):
        table = _read_side(source, options)
    else:
        table = take_documents(source, "gold", is_response=False)
    return select_layer(table, options["layer"])


def _read_side(source: Path, options: Options, **reading: Any) -> MentionTable:
    """Read the documents of a key or a response; errors in a folder tell how to leave its broken files out."""
    skip_invalid = options["skip_invalid"] == "true"
    try:
        return read_documents(
            source, word_column=options["word_column"], skip_invalid=skip_invalid, **reading
        )
    except FormatError as error:
        if not source.is_dir() or skip_invalid or not any(one.line for one in error.problems):
            raise
        *problems, last = error.problems
        advice = advise("; leave out files with errors by {skip_invalid=true}")
        last = last._replace(message=last.message + advice)
        raise FormatError(error.source, [*problems, last]) from None


def align(key: MentionTable, source: Path | Sequence[Record], options: Options) -> MentionTable:
    """Read a response and put its documents in the order of the key's."""
    try:
        if isinstance(source, Path):
            tolerant = options["words"] == "align"
            response = _read_side(source, options, is_response=True, tolerant=tolerant)
        else:
            response = take_documents(source, "predictions", is_response=True)
            _check_length(key, source)
    except InputError as error:
        raise blame_submission(error) from None
    _check_number(key, response, source, options["missing"])
    response = match_names(key, name_in_order(select_layer(response, options["layer"]), key.names))
    response = replace(response, broken=response.broken | key.broken)
    given = {*response.names, *response.broken}
    problems = list(_find_unknown_documents(key, response))
    left_out = []
    if problems and options["extra"] == "skip":
        known = set(key.names)
        unknown = [name for name in response.names if name not in known]
        documents = pluralize(len(unknown), "document")
        left_out = [f"{documents} of the response left out, not in the key: {join_names(unknown)}"]
        problems = []
    absent = [name for name in key.names if name not in given]
    if absent and options["missing"] == "error":
        lacking = "has no response" if len(absent) == 1 else "have no response"
        found = f"{len(absent):,} of the {len(key.names):,} documents of the key {lacking}: {join_names(absent)}"
        problems.append(Problem(f"{found}. Add them{advise_missing()}"))
    # before alignment, so that tokens and lines are the response's
    if options["duplicates"] == "error":
        problems += find_repeated(response, advise_repeats())
    if options["words"] == "align":
        response, other_texts = align_documents(key, response)
        problems += other_texts
    else:
        response = _adopt_known_nodes(key, response)
    problems += token_differences(key, response, options["words"])
    problems += _find_mentions_past_end(key, response)
    if problems:
        name = source if isinstance(source, Path) else "predictions"
        raise SubmissionError(name, sorted(problems, key=lambda problem: problem.order))
    noted = note_other_words(key, response) if options["words"] == "warn" else ()
    return replace(reorder(key, response), notices=[*response.notices, *noted, *left_out])


def advise_repeats() -> str:
    """Return the advice of commands with the option `duplicates` if a response repeats mentions."""
    return f"keep one of them{advise(', or use {duplicates=last,reference}')}"


def _check_length(key: MentionTable, predictions: Sequence[Any]) -> None:
    """Check that clusters without names of documents, which are matched by order, are as many as the key's."""
    is_named = any(isinstance(prediction, Mapping) for prediction in predictions)
    if is_named or len(predictions) == len(key.names):
        return
    numbers = f"{pluralize(len(predictions), 'list')} of clusters for {pluralize(len(key.names), 'document')}"
    expected = "expected one for each document, since the lists have no names"
    raise FormatError("predictions", [Problem(f"{numbers} ({expected})")])


def _check_number(key: MentionTable, response: MentionTable, source: object, missing: str) -> None:
    """Check that documents without names, which are matched by order, are as many as the key's."""
    is_numbered = missing != "error" and set(response.names) <= set(key.names)
    if len(response.unnamed) < max(1, len(response)) or len(response) == len(key) or is_numbered:
        return
    noun = "line" if isinstance(response.words, MarkedWords) else "document"
    numbers = f"{pluralize(len(response), noun)} for {pluralize(len(key), 'document')} of the key"
    expected = f"expected a {noun} for each, in the key's order, since they have no names"
    name = source if isinstance(source, Path) else "predictions"
    raise SubmissionError(name, [Problem(f"has {numbers} ({expected})")])


def _adopt_known_nodes(key: MentionTable, response: MentionTable) -> MentionTable:
    """Take the key's empty nodes for documents that have the same ones, but don't know their sentences."""
    if key.empty is None or response.empty is None:
        return response
    empty, index = list(response.empty), {name: i for i, name in enumerate(key.names)}
    for i, name in enumerate(response.names):
        nodes = key.empty[index[name]] if name in index else ()
        tokens = [[node.token for node in of] for of in (nodes, empty[i])]
        if tokens[0] == tokens[1] and any(node.sentence == UNKNOWN for node in empty[i]):
            empty[i] = nodes
    return replace(response, empty=empty)


def find_repeated(table: MentionTable, advice: str) -> Iterator[Problem]:
    """Find the mentions that repeat an earlier one; messages end with the advice."""
    for first, again in find_repeated_mentions(table).tolist():
        document, start, end = (
            int(table.document[again]),
            int(table.start[again]),
            int(table.end[again]),
        )
        names = [quote(table.label(row)) for row in (first, again)]
        where = (
            f"in entities {names[0]} and {names[1]}"
            if names[0] != names[1]
            else f"twice in entity {names[0]}"
        )
        found = f"document {quote(table.names[document])}: the mention of tokens {start} to {end} is {where}"
        yield Problem(f"{found}; {advice}", table.line_of(document, start), table.file_of(document))


def _find_mentions_past_end(key: MentionTable, response: MentionTable) -> Iterator[Problem]:
    """Find mentions beyond the end of a document whose length is known from the other side only."""
    for table, other in ((response, key), (key, response)):
        if table.n_tokens is not None or other.n_tokens is None:
            continue
        length = dict(zip(other.names, other.n_tokens.tolist(), strict=True))
        mentions = zip(
            table.document.tolist(), table.start.tolist(), table.end.tolist(), strict=True
        )
        for document, start, end in mentions:
            name = table.names[document]
            if end < length.get(name, end + 1):
                continue
            if table is response:
                found = (
                    f"document {quote(name)}: the mention [{start}, {end}] is outside the document"
                )
                what = f"{found}, which has {length[name]:,} tokens in the key (numbered from 0)"
            else:
                what = f"document {quote(name)} has {length[name]:,} tokens"
                what += f", but the key has a mention [{start}, {end}]"
            yield Problem(what, None, response.file_of(document) if table is response else None)


def _describe_silence(key: MentionTable, response: MentionTable, options: Options) -> Iterator[str]:
    """Say that a side has no mentions, or that both have none in common, and the likely cause."""
    for name, side in (("key", key), ("response", response)):
        if len(side.start) or len(side.absent) == len(side.names):
            continue
        cause = "is there any annotation in it?"
        if isinstance(side.words, ConllWords):
            cause = "the last column is '-' or '_' in every row"
            if isinstance(key.words, ConllWords) and side.words.width < key.words.width:
                cause += (
                    f"; its rows have {side.words.width} columns, and the key's {key.words.width}"
                )
        elif side.empty is not None:
            cause = "no MISC column has Entity=… or coref_chains=…"
        yield f"the {name} has no mentions at all ({cause})"
    if not len(key.start) or not len(response.start):
        return
    if not have_common_mentions(key, response, options["matching"], options["zeros"]):
        cause = "are tokens numbered alike, from 0, and is the last token included?"
        yield f"the key and the response have no mention in common ({cause})"


def _describe_repeats(sides: Mapping[str, MentionTable], duplicates: str) -> Iterator[str]:
    """Say how often each side repeats mentions, and how these count."""
    treatments = {
        "error": "counted as by the reference scorer",
        "reference": "counted as by the reference scorer",
        "first": "only the first of each counts, in the order of the text",
        "last": "each counts in all of its entities, and its own is the last in the text",
    }
    for name, side in sides.items():
        if n_repeats := len(find_repeated_mentions(side)):
            repeated = f"the {name} repeats {pluralize(n_repeats, 'mention')}"
            yield f"{repeated}; {treatments[duplicates]}"
    if duplicates == "reference":
        n_dropped = count_dropped(sides["key"], sides["response"])
        if n_dropped > MAX_DROPPED:
            yield (
                f"the reference scorer would refuse the response: it drops {n_dropped:,} repeated "
                f"mentions, and allows {MAX_DROPPED}"
            )


MAX_DROPPED = 10
"""The most repeated mentions that the reference scorer drops from a response before it refuses it."""


NO_CORPUS = Origin("coref", None, None, None)


@dataclass(frozen=True)
class Key:
    """The gold side: the documents, where they came from, and notes for the user about them."""

    records: MentionTable
    origin: Origin = NO_CORPUS
    notices: Sequence[str] = ()
    files: Sequence[Path] = ()

    @property
    def units(self) -> Sequence[str]:
        """The documents' names."""
        return self.records.names

    def digests(self, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of each document's entities, without its name, by document name.

        Heads are left out if mentions are matched by span, so that CoNLL and CorefUD files with the same spans are the
        same gold.  Empty nodes and their dependencies are part of it unless zeros are matched by place.
        """
        key, by_place = self.records, options["zeros"] == "linear"
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


@dataclass(frozen=True)
class CoreferenceReader:
    """A key and a response, matched by document name."""

    @property
    def key_first(self) -> bool:
        """Whether the gold is a file given by the user, the key."""
        return True

    def read_gold(self, source: GoldSource, options: Options) -> Key:
        """Read the documents of a corpus or of a key, with their constituents if mentions are matched by them."""
        if source.corpus is not None:
            gold = read_corpus_gold(source)
            key = Key(table_of(gold.records), gold.origin, gold.notices, gold.files)
            path = Path(source.corpus.name)
        elif source.gold is None:
            raise RequestError("coref has no corpus of its own; give a key as the gold")
        else:
            table = read_key(source.gold, options)
            files = [source.gold] if isinstance(source.gold, Path) else []
            key = Key(table, notices=table.notices, files=files)
            path = source.gold if isinstance(source.gold, Path) else Path("gold")
        table = key.records
        if options["matching"] == "minimum" and not table.minimum and len(table.start):
            from closeread.tasks.coref.metrics.minimum_spans import read_trees

            table = replace(table, trees=read_trees(table, path))
        if options["fields"]:
            table = add_fields(table, Path(options["fields"]))
        return replace(key, records=table)

    def wrap_gold(self, records: Sequence[Any], corpus: str | None) -> Key:
        """Use documents in memory, which are already validated."""
        return Key(table_of(records))

    def pack(self, definition: str, rows: Sequence[Any]) -> MentionTable | None:
        """Return the clusters of documents in memory as columns; None if something may be wrong with them."""
        return pack_clusters(rows) if definition == "clusters" else None

    def read_system(self, gold: Key, source: Path | Sequence[Any], options: Options) -> System:
        """Read a response and put its documents in the order of the key's."""
        response = align(gold.records, source, options)
        notices = list(response.notices)
        if response.head is None and options["matching"] in ("head", "partial"):
            response = add_heads(gold.records, response)
            if response.head is not None:
                notices.append("heads of the response's mentions are found in the key's trees.")
        require_heads(gold.records, response, options["matching"])
        absent = [gold.records.names[i] for i in sorted(response.absent)]
        return System(
            response,
            [name for name in absent if name not in response.broken],
            notices,
            sorted(response.broken),
        )

    def check_form(
        self, corpus: str | None, names: Sequence[str], source: Path, options: Options
    ) -> None:
        """Check a response without a key, of which only the names of documents are known, and no words."""
        key = table_of([{"document": name, "clusters": []} for name in names])
        response = align(key, source, {**options, "words": "ignore"})
        if options["matching"] == "head":
            require_heads(response, response, "head")

    def validate(
        self, gold: Sequence[Any], system: Sequence[Any], options: Options
    ) -> Iterable[Inconsistency]:
        """Find mentions that end before they start, stray and missing heads, and repeats if they are an error."""
        for name, documents in (("gold", gold), ("system", system)):
            nested = () if isinstance(documents, MentionTable) else list_clusters(documents)
            if lacking := list(find_lacking_heads(nested, "")):
                yield from (Inconsistency(name, *one) for one in lacking)
                continue
            for document, clusters in enumerate(nested):
                for what in find_misplaced_mentions(clusters, None, ""):
                    yield Inconsistency(name, document, what)
            # A key is somebody else's work, in which nobody can choose one of two entities.
            if options["duplicates"] == "error" and name == "system":
                table = table_of(documents)
                for first, again in find_repeated_mentions(table).tolist():
                    one, other = table.label(first), table.label(again)
                    where = f"entities {one} and {other}" if one != other else f"entity {one} twice"
                    mention = f"mention [{int(table.start[again])}, {int(table.end[again])}]"
                    what = f"{mention} is in {where} (numbered from 0); {advise_repeats()}"
                    yield Inconsistency(name, int(table.document[again]), what)

    def remarks(
        self, gold: Key, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Return notes for the user about both sides."""
        key = gold.records
        response = table_of(system.rows)
        sides = {"key": key, "response": response}
        yield from _describe_silence(key, response, options)
        yield from _describe_repeats(sides, options["duplicates"])
        # Files of CRAC are named after their treebanks, such as en_gum-corefud-dev.conllu.
        named = [Path(name).name.partition("-corefud") for name in key.files]
        treebanks = {treebank for treebank, mark, _ in named if mark}
        if options["zeros"] == "corefud" and len(treebanks) > 1:
            pooled = f"pooled over {len(treebanks):,} treebanks"
            yield f"{pooled}; CRAC reports the mean of their scores: score each treebank alone"
        if any(side.empty is not None for side in sides.values()):
            from closeread.tasks.coref.empty_nodes import describe_difference

            yield from describe_difference(key, sides["response"], options["zeros"])
        for name, side in sides.items():
            if side.relations is not None:
                from closeread.tasks.coref.metrics.relations import describe_relations

                yield from describe_relations(side, name, options, table.names if table else ())
