"""Key and response of coreference, read and aligned: two files or folders, a corpus and a file, or objects in memory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from closeread.corpus.declaration import NO_TRAITS, DocumentTraits
from closeread.corpus.gold import GoldSource, read_corpus_gold
from closeread.corpus.submissions import advise_missing
from closeread.counts.procedure import GROUPS, Inconsistency, Options, System
from closeread.counts.table import CountTable
from closeread.exceptions import (
    InputError,
    Problem,
    RequestError,
    SubmissionError,
    advise,
    blame_submission,
    join_names,
    pluralize,
    quote,
)
from closeread.records import Origin, Record
from closeread.tasks.coref.columns import describe_parts, digest_columns, stack_clusters
from closeread.tasks.coref.document_fields import UNKNOWN, add_file_fields, list_fields
from closeread.tasks.coref.document_names import (
    drop_other_treebanks,
    find_unknown_documents,
    match_names,
)
from closeread.tasks.coref.documents import (
    UNKNOWN_SENTENCE,
    Document,
    Documents,
    Mention,
    PackedClusters,
    documents_of,
)
from closeread.tasks.coref.files import (
    read_documents,
    rename_documents,
    take_documents,
)
from closeread.tasks.coref.formats import STANDOFF_HELP, StandoffOptions
from closeread.tasks.coref.metrics.matching import (
    count_dropped,
    count_repeated,
    have_common_mentions,
    require_heads,
)
from closeread.tasks.coref.rules import find_lacking_heads, find_misplaced_mentions
from closeread.tasks.coref.spans import merge_adjacent
from closeread.tasks.coref.word_comparison import note_other_words, token_differences

DISCOURSE_DEIXIS = "discourse_deixis"
LAYERS_OF_UNIVERSAL_ANAPHORA = ("identity", DISCOURSE_DEIXIS)

# Reading


def read_side(
    source: Path | Sequence[Record], options: Options, *, is_response: bool = False, **reading: Any
) -> Documents:
    """Read the documents of a key or a response: one of the layers of their annotation."""
    try:
        if isinstance(source, Path):
            standoff = {name: options[name] for name in STANDOFF_HELP}
            # The layers of Universal Anaphora are none of annotation tools' files.
            if standoff["layer"] in LAYERS_OF_UNIVERSAL_ANAPHORA:
                standoff["layer"] = ""
            documents = read_documents(
                source,
                is_response=is_response,
                word_column=options["word_column"],
                is_reread=True,
                skip_invalid=options["skip_invalid"] == "true",
                advice="; leave out files with errors by {skip_invalid=true}",
                standoff=StandoffOptions(**standoff),
                **reading,
            )
        else:
            name = "predictions" if is_response else "gold"
            documents = take_documents(source, name, is_response=is_response)
    except InputError as error:
        if is_response:
            raise blame_submission(error) from None
        raise
    if options["layer"] != DISCOURSE_DEIXIS:
        return documents
    from closeread.tasks.coref.universal_anaphora.relations import select_deixis

    return select_deixis(documents)


def align(
    key: Documents,
    source: Path | Sequence[Record],
    options: Options,
    traits: DocumentTraits = NO_TRAITS,
) -> Documents:
    """Read a response and put its documents in the order of the key's."""
    response = read_side(
        source,
        options,
        is_response=True,
        tolerant=options["words"] == "align",
        list_words=key.list_words,
        repairs=traits.repairs,
    )
    if response.names != key.names:
        response = _match_documents(key, response, source, options, traits)
    if key.broken:
        response = response.with_broken(key.broken)
    problems: list[Problem] = []
    notices: list[str] = []
    # before alignment, so that tokens and lines are the response's
    if options["duplicates"] == "error" and count_repeated(response):
        problems += find_repeated(response, advise_repeats())
    if response.names != key.names:
        other_documents, notices = _find_other_documents(key, response, options)
        problems = other_documents + problems
        response = put_in_order(key, response)
    if options["words"] == "align":
        from closeread.tasks.coref.alignment import align_documents

        response, other_texts = align_documents(key, response)
        problems += other_texts
    elif not (key.is_plain or response.is_plain):
        response = response.replaced(map(_adopt_known_nodes, key.documents, response.documents))
    problems += token_differences(key, response, options["words"])
    if problems:
        name = source if isinstance(source, Path) else "predictions"
        raise SubmissionError(name, sorted(problems, key=lambda problem: problem.order))
    if options["words"] == "warn":
        notices = [*note_other_words(key, response), *notices]
    return response.noted(*notices) if notices else response


