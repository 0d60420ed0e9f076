"""JSON Lines: ``{"document": NAME, "clusters": [[[start, end], ...], ...]}``, one document per line.

Conventions: tokens are numbered from 0 across the document's sentences, and a mention's end is its last token.  A
mention may also be ``[start, end, head]``, if all mentions of the file are.  A cluster has at least one mention.
`n_tokens`, the number of tokens of the document, is optional.  The other fields of a corpus's documents are ignored.
Files of neural systems, with `doc_key` or `cased_words` instead of `document`, are read, too.

Six dialects are known by the fields of the first document.  That of e2e-coref has `doc_key`, words in `sentences` or
`tokens`, and mentions ``[first, last]``; SpanBERT coref, coref-hoi, s2e-coref, LingMess, fastcoref's training data and
maverick use it, too.  With `subtoken_map`, mentions count subtokens, and the map has the token of each.  That of
wl-coref has `document_id`, `part_id`, `cased_words`, and mentions ``[first, one after the last]``.  That of Maverick's
predictions, which CRAC's language models use, too, has `doc_id`, `tokens`, `clusters_token_offsets` with mentions
``[first, last]``, and `clusters_text_mentions`; tokens that begin with ``##`` are empty nodes.  PreCo has `id`,
`sentences`, and `mention_clusters` with mentions ``[sentence, first, one after the last]``; coref-data has `id`,
`sentences` of `tokens` with `text`, and `coref_chains` with mentions ``[sentence, first, last]``.  AllenNLP's predictor
has words in `document`, `clusters` with mentions ``[first, last]``, and no names.

Conventions: gold entities are in `clusters`, predicted ones in `predicted_clusters` (wl-coref: `span_clusters`); other
fields are ignored.  Entities without mentions, which some systems write if there are none, are no entities.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate, chain, pairwise
from pathlib import Path
from typing import Any, NamedTuple

from closeread.corpus.schema import RowValidator, load_schema, load_validator
from closeread.corpus.validation import accept_rows, check_records
from closeread.exceptions import FormatError, Problem, pluralize, quote
from closeread.formats.json_lines import dump_json_lines, parse_json_lines
from closeread.formats.text import describe_unsafe, read_lines
from closeread.records import Parsed, Record, find_repeated, place_problem
from closeread.tasks.coref.documents import (
    UNKNOWN_SENTENCE,
    Document,
    Documents,
    EmptyNode,
    ListedWords,
    documents_of,
    list_entities,
)
from closeread.tasks.coref.formats.lines import check_continuous
from closeread.tasks.coref.formats.reading import DEFAULT_READING, CorefFormat, Reading
from closeread.tasks.coref.notices import count_notice
from closeread.tasks.coref.rules import Clusters, find_inconsistencies, find_misplaced_mentions

SURROGATES = re.compile("[\ud800-\udfff]")
"""What no string may contain: fields that are ignored, such as the raw text, may contain line ends."""

ENTITIES = ("clusters", "predicted_clusters", "span_clusters")
"""The fields with entities."""

EMPTY = "##"
"""How CRAC's empty nodes begin."""

EMPTY_ID = re.compile(r"[0-9]+\.0*[1-9][0-9]*")


class NeuralDocument(NamedTuple):
    """A document of a neural system, with what is wrong with it."""

    name: str
    clusters: Clusters  # with tokens counted from 0 and inclusive ends
    n_tokens: int | None
    words: Sequence[str]  # empty if the record has none
    problems: list[str]
    empty: Sequence[EmptyNode] = ()


@dataclass(frozen=True)
class Dialect:
    """How a family of systems writes documents."""

    definition: str  # of the schema that records follow
    of_key: Sequence[str]  # the fields with the entities, the preferred one first
    of_response: Sequence[str]
    # a record that follows the schema, given the field with the entities
    convert: Callable[[Record, str], NeuralDocument]
    # the field with the name, if there is any; documents that lack it are numbered from 1
    of_name: str | None


