"""Invented Universal Anaphora files: their rows, and random pairs of key and response."""

import random
import re
from dataclasses import dataclass, field, replace

COLUMNS = "ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC IDENTITY BRIDGING DISCOURSE_DEIXIS REFERENCE NOM_SEM"
HEADER = f"# global.columns = {COLUMNS}\n"


@dataclass(frozen=True)
class Drawn:
    """A markable to write: its parts are first and last words, or a zero is (word before it, its number)."""

    name: str
    entity: str
    parts: tuple = ()
    zero: tuple | None = None
    minimum: str = ""
    element_of: tuple = ()

    @property
    def fields(self):
        values = {
            "EntityID": self.entity,
            "MarkableID": self.name,
            "Min": self.minimum,
            "SemType": "dn",
        }
        values["ElementOf"] = ",".join(self.element_of)
        return "|".join(f"{name}={value}" for name, value in values.items() if value)


@dataclass
class DrawnDocument:
    """A document to write."""

    name: str
    n_words: int
    zeros: tuple = ()
    identity: list = field(default_factory=list)
    deixis: list = field(default_factory=list)
    bridging: list = field(default_factory=list)


def row(number, identity="_", bridging="_", deixis="_", word="w"):
    """Return a row of a file."""
    return "  ".join([str(number), word, *"________", identity, bridging, deixis, "_", "_"])


def write(documents, *, named=False):
    """Return the text of a file; with `named`, closing brackets have the markable's id, so that they can cross."""
    return HEADER + "\n".join(_write_document(document, named) for document in documents)


def write_clusters(records, lengths):
    """Return the text of a file with these clusters and no words."""
    documents = []
    for record in records:
        markables = [
            Drawn(f"m{number}-{i}", str(number), ((start, end),))
            for number, cluster in enumerate(record["clusters"])
            for i, (start, end) in enumerate(cluster)
        ]
        name = record["document"]
        documents.append(DrawnDocument(name, lengths[name], identity=markables))
    return re.sub(r"(?<=  )w[0-9]+(?=  )", "_", write(documents, named=True))


def _write_document(document, named):
    tokens = []
    for word in range(document.n_words):
        tokens.append((word, 0))
        tokens += [zero for zero in document.zeros if zero[0] == word]
    identity = _write_cells(document.identity, named)
    deixis = _write_cells(document.deixis, named)
    of_name = {markable.name: markable for markable in document.identity}
    bridging = {}
    for anaphor, anchor in document.bridging:
        markable = of_name.get(anaphor)
        place = (0, 0) if markable is None else markable.zero or (markable.parts[0][0], 0)
        bridging[place] = (
            bridging.get(place, "") + f"(MarkableID={anaphor}|Rel=x|MentionAnchor={anchor})"
        )
    rows = [
        row(
            f"{word + 1}.{zero}" if zero else word + 1,
            *(cells.get((word, zero), "_") for cells in (identity, bridging, deixis)),
            "_" if zero else f"w{word}",
        )
        for word, zero in tokens
    ]
    middle = len(rows) // 2
    while middle < len(rows) and "." in rows[middle].split()[0]:
        middle += 1
    head = [
        f"# newdoc id = {document.name}",
        "# sent_id = 1",
        *rows[:middle],
        "",
        "# sent_id = 2",
        *rows[middle:],
    ]
    return "\n".join([*head, "", ""])


def _write_cells(markables, named):
    opening, closing = {}, {}
    brackets = [
        (first, -last, markable) for markable in markables for first, last in markable.parts
    ]
    for first, minus_last, markable in sorted(brackets, key=lambda bracket: bracket[:2]):
        single = first == -minus_last
        opening.setdefault((first, 0), []).append(f"({markable.fields}{')' if single else ''}")
        if not single:
            closing.setdefault((-minus_last, 0), []).append(f"{markable.name if named else ''})")
    for markable in markables:
        if markable.zero:
            opening.setdefault(markable.zero, []).append(f"({markable.fields})")
    places = {*opening, *closing}
    return {place: "".join([*closing.get(place, []), *opening.get(place, [])]) for place in places}


def random_pair(seed):
    """Return key and response as text; mentions cross in odd seeds only."""
    rng = random.Random(seed)
    keys, responses = [], []
    for number in range(rng.randint(1, 3)):
        key = _draw_document(
            rng, f"part {number}", crossing=seed % 2 == 1, with_zeros=seed % 3 == 0
        )
        keys.append(key)
        responses.append(_change_document(rng, key, crossing=seed % 2 == 1))
    return tuple(write(documents, named=seed % 2 == 1) for documents in (keys, responses))