def _match_documents(
    key: Documents,
    response: Documents,
    source: Path | Sequence[Record],
    options: Options,
    traits: DocumentTraits,
) -> Documents:
    """Give the documents of a response, which has not the same as the key, the names that they have in the key."""
    if len(response) != len(key):
        _check_number(key, response, source, options["missing"])
    if not response.is_packed and response.count_unnamed() == len(response):
        from closeread.tasks.coref.formats.marked_text import name_in_order

        response = name_in_order(response, key.names)
    if traits.ending:
        new_names = {name: re.sub(traits.ending, "", name) for name in response.names}
        response = rename_documents(response, new_names)
    if options["average"] == GROUPS:
        response = drop_other_treebanks(key, response)
    return match_names(key, response)


def _check_number(
    key: Documents, response: Documents, source: Path | Sequence[Any], missing: str
) -> None:
    """Check that documents without names, which are matched by order, are as many as the key's."""
    noun = "list"
    if isinstance(source, Path) or any(isinstance(record, Mapping) for record in source):
        if not len(response) or response.count_unnamed() < len(response):
            return
        if missing != "error" and set(response.names) <= set(key.names):
            return
        is_line = any(document.words.has_line_per_document for document in response.documents)
        noun = "line" if is_line else "document"
    numbers = f"{pluralize(len(response), noun)} for {pluralize(len(key), 'document')} of the key"
    expected = f"expected a {noun} for each, in the key's order, since they have no names"
    name = source if isinstance(source, Path) else "predictions"
    raise SubmissionError(name, [Problem(f"has {numbers} ({expected})")])


def _adopt_known_nodes(key: Document, response: Document) -> Document:
    """Take the key's empty nodes for a document that has the same ones, but doesn't know their sentences."""
    is_incomplete = any(node.sentence == UNKNOWN_SENTENCE for node in response.nodes)
    tokens = [node.token for node in response.nodes]
    if is_incomplete and tokens == [node.token for node in key.nodes]:
        return replace(response, nodes=key.nodes)
    return response


def put_in_order(key: Documents, response: Documents) -> Documents:
    """Return the response with the documents of the key, in its order; those that it lacks have no mentions."""
    documents_by_name = {document.name: document for document in response.documents}
    n_tokens = 0 if response.has_lengths else None
    relations = None
    if response.has_relations:
        from closeread.tasks.coref.universal_anaphora.relations import DocumentRelations

        relations = DocumentRelations()

    def find_document(name: str) -> Document:
        document = documents_by_name.get(name)
        if document is not None:
            return document
        return Document(name, n_tokens=n_tokens, relations=relations, is_absent=True)

    return response.replaced(map(find_document, key.names))


# Problems


def _find_other_documents(
    key: Documents, response: Documents, options: Options
) -> tuple[list[Problem], list[str]]:
    """Find the documents that only one side has, and return those that are problems, and a notice on those left out."""
    problems = list(find_unknown_documents(key, response))
    notices = []
    if problems and options["extra"] == "skip":
        known = set(key.names)
        unknown = [name for name in response.names if name not in known]
        documents = pluralize(len(unknown), "document")
        notices = [f"{documents} of the response left out, not in the key: {join_names(unknown)}"]
        problems = []
    if options["missing"] == "error":
        problems += _find_absent_documents(key, response)
    return problems, notices


