"""Records of the Marmara corpus: the paper's figures, sizes by genre, a view, and flat rows (mentions).

The paper's figures are those of Tables 1 and 2 and of section 3.4 (Schüller et al., 2018).

Conventions: mentions are those in chains, and chains have two or more mentions; a chain of one counts as none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, mark_spans
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.marmara.documents import Span, document_order, list_forms, read_tokens
from closeread.tasks.marmara.mentions import PRONOUNS, classify_head, find_proper_stems

GENRES = (
    "News",
    "Short Story",
    "Novel",
    "Essay",
    "Research Monograph",
    "Article",
    "Travel",
    "Other",
)
"""The genres, as Table 1 lists them."""

LARGE = 10
"""The number of mentions from which the paper calls a chain large."""

KINDS = ("pronoun", "proper noun", "other token")
"""The names of the types of single-token mentions, in the order of `TYPES`."""

SEVERAL = "several tokens"
MAX_WORDS_SHOWN = 40
"""How many words of a mention are shown."""


class Size(NamedTuple):
    """The size of a document or of several."""

    documents: int
    tokens: int
    mentions: int
    chains: int


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Count the content of documents; the share of nested mentions is left out if there are no mentions."""
    lengths = list(map(len, _list_all_chains(records)))
    size = measure(records)
    n_nested, n_nested_twice = count_nested(records)
    n_sentences = sum(len(record["sentences"]) for record in records)
    figures: dict[str, float] = {
        "documents": size.documents,
        "sentences": n_sentences,
        "tokens": size.tokens,
        "mentions": size.mentions,
        "chains": size.chains,
    }
    figures["tokens per document"] = float(ratio(size.tokens, size.documents))
    for name in ("mentions", "chains"):
        figures[f"{name} per document, weighted by tokens"] = average_by_tokens(records, name)
    for kind, count in count_mention_kinds(records).items():
        figures[f"mentions: {kind}"] = count
    if size.mentions:
        figures["% of nested mentions"] = 100 * float(ratio(n_nested, size.mentions))
    figures["mentions nested in a nested mention"] = n_nested_twice
    figures["chains of two mentions"] = lengths.count(2)
    figures["chains of ten or more mentions"] = sum(length >= LARGE for length in lengths)
    for genre in GENRES:
        records_of_genre = [record for record in records if record.get("genre") == genre]
        if records_of_genre:
            for name, count in measure(records_of_genre)._asdict().items():
                figures[f"{genre}: {name}"] = count
    return figures


def list_chains(record: Record) -> list[list[list[int]]]:
    """Return the chains of a document, without chains of one mention."""
    return [cluster for cluster in record["clusters"] if len(cluster) > 1]


def list_mentions(record: Record) -> list[Span]:
    """Return the spans of the mentions in chains, in document order."""
    spans = [(start, end) for start, end in chain.from_iterable(list_chains(record))]
    return sorted(spans, key=document_order)


def measure(records: Sequence[Record]) -> Size:
    """Return the size of documents together."""
    chains = _list_all_chains(records)
    n_tokens = sum(record["n_tokens"] for record in records)
    return Size(len(records), n_tokens, sum(map(len, chains)), len(chains))


def _list_all_chains(records: Iterable[Record]) -> list[list[list[int]]]:
    return list(chain.from_iterable(map(list_chains, records)))


def average_by_tokens(records: Sequence[Record], name: str) -> float:
    """Return the mean of "mentions" or "chains" over documents, each weighted by its number of tokens."""
    weighted = sum(record["n_tokens"] * getattr(measure([record]), name) for record in records)
    return float(ratio(weighted, measure(records).tokens))


def count_mention_kinds(records: Iterable[Record]) -> dict[str, int]:
    """Count mentions of single tokens by type, and those of several tokens."""
    counts: Counter[str] = Counter()
    for record in records:
        tokens = read_tokens(record)
        stems = find_proper_stems(tokens)
        for start, end in list_mentions(record):
            if start < end:
                counts[SEVERAL] += 1
            else:
                counts[KINDS[classify_head(tokens[start], stems, PRONOUNS)]] += 1
    return {kind: counts[kind] for kind in (*KINDS, SEVERAL)}


