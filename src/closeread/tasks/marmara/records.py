"""Records of the Marmara corpus: the paper's figures, sizes by genre, a view, and flat rows (mentions).

The paper's figures are those of Tables 1 and 2 and of section 3.4 (Schüller et al., 2018).

Conventions: mentions are those in chains, and chains have two or more mentions; a chain of one counts as none.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from closeread.arrays import ratio
from closeread.corpus.showing import Part, View, mark_spans
from closeread.records import ColumnRecords, Record
from closeread.tables import Grid
from closeread.tasks.marmara.documents import Span, document_order, list_forms, read_tokens
from closeread.tasks.marmara.mentions import PRONOUNS, TYPES, classify_head, find_proper_stems

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

KINDS = {"pronoun": "pronoun", "proper": "proper noun", "noun": "other token"}
"""The names of the types of single-token mentions."""

SEVERAL = "several tokens"
SHOWN = 40
"""How many words of a mention are shown."""


class Size(NamedTuple):
    """The size of a document or of several."""

    documents: int
    tokens: int
    mentions: int
    chains: int


def facts(records: Sequence[Record]) -> dict[str, float]:
    """Count the content of documents; the share of nested mentions is left out if there are no mentions."""
    lengths = [len(cluster) for record in records for cluster in list_chains(record)]
    whole = measure(records)
    nested, twice = count_nested(records)
    found: dict[str, float] = {
        "documents": whole.documents,
        "sentences": sum(len(record["sentences"]) for record in records),
        "tokens": whole.tokens,
        "mentions": whole.mentions,
        "chains": whole.chains,
        "tokens per document": float(ratio(whole.tokens, whole.documents)),
        "mentions per document, weighted by tokens": average_by_tokens(records, "mentions"),
        "chains per document, weighted by tokens": average_by_tokens(records, "chains"),
        **{f"mentions: {kind}": count for kind, count in count_mention_kinds(records).items()},
        **(
            {"% of nested mentions": 100 * float(ratio(nested, whole.mentions))}
            if whole.mentions
            else {}
        ),
        "mentions nested in a nested mention": twice,
        "chains of two mentions": lengths.count(2),
        "chains of ten or more mentions": sum(length >= LARGE for length in lengths),
    }
    for genre in GENRES:  # in the order of the paper
        if of_genre := [record for record in records if record.get("genre") == genre]:
            found |= {
                f"{genre}: {name}": count for name, count in measure(of_genre)._asdict().items()
            }
    return found


def list_chains(record: Record) -> list[list[list[int]]]:
    """Return the chains of a document, without chains of one mention."""
    return [cluster for cluster in record["clusters"] if len(cluster) > 1]


def list_mentions(record: Record) -> list[Span]:
    """Return the spans of the mentions in chains, in document order."""
    return sorted(
        ((start, end) for chain in list_chains(record) for start, end in chain), key=document_order
    )


def measure(records: Sequence[Record]) -> Size:
    """Return the size of documents together."""
    chains = [chain for record in records for chain in list_chains(record)]
    n_tokens = sum(record["n_tokens"] for record in records)
    return Size(len(records), n_tokens, sum(map(len, chains)), len(chains))


def average_by_tokens(records: Sequence[Record], what: str) -> float:
    """Return the mean of "mentions" or "chains" over documents, each weighted by its number of tokens."""
    weighted = sum(record["n_tokens"] * getattr(measure([record]), what) for record in records)
    return float(ratio(weighted, measure(records).tokens))


def count_mention_kinds(records: Iterable[Record]) -> dict[str, int]:
    """Count mentions of single tokens by type, and those of several tokens."""
    counts: Counter[str] = Counter()
    for record in records:
        tokens = read_tokens(record)
        stems = find_proper_stems(tokens)
        for start, end in list_mentions(record):
            single = start == end
            counts[
                KINDS[TYPES[classify_head(tokens[start], stems, PRONOUNS)]] if single else SEVERAL
            ] += 1
    return {kind: counts[kind] for kind in (*KINDS.values(), SEVERAL)}


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
    nested = twice = 0
    for record in records:
        # the last tokens of the mentions, and of the nested ones, that began before
        furthest = furthest_nested = -1
        for _, end in list_mentions(record):
            is_nested = end <= furthest
            nested += is_nested
            twice += end <= furthest_nested
            furthest = max(furthest, end)
            furthest_nested = max(furthest_nested, end) if is_nested else furthest_nested
    return nested, twice


def draw(records: Sequence[Record], system: Sequence[Record | None] | None) -> Iterator[Part]:
    """Draw the text of each document, a line for each sentence, with the numbers of chains after its mentions."""
    for number, record in enumerate(records):
        yield (
            f"{record['document']} ({record['genre']})"
            if record.get("genre")
            else record["document"]
        )
        words = list_forms(record)
        chains = _number_chains(record)
        spans = [(one["start"], one["end"]) for one in record["mentions"]]
        marked = iter(mark_spans(words, [(*span, str(chains.get(span, ""))) for span in spans]))
        yield "\n".join(
            " ".join(next(marked) for _ in sentence["tokens"]) for sentence in record["sentences"]
        )
        yield _draw_chains("" if system is None else "Gold", record["clusters"], words)
        if system is not None:
            yield _draw_chains(
                "Predictions", (system[number] or {"clusters": []})["clusters"], words
            )


def _draw_chains(
    title: str, clusters: Sequence[Sequence[Sequence[int]]], words: Sequence[str]
) -> Grid:
    def name(start: int, end: int) -> str:
        """Return a mention, of a long one the first and the last words: mentions may contain each other."""
        inside = words[start : end + 1]
        if len(inside) > SHOWN:
            inside = [*inside[: SHOWN // 2], "…", *inside[-SHOWN // 2 :]]
        return f"[{' '.join(inside)}] {start}-{end}"

    header = "mentions, with their first and last tokens"
    rows = [
        [str(number), ", ".join(name(*span) for span in chain)]
        for number, chain in enumerate(clusters)
    ]
    return Grid(title, ["chain", header], rows, prose=frozenset({header}))


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
        for one in record["mentions"]:
            start, end = one["start"], one["end"]
            text = " ".join(words[start : end + 1])
            about = (record["document"], record["genre"], one["id"], one["sentence"], start, end)
            yield (*about, text, chains.get((start, end)))


def _number_chains(record: Record) -> dict[Span, int]:
    """Return the number of the chain of each mention that is in one."""
    return {
        (start, end): number
        for number, spans in enumerate(record["clusters"])
        for start, end in spans
    }