def _find_absent_documents(key: Documents, response: Documents) -> Iterator[Problem]:
    """Find the documents of the key that the response lacks; there is one problem for all of them."""
    present = {*response.names, *response.broken}
    absent = [name for name in key.names if name not in present]
    if absent:
        lacking = "has no response" if len(absent) == 1 else "have no response"
        number = f"{len(absent):,} of the {len(key.names):,} documents of the key"
        yield Problem(f"{number} {lacking}: {join_names(absent)}. Add them{advise_missing()}")


def advise_repeats() -> str:
    """Return the advice of commands with the option `duplicates` if a response repeats mentions."""
    return f"keep one of them{advise(', or use {duplicates=last,reference}')}"


def find_repeated(documents: Documents, advice: str) -> Iterator[Problem]:
    """Find the mentions that repeat an earlier one; messages end with the advice."""
    for document in documents.documents:
        for first, again, mention in _iterate_repeats(document):
            labels = document.label_of(first), document.label_of(again)
            where = f"in entities {quote(labels[0])} and {quote(labels[1])}"
            if labels[0] == labels[1]:
                where = f"twice in entity {quote(labels[0])}"
            tokens = f"tokens {mention.start} to {mention.end}"
            found = f"document {quote(document.name)}: the mention of {tokens} is {where}"
            yield Problem(f"{found}; {advice}", document.line_of(mention.start), document.file)


def _iterate_repeats(document: Document) -> Iterator[tuple[int, int, Mention]]:
    """Yield the number of a mention's first entity and of one that repeats it, and the mention, in the text's order."""
    numbers_by_spans: dict[tuple[tuple[int, int], ...], list[tuple[int, Mention]]] = {}
    for number, entity in enumerate(document.entities):
        for mention in entity.mentions:
            spans = tuple(merge_adjacent(mention.spans))
            numbers_by_spans.setdefault(spans, []).append((number, mention))
    for spans in sorted(numbers_by_spans):
        (first, _), *repeated = numbers_by_spans[spans]
        for again, mention in repeated:
            yield first, again, mention


# Remarks


def _describe_silence(key: Documents, response: Documents, options: Options) -> Iterator[str]:
    """Say that a side has no mentions, or that both have none in common, and the likely cause."""
    if have_common_mentions(key, response, options["matching"], options["zeros"]):
        return
    for name, side in (("key", key), ("response", response)):
        if side.has_mentions or len(side.list_absent()) == len(side):
            continue
        cause = "is there any annotation in it?"
        n_columns = _count_columns(side)
        if n_columns:
            cause = "the last column is '-' or '_' in every row"
            if n_columns < _count_columns(key):
                cause += f"; its rows have {n_columns} columns, and the key's {_count_columns(key)}"
        elif side.has_nodes:
            cause = "no MISC column has Entity=… or coref_chains=…"
        yield f"the {name} has no mentions at all ({cause})"
    if key.has_mentions and response.has_mentions:
        cause = "are tokens numbered alike, from 0, and is the last token included?"
        yield f"the key and the response have no mention in common ({cause})"


def _count_columns(side: Documents) -> int:
    """Return the number of columns of the widest rows; 0 if the format has no rows with mentions in the last column."""
    return max((document.words.n_columns for document in side.documents), default=0)


def _describe_repeats(sides: Mapping[str, Documents], duplicates: str) -> Iterator[str]:
    """Say how often each side repeats mentions, and how these count."""
    treatments = {
        "error": "counted as by the reference scorer",
        "reference": "counted as by the reference scorer",
        "first": "only the first of each counts, in the order of the text",
        "last": "each counts in all of its entities, and its own is the last in the text",
    }
    for name, side in sides.items():
        n_repeated = count_repeated(side)
        if n_repeated:
            repeated = f"the {name} repeats {pluralize(n_repeated, 'mention')}"
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


# The reader


NO_CORPUS = Origin("coref", None, None, None)