def distributions(records: Sequence[Record]) -> dict[str, dict[str, int] | dict[int, int]]:
    """Count mentions by type and by length, and chains by length (Schüller et al., 2018, Figures 4 to 6)."""
    n_tokens: Counter[int] = Counter()
    n_mentions: Counter[int] = Counter()
    for record in records:
        n_tokens.update(end - start + 1 for start, end in list_mentions(record) if start < end)
        n_mentions.update(map(len, list_chains(record)))
    return {
        "mentions by type": count_mention_kinds(records),
        "mentions of several tokens by length": dict(sorted(n_tokens.items())),
        "chains by length": dict(sorted(n_mentions.items())),
    }


def count_nested(records: Iterable[Record]) -> tuple[int, int]:
    """Count the mentions inside another one, and those inside such a nested mention."""
    n_nested = 0
    n_nested_twice = 0
    for record in records:
        # The last tokens of the mentions, and of the nested ones, that began before.
        furthest = -1
        furthest_nested = -1
        for _, end in list_mentions(record):
            n_nested_twice += end <= furthest_nested
            if end <= furthest:
                n_nested += 1
                furthest_nested = max(furthest_nested, end)
            furthest = max(furthest, end)
    return n_nested, n_nested_twice


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the text of each document, a line for each sentence, with the numbers of chains after its mentions."""
    for number, record in enumerate(records):
        title = record["document"]
        if record.get("genre"):
            title += f" ({record['genre']})"
        yield title
        words = list_forms(record)
        chains = _number_chains(record)
        spans = []
        for mention in record["mentions"]:
            span = (mention["start"], mention["end"])
            spans.append((*span, str(chains.get(span, ""))))
        marked = iter(mark_spans(words, spans))
        lengths = [len(sentence["tokens"]) for sentence in record["sentences"]]
        yield "\n".join(" ".join(islice(marked, length)) for length in lengths)
        yield _draw_chains("" if system is None else "Gold", record["clusters"], words)
        if system is not None:
            prediction = system[number] or {"clusters": []}
            yield _draw_chains("Predictions", prediction["clusters"], words)


def _draw_chains(
    title: str, clusters: Sequence[Sequence[Sequence[int]]], words: Sequence[str]
) -> Grid:
    header = "mentions, with their first and last tokens"
    rows = []
    for number, spans in enumerate(clusters):
        names = [_name_mention(start, end, words) for start, end in spans]
        rows.append([str(number), ", ".join(names)])
    return Grid(title, ["chain", header], rows, prose=frozenset({header}))


def _name_mention(start: int, end: int, words: Sequence[str]) -> str:
    """Return a mention, of a long one the first and the last words: mentions may contain each other."""
    inside = words[start : end + 1]
    if len(inside) > MAX_WORDS_SHOWN:
        half = MAX_WORDS_SHOWN // 2
        inside = [*inside[:half], "…", *inside[-half:]]
    return f"[{' '.join(inside)}] {start}-{end}"


def predict(record: Record) -> Record:
    """Predict the first two chains, as an example."""
    return {"document": record["document"], "clusters": record["clusters"][:2]}


VIEWS = {"document": View(draw, predict=predict)}


FLAT = ("document", "genre", "id", "sentence", "start", "end", "text", "chain")


def flatten(records: Sequence[Record]) -> ColumnRecords:
    """Return a row for each mention, in the order of the documents and of their mentions."""
    return ColumnRecords.from_rows(FLAT, _list_rows(records))


def _list_rows(records: Sequence[Record]) -> Iterator[tuple[Any, ...]]:
    for record in records:
        words = list_forms(record)
        chains = _number_chains(record)
        document = (record["document"], record["genre"])
        for mention in record["mentions"]:
            span = (mention["start"], mention["end"])
            text = " ".join(words[span[0] : span[1] + 1])
            yield *document, mention["id"], mention["sentence"], *span, text, chains.get(span)


def _number_chains(record: Record) -> dict[Span, int]:
    """Return the number of the chain of each mention that is in one."""
    numbers: dict[Span, int] = {}
    for number, spans in enumerate(record["clusters"]):
        for start, end in spans:
            numbers[start, end] = number
    return numbers