class JsonWords(ListedWords):
    """The words of a document of a neural system, whose preprocessing removes the slash of ``/.`` and ``/?``."""

    replaces_blanks = True
    drops_slashes = True
    counts_empty_nodes = False


def find_dialect(record: object) -> Dialect | None:
    """Return the dialect of the first document of a file; None for our own JSON Lines."""
    if not isinstance(record, Mapping):
        return None
    if "document" in record:
        return ALLENNLP if isinstance(record["document"], list) else None
    dialects = [dialect for field, dialect in DIALECTS.items() if field in record]
    return dialects[0] if dialects else None


def describe_blind(counts: Mapping[str, int]) -> str:
    """Say how many documents have no annotation."""
    return f"{pluralize(counts['documents'], 'document')} without annotation (null)."


def read_neural(
    parsed: Parsed, dialect: Dialect, *, is_response: bool
) -> Documents | list[Problem]:
    """Return documents, or their problems."""
    schema = load_schema("coref")
    validator = RowValidator(schema, dialect.definition)
    fields = schema["$defs"][dialect.definition]["properties"]
    selected = [_select_fields(record, fields) for record in parsed.records]
    in_memory = parsed.places is None
    records, rejected = accept_rows(validator, selected, unsafe=SURROGATES if in_memory else None)
    problems = [*parsed.problems, *(place_problem(parsed, problem) for problem in rejected)]
    present = set(chain.from_iterable(record for record in records if isinstance(record, dict)))
    field = _choose_field(dialect.of_response if is_response else dialect.of_key, present)
    documents: list[NeuralDocument] = []
    first_by_name: dict[str, int] = {}
    for number, record in enumerate(records):
        if isinstance(record, dict) and field not in record:
            lacking = _describe_lacking(record, field, dialect, is_in_others=field in present)
            problems.append(parsed.problem(number, lacking))
        elif not problems or validator.accepts(record):
            document = dialect.convert(record, field)
            # Words are only compared, so they may be line ends and other control characters.
            unsafe = describe_unsafe(document.name)
            if dialect.of_name not in record:
                document = document._replace(name=str(number + 1))
            documents.append(document)
            messages = document.problems
            if unsafe:
                messages.append(f"document name {unsafe}")
            first = first_by_name.setdefault(document.name, number)
            if first != number:
                where = parsed.place(first)
                messages.append(f"duplicate document {quote(document.name)} (first {where})")
            problems += [parsed.problem(number, message) for message in messages]
    if problems:
        return problems
    notices: list[str] = []
    ignored = [name for name in ENTITIES if name in present and name != field]
    if field in present and ignored:
        notices.append(f"entities are read from '{field}'; '{ignored[0]}' is ignored.")
    n_blind = sum(record.get(field) is None for record in records)
    if n_blind:
        notices.append(count_notice(describe_blind, {"documents": n_blind}))
    lines = [0] * len(documents) if in_memory else parsed.lines
    rows = zip(documents, lines, records, strict=True)
    return Documents(
        [
            _make_document(document, line, is_named=dialect.of_name in record)
            for document, line, record in rows
        ],
        notices,
    )


def _choose_field(preferred: Sequence[str], present: Collection[str]) -> str:
    """Return the first of the fields with entities that some document has; without any, the first of all."""
    fields = [name for name in preferred if name in present]
    return fields[0] if fields else preferred[0]


def _describe_lacking(record: Record, field: str, dialect: Dialect, *, is_in_others: bool) -> str:
    """Say that a document lacks the field with the entities."""
    if "clusters_text_mentions" in record:
        return "only the text of mentions is given, which may occur more than once"
    if is_in_others:
        return f"'{field}' is missing, but other documents have it"
    hint = ""
    predicted = [name for name in dialect.of_response if name in record]
    if predicted:
        hint = f"; '{predicted[0]}' are those of a response"
    return f"'{field}' is missing (expected the entities of the document{hint})"