@dataclass(frozen=True)
class Key:
    """The gold side: the documents, where they came from, and notes for the user about them.

    Attributes:
        traits: what is known of the documents of the corpus, whose files a response may have.
    """

    records: Documents
    origin: Origin = NO_CORPUS
    notices: Sequence[str] = ()
    files: Sequence[Path] = ()
    traits: DocumentTraits = NO_TRAITS

    @property
    def units(self) -> Sequence[str]:
        """The documents' names."""
        return self.records.names

    def digests(self, options: Options) -> Mapping[str, bytes]:
        """Return the sha256 of each document's entities, without its name, by document name.

        Heads are left out if mentions are matched by span, so that CoNLL and CorefUD files with the same spans are the
        same gold.  Empty nodes and their dependencies are part of it unless zeros are matched by place.
        """
        key = self.records
        by_place = options["zeros"] == "linear"
        needs_heads = options["matching"] in ("head", "partial") or not by_place
        columns = key.columns if needs_heads else key.columns._replace(head=None)
        parts = {}
        if not key.is_plain:
            parts = dict(enumerate(map(describe_parts, key.documents)))
        digests = digest_columns(columns, len(key), parts)
        if not key.is_plain:
            digests = self._digest_annotation(digests, options, by_place=by_place)
        return dict(zip(key.names, digests, strict=True))

    def _digest_annotation(
        self, digests: list[bytes], options: Options, *, by_place: bool
    ) -> list[bytes]:
        """Return the digests of the documents with those of their trees, empty nodes and relations."""
        key = self.records
        if key.has_constituents:
            from closeread.tasks.coref.metrics.minimum_spans import digest_trees

            digests = list(map(digest_trees, key.documents, digests))
        if key.has_nodes and not by_place:
            from closeread.tasks.coref.empty_nodes import digest_nodes

            digests = list(map(digest_nodes, key.documents, digests))
        if key.has_relations or key.has_minimum_spans:
            from closeread.tasks.coref.universal_anaphora.relation_counts import digest_relations

            pairs = zip(key.documents, digests, strict=True)
            digests = [digest_relations(document, digest, options) for document, digest in pairs]
        return digests


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
            traits = source.corpus.configs[gold.config].traits if gold.config else None
            key = Key(
                documents_of(gold.records),
                gold.origin,
                gold.notices,
                gold.files,
                traits if isinstance(traits, DocumentTraits) else NO_TRAITS,
            )
            path = Path(source.corpus.name)
        elif source.gold is None:
            raise RequestError("coref has no corpus of its own; give a key as the gold")
        else:
            documents = read_side(source.gold, options)
            files = [source.gold] if isinstance(source.gold, Path) else []
            key = Key(documents, notices=documents.notices, files=files)
            path = source.gold if isinstance(source.gold, Path) else Path("gold")
        documents = key.records
        if (
            options["matching"] == "minimum"
            and documents.has_mentions
            and not documents.has_minimum_spans
        ):
            from closeread.tasks.coref.metrics.minimum_spans import read_trees

            documents = read_trees(documents, path)
        if isinstance(source.gold, Path):
            documents = add_file_fields(documents, source.gold)
        if options["fields"]:
            from closeread.tasks.coref.document_fields import add_fields

            documents = add_fields(documents, Path(options["fields"]))
        return replace(key, records=documents)

    def list_fields(self, gold: Key) -> Mapping[str, Sequence[str]]:
        """Return the fields of the documents."""
        return list_fields(gold.records)

    def wrap_gold(self, records: Sequence[Any], corpus: str | None) -> Key:
        """Use documents in memory, which are already validated."""
        return Key(documents_of(records))

    def pack(self, definition: str, rows: Sequence[Any]) -> Documents | None:
        """Return the clusters of documents in memory as columns; None if something may be wrong with them."""
        columns = stack_clusters(rows) if definition == "clusters" else None
        if columns is None:
            return None
        names = list(map(str, range(len(rows))))
        return Documents(PackedClusters(columns, names, is_named=False))

    def read_system(self, gold: Key, source: Path | Sequence[Any], options: Options) -> System:
        """Read a response and put its documents in the order of the key's."""
        key = gold.records
        response = align(key, source, options, gold.traits)
        notices = list(response.notices)
        if options["matching"] in ("head", "partial") and not response.has_heads:
            from closeread.tasks.coref.heads import add_heads

            response = add_heads(key, response)
            if response.has_heads:
                notices.append("heads of the response's mentions are found in the key's trees.")
        if options["matching"] != "exact":
            require_heads(key, response, options["matching"])
        absent = [name for name in response.list_absent() if name not in response.broken]
        return System(response, absent, notices, sorted(response.broken))

    def check_form(
        self, corpus: str | None, names: Sequence[str], source: Path, options: Options
    ) -> None:
        """Check a response without a key, of which only the names of documents are known, and no words."""
        key = documents_of([{"document": name, "clusters": []} for name in names])
        response = align(key, source, {**options, "words": "ignore"})
        if options["matching"] == "head":
            require_heads(response, response, "head")

    def validate(
        self, gold: Sequence[Any], system: Sequence[Any], options: Options
    ) -> Iterable[Inconsistency]:
        """Find mentions that end before they start, stray and missing heads, and repeats if they are an error."""
        for name, documents in (("gold", gold), ("system", system)):
            clusters_by_document = (
                [] if isinstance(documents, Documents) else list(map(_find_clusters, documents))
            )
            lacking = list(find_lacking_heads(clusters_by_document, ""))
            if lacking:
                yield from (Inconsistency(name, *problem) for problem in lacking)
                continue
            for number, clusters in enumerate(clusters_by_document):
                for what in find_misplaced_mentions(clusters, None, ""):
                    yield Inconsistency(name, number, what)
            # A key is somebody else's work, in which nobody can choose one of two entities.
            if options["duplicates"] == "error" and name == "system":
                response = documents_of(documents)
                if count_repeated(response):
                    yield from _find_repeated_clusters(response)

    def remarks(
        self, gold: Key, system: System, options: Options, table: CountTable | None = None
    ) -> Iterable[str]:
        """Return notes for the user about both sides."""
        key = gold.records
        response = documents_of(system.rows)
        sides = {"key": key, "response": response}
        yield from _describe_silence(key, response, options)
        yield from _describe_repeats(sides, options["duplicates"])
        fields = list_fields(key) if table is None else table.fields
        n_treebanks = len(set(fields.get("treebank", ())) - {UNKNOWN})
        if options["average"] != GROUPS and n_treebanks > 1:
            advice = advise(": {average=groups}")
            yield f"pooled over {n_treebanks:,} treebanks; CRAC reports their mean{advice}"
        if key.is_plain and response.is_plain:
            return
        if key.has_nodes or response.has_nodes:
            from closeread.tasks.coref.empty_nodes import describe_difference

            yield from describe_difference(key, response, options["zeros"])
        for name, side in sides.items():
            if side.has_relations:
                from closeread.tasks.coref.universal_anaphora.relation_counts import (
                    describe_relations,
                )

                counts = table.names if table else ()
                yield from describe_relations(side, name, options, counts)


def _find_clusters(document: Any) -> Any:
    """Return the clusters of a document in memory; none for one without a response."""
    return document["clusters"] if isinstance(document, dict) else document or []


def _find_repeated_clusters(documents: Documents) -> Iterator[Inconsistency]:
    for number, document in enumerate(documents.documents):
        for first, again, repeated in _iterate_repeats(document):
            where = f"entities {first} and {again}" if first != again else f"entity {first} twice"
            mention = f"mention [{repeated.start}, {repeated.end}]"
            what = f"{mention} is in {where} (numbered from 0); {advise_repeats()}"
            yield Inconsistency("system", number, what)