def _draw_document(rng, name, *, crossing, with_zeros):
    n_words = rng.randint(12, 24)
    zeros = tuple(
        (word, i) for word in range(n_words) for i in range(1, rng.choice((0, 0, 0, 1, 2)) + 1)
    )
    document = DrawnDocument(name, n_words, zeros if with_zeros else ())
    spans = _draw_spans(rng, n_words, rng.randint(5, 12), crossing)
    entities = [str(i) for i in range(1, rng.randint(3, 6))]
    for i, parts in enumerate(spans):
        # Every entity has a mention of words.
        entity = entities[i] if i < len(entities) else rng.choice([*entities, f"{i}-Pseudo"])
        document.identity.append(Drawn(f"m{i}", entity, parts, minimum=_draw_minimum(rng, parts)))
    for i, zero in enumerate(document.zeros):
        if rng.random() < 0.6:
            document.identity.append(Drawn(f"z{i}", rng.choice(entities), zero=zero))
    document.identity = _draw_antecedents(rng, document.identity)
    names = [markable.name for markable in document.identity]
    document.bridging = [
        (name, rng.choice([*names, "m99"])) for name in names if rng.random() < 0.3
    ]
    for i, parts in enumerate(_draw_spans(rng, n_words, rng.randint(0, 4), crossing)):
        document.deixis.append(Drawn(f"dd{i}", f"{rng.randint(1, 3)}-DD", parts))
    document.deixis = _draw_antecedents(rng, document.deixis)
    return document


def _change_document(rng, key, *, crossing):
    document = replace(
        key, zeros=tuple(zero for zero in key.zeros if zero[1] == 1 or rng.random() < 0.5)
    )
    document.identity = _change_markables(rng, key.identity, document, crossing)
    document.deixis = _change_markables(rng, key.deixis, document, crossing)
    names = [markable.name for markable in document.identity]
    pairs = [
        pair if rng.random() < 0.6 else (pair[0], rng.choice([*names, "m99"]))
        for pair in key.bridging
    ]
    document.bridging = [pair for pair in pairs if rng.random() < 0.8]
    return document


def _draw_spans(rng, n_words, number, crossing):
    spans = []
    for _ in range(number):
        start = rng.randrange(n_words)
        runs = [(start, min(n_words - 1, start + rng.choice((0, 0, 1, 2, 4))))]
        while rng.random() < 0.15 and runs[-1][1] + 2 < n_words:
            start = runs[-1][1] + 2
            runs.append((start, min(n_words - 1, start + rng.choice((0, 1)))))
        if tuple(runs) not in spans and (crossing or not _cross(runs, spans)):
            spans.append(tuple(runs))
    return spans


def _cross(runs, spans):
    others = [run for span in spans for run in span]
    return any(a < c <= b < d or c < a <= d < b for a, b in runs for c, d in others)


def _draw_minimum(rng, parts):
    words = [word for first, last in parts for word in range(first + 1, last + 2)]
    kind = rng.random()
    if kind < 0.2:
        return ""
    if kind < 0.25:
        return "1"  # outside the markable, as in some released files
    first = rng.choice(words)
    last = rng.choice([word for word in words if word >= first])
    return str(first) if first == last and kind < 0.6 else f"{first},{last}"


def _draw_antecedents(rng, markables):
    """Make entities the antecedents of others; those with lower numbers, so that there are no circles."""
    entities = sorted(
        {markable.entity for markable in markables if "Pseudo" not in markable.entity}
    )
    wholes = [entity for entity in entities[1:] if rng.random() < 0.5]
    changed = []
    for markable in markables:
        later = [
            whole for whole in wholes if whole > markable.entity or "Pseudo" in markable.entity
        ]
        chosen = tuple(
            whole
            for whole in later
            if rng.random() < (0.1 if "Pseudo" in markable.entity else 0.35)
        )
        changed.append(replace(markable, element_of=chosen))
    return changed


def _change_markables(rng, markables, document, crossing):
    entities = sorted(
        {markable.entity for markable in markables if "Pseudo" not in markable.entity}
    )
    changed, spans = [], []
    for markable in markables:
        if markable.zero is not None and markable.zero not in document.zeros:
            continue
        parts, entity = markable.parts, markable.entity
        if parts and rng.random() < 0.3:
            first, last = parts[0]
            first = rng.randint(first, last)
            parts = ((first, rng.randint(first, last)), *parts[1:])
        if rng.random() < 0.25:
            entity = rng.choice([*entities, f"{len(changed)}9"])
        if rng.random() < 0.1 or (
            parts and (parts in spans or (not crossing and _cross(parts, spans)))
        ):
            continue
        spans += [parts] if parts else []
        changed.append(replace(markable, entity=entity, parts=parts, minimum="", element_of=()))
    return _draw_antecedents(rng, changed)