def _make_document(document: NeuralDocument, line: int, *, is_named: bool) -> Document:
    return Document(
        name=document.name,
        entities=list_entities([cluster for cluster in document.clusters if cluster]),
        n_tokens=document.n_tokens,
        words=JsonWords(document.words, [line] * len(document.words)),
        nodes=document.empty,
        is_named=is_named,
    )


def _select_fields(record: Any, fields: Iterable[str]) -> Any:
    """Return a document with the fields that its dialect knows; of the tokens of coref-data, their texts."""
    if not isinstance(record, Mapping):
        return record
    selected = {name: record[name] for name in fields if name in record}
    if "empty_nodes" in fields and isinstance(record.get("sentences"), list):
        with suppress(TypeError, AttributeError):  # the schema reports it
            sentences = list(map(_list_tokens, record["sentences"]))
            ids = [str(token.get("id")) for token in chain.from_iterable(sentences)]
            selected["empty_nodes"] = [
                number for number, name in enumerate(ids) if EMPTY_ID.fullmatch(name)
            ]
            selected["sentences"] = list(map(_list_texts, sentences))
    return selected


def _list_tokens(sentence: Any) -> Any:
    """Return the tokens of a sentence of coref-data, which may be all that it is."""
    return (
        sentence["tokens"] if isinstance(sentence, Mapping) and "tokens" in sentence else sentence
    )


def _list_texts(sentence: Sequence[Mapping[str, Any]]) -> list[Any]:
    return [token.get("text") for token in sentence]


def _convert_e2e(record: Record, name: str) -> NeuralDocument:
    """Convert a document of e2e-coref."""
    clusters = record[name]
    sentences = record.get("sentences")
    tokens = record.get("tokens")
    token_of_subtoken = record.get("subtoken_map")
    flat = None if sentences is None else list(chain.from_iterable(sentences))
    if token_of_subtoken is not None:
        return _convert_subtokens(
            record["doc_key"], clusters, name, flat, tokens, token_of_subtoken
        )
    words = tokens if flat is None else flat
    document = _count_in_document(record["doc_key"], clusters, words, name)
    if flat is not None and tokens is not None and len(flat) != len(tokens):
        lengths = f"sentences have {len(flat):,} words, but tokens {len(tokens):,}"
        document.problems.append(f"{lengths} (expected the same words)")
    return document


def _count_in_document(
    document: str, clusters: Clusters, words: Sequence[str] | None, name: str
) -> NeuralDocument:
    """Return a document whose mentions count its words, if these are known."""
    n_tokens = None if words is None else len(words)
    problems = list(find_misplaced_mentions(clusters, n_tokens, name))
    return NeuralDocument(document, clusters, n_tokens, words or (), problems)


def _convert_subtokens(
    document: str,
    clusters: Clusters,
    name: str,
    subtokens: Sequence[str] | None,
    tokens: Sequence[str] | None,
    token_of_subtoken: Sequence[int],
) -> NeuralDocument:
    """Convert a document whose mentions count subtokens.

    Without `tokens`, the number of tokens is unknown, since the last ones may have no subtokens.
    """
    n_tokens = None if tokens is None else len(tokens)
    n_mapped = len(token_of_subtoken)
    problems = list(find_misplaced_mentions(clusters, n_mapped, name))
    if subtokens is not None and len(subtokens) != n_mapped:
        expected = f"expected {len(subtokens):,}, one for each subtoken"
        problems.append(f"the length of subtoken_map is {n_mapped:,} ({expected})")
    for number, (before, after) in enumerate(pairwise(token_of_subtoken), start=1):
        if after < before:
            descent = f"subtoken_map[{number}] is {after} after {before}"
            problems.append(f"{descent} (expected tokens in ascending order)")
            break
    highest = max(token_of_subtoken, default=-1)
    if n_tokens is not None and highest >= n_tokens:
        expected = f"expected less than {n_tokens}, the number of tokens"
        problems.append(f"subtoken_map has token {highest} ({expected})")
    if problems:
        return NeuralDocument(document, [], n_tokens, (), problems)

    def find_tokens(cluster: Sequence[Sequence[int]]) -> list[list[int]]:
        return [[token_of_subtoken[start], token_of_subtoken[end]] for start, end in cluster]

    return NeuralDocument(document, list(map(find_tokens, clusters)), n_tokens, tokens or (), [])


def _convert_word_level(record: Record, name: str) -> NeuralDocument:
    """Convert a document of wl-coref; with a part, its name is the one that CoNLL-2012 gives it."""
    words = record["cased_words"]
    part = record.get("part_id")
    problems = []
    clusters = []
    for cluster_number, cluster in enumerate(record[name]):
        clusters.append([[start, end - 1] for start, end in cluster])
        for number, (start, end) in enumerate(cluster):
            if not start < end <= len(words):
                form = (
                    f"[start, end] with start < end <= {len(words)}, since ends are exclusive here"
                )
                message = f"[{start}, {end}] is not a span of the document (expected {form})"
                problems.append(f"{name}[{cluster_number}][{number}]: {message}")
    document = record["document_id"]
    if part is not None:
        document += f"; part {part:03d}"
    return NeuralDocument(document, clusters, len(words), words, problems)


def _convert_maverick(record: Record, name: str) -> NeuralDocument:
    """Convert a document of Maverick or of CRAC's language models."""
    clusters = record[name] or []
    document = _count_in_document(record.get("doc_id", ""), clusters, record.get("tokens"), name)
    words, nodes = mark_empty_nodes(document.words)
    return document._replace(words=words, empty=nodes)


def _convert_allennlp(record: Record, name: str) -> NeuralDocument:
    """Convert a document of AllenNLP's predictor."""
    return _count_in_document("", record[name], record["document"], name)


def mark_empty_nodes(tokens: Sequence[str]) -> tuple[list[str], list[EmptyNode]]:
    """Return the words of CRAC's tokens, and those that are empty nodes, whose sentences are unknown."""
    words = []
    nodes = []
    for number, token in enumerate(tokens):
        if token.startswith(EMPTY):
            nodes.append(EmptyNode(number, UNKNOWN_SENTENCE, ()))
            token = token.removeprefix(EMPTY) or "_"
        words.append(token)
    return words, nodes


def _convert_placed(record: Record, name: str) -> NeuralDocument:
    """Convert a document whose mentions count tokens in sentences: one of PreCo or coref-data."""
    sentences = record["sentences"]
    starts = list(accumulate(map(len, sentences), initial=0))
    # PreCo's ends are exclusive.
    is_exclusive = name == "mention_clusters"
    form = "[sentence, first, one after the last]" if is_exclusive else "[sentence, first, last]"
    expected = f"expected {form} of the {len(sentences):,} sentences"
    problems = []
    clusters = []
    for cluster_number, cluster in enumerate(record[name]):
        mentions = []
        for number, (sentence, first, end) in enumerate(cluster):
            last = end - 1 if is_exclusive else end
            if sentence < len(sentences) and first <= last < len(sentences[sentence]):
                mentions.append([starts[sentence] + first, starts[sentence] + last])
            else:
                message = f"[{sentence}, {first}, {end}] is not a span of the document ({expected})"
                problems.append(f"{name}[{cluster_number}][{number}]: {message}")
        clusters.append(mentions)
    words = list(chain.from_iterable(sentences))
    nodes = [
        EmptyNode(token, bisect_right(starts, token) - 1, ())
        for token in record.get("empty_nodes", ())
    ]
    return NeuralDocument(record["id"], clusters, len(words), words, problems, nodes)


ALLENNLP = Dialect("allennlp_document", ("clusters",), ("clusters",), _convert_allennlp, None)

MAVERICK = Dialect(
    "maverick_document",
    ("clusters_token_offsets",),
    ("clusters_token_offsets",),
    _convert_maverick,
    "doc_id",
)

DIALECTS = {
    "doc_key": Dialect(
        "neural_document",
        ("clusters",),
        ("predicted_clusters", "clusters"),
        _convert_e2e,
        "doc_key",
    ),
    "cased_words": Dialect(
        "word_level_document",
        ("clusters", "span_clusters"),
        ("span_clusters", "clusters"),
        _convert_word_level,
        "document_id",
    ),
    "clusters_token_offsets": MAVERICK,
    "clusters_text_mentions": MAVERICK,
    "mention_clusters": Dialect(
        "preco_document", ("mention_clusters",), ("mention_clusters",), _convert_placed, "id"
    ),
    "coref_chains": Dialect(
        "coref_data_document", ("coref_chains",), ("coref_chains",), _convert_placed, "id"
    ),
}
"""By a field that all documents have."""


UNSCORED_FIELDS = ("genre", "sentences", "mentions")
"""What the documents of a corpus have besides clusters."""


def read_records(path: Path, reading: Reading = DEFAULT_READING) -> Documents:
    """Read the documents of a file.

    In a system's output, predicted entities are preferred if the file has gold ones, too.
    """
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    dialect = find_dialect(next(iter(parse_json_lines([first], SURROGATES).records), None))
    if dialect is None:
        parsed = parse_json_lines(lines)
        return _read_own(
            path, parsed._replace(records=list(map(drop_other_fields, parsed.records)))
        )
    parsed = parse_json_lines(lines, SURROGATES)
    return read_dialect(path, parsed, dialect, is_response=reading.is_response)


def read_dialect(
    path: Path, parsed: Parsed, dialect: Dialect, *, is_response: bool = False
) -> Documents:
    """Read the documents of a file in a dialect, as `read_neural` does, or raise a FormatError."""
    documents = read_neural(parsed, dialect, is_response=is_response)
    if isinstance(documents, list):
        raise FormatError(path, sorted(documents, key=lambda problem: problem.line or 0))
    return documents


def drop_other_fields(record: Any) -> Any:
    """Return a document of a corpus with the fields of coreference only, and anything else as it is."""
    if not isinstance(record, Mapping) or not all(name in record for name in UNSCORED_FIELDS):
        return record
    return {name: value for name, value in record.items() if name not in UNSCORED_FIELDS}


def _read_own(path: Path, parsed: Parsed) -> Documents:
    """Read documents of our own schema."""
    dropped: list[Problem] = []
    parsed, problems, numbers = check_records(parsed, load_validator("coref"), (), dropped=dropped)
    problems += find_repeated(parsed, "document", "document")
    records = [parsed.records[number] for number in numbers]
    for index, message in find_inconsistencies(records):
        problems.append(parsed.problem(numbers[index], message))
    problems.raise_any(path)
    notices = list(dict.fromkeys(problem.message for problem in dropped))
    return documents_of(parsed.records).noted(*notices)


def dump_coref_json(documents: Sequence[Document]) -> str:
    """Convert documents to JSON Lines, with the heads of mentions if all have them.

    Raises:
        ValueError: a mention is discontinuous, or the name of a document is empty or contains a control character,
            which the format can't express.
    """
    if not all(document.name for document in documents):
        raise ValueError("JSON Lines can't express a document with an empty name")
    check_continuous(documents, "JSON Lines")
    records: Documents = Documents(documents)
    if not records.has_lengths:
        return dump_json_lines(records)
    pairs = zip(records, documents, strict=True)
    return dump_json_lines({**record, "n_tokens": document.n_tokens} for record, document in pairs)


FORMAT = CorefFormat(read_records, dump_coref_json)
