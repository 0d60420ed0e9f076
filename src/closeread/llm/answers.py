"""Answers of language models, read tolerantly: rows of a submission, or the reason why there are none.

An answer is the first JSON value of the expected form; code blocks, if there are any, are looked at instead of the rest
of the text.  Nothing is guessed: a text that is cut short, or has two different answers, is no answer.  An item of a
list that can't be read, such as a link to a noun phrase that is not there, or a mention of an entity, is left out and
counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from closeread.corpus.schema import RowValidator, load_schema, resolve
from closeread.corpus.validation import accept_rows
from closeread.exceptions import pluralize
from closeread.formats.json_lines import parse_json
from closeread.formats.text import UNSAFE
from closeread.records import Record

About = Mapping[str, Any]
"""What an answer is about: ids of the question, which the model does not write; no gold."""

Item = TypeVar("Item")

FENCED = re.compile(r"```[^\n`]*\n(.*?)(?:```|\Z)", re.S)
THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.S)
TRAILING_COMMA = re.compile(r'("(?:[^"\\]|\\.)*")|,(?=\s*[\]}])', re.S)
LABEL = re.compile(r"\W*(?:answer\W+)?(yes|no)(?:[.,;:!\s*`\"')]*\Z|[*`\"')]*[.,;:!\n])", re.I)
LAST_LABEL = re.compile(r"answer\W+(?:is\W+)?(yes|no)\W*\Z", re.I)
NUMBER = re.compile(r"\[?(?:np)?(\d{1,9})\]?", re.A)


@dataclass(frozen=True)
class Answer:
    """What was read of an answer.

    Attributes:
        rows: rows of the submission; none if there is a reason, unless other windows of the text were answered.
        reason: why there are no rows, in a few words; None if the answer was read.
        dropped: how many items of the answer could not be read.
    """

    rows: list[Record] = field(default_factory=list)
    reason: str | None = None
    dropped: int = 0


class UnreadableError(Exception):
    """An answer can't be read, in a few words."""


@dataclass(frozen=True)
class Form:
    """How the answers to a task's questions are written.

    Attributes:
        corpus: the corpus whose submissions have the rows.
        key: the field of the object that is the answer; a list may also stand by itself.
        schema: from the definitions of the corpus's schema to that of the field.
        read: from the list and what it is about, to rows and the number of items that were left out.
        write: from rows and what they are about, to the list.
    """

    corpus: str
    key: str
    schema: Callable[[Mapping[str, Any]], dict[str, Any]]
    read: Callable[[list[Any], About], tuple[list[Record], int]]
    write: Callable[[Sequence[Record], About], list[Any]]


def read_answer(procedure: str, text: str, about: About) -> Answer:
    """Read the answer to a question of a procedure; whatever is wrong with it, this raises nothing.

    >>> read_answer("mctaco", 'Sure: {"labels": ["yes", "No",]}', {"ids": ["q-0", "q-1"]}).rows
    [{'id': 'q-0', 'label': 'yes'}, {'id': 'q-1', 'label': 'no'}]
    >>> read_answer("mctaco", "I can't help with that.", {"ids": ["q-0", "q-1"]}).reason
    'no JSON'
    """
    form = FORMS[procedure]
    text = THOUGHTS.sub("", text).strip()
    if not text:
        return Answer(reason="nothing")
    try:
        if about.get("ask") == "candidate":
            rows, dropped = form.read([_read_word(text)], about)
        else:
            found = _find_list(text, form.key)
            rows, dropped = form.read(found, about)
            if dropped and not any(row.get(form.key) for row in rows):
                return Answer(reason="no item of the list can be read")
    except UnreadableError as error:
        return Answer(reason=str(error))
    return Answer(rows, dropped=dropped)


def write_answer(
    procedure: str, rows: Sequence[Record], about: About, *, structured: bool = False
) -> str:
    """Write rows as a model should answer."""
    form = FORMS[procedure]
    found = form.write(rows, about)
    if about.get("ask") == "candidate":
        label = found[0] if found else ""
        return json.dumps({"label": label}) if structured else label.capitalize()
    return json.dumps({form.key: found}, ensure_ascii=False)


def answer_schema(procedure: str, ask: str = "question") -> dict[str, Any]:
    """Return the JSON Schema of an answer: that of the submission without ids, and without what models don't know."""
    form = FORMS[procedure]
    schema = load_schema(form.corpus)

    def simplify(node: Any) -> Any:
        node = resolve(schema, node)
        kept = {
            name: value
            for name, value in node.items()
            if name in ("type", "enum", "description", "required")
        }
        if "properties" in node:
            kept["properties"] = {
                name: simplify(value) for name, value in node["properties"].items()
            }
            kept |= {"required": list(kept["properties"]), "additionalProperties": False}
        if "items" in node:
            kept["items"] = simplify(node["items"])
        return kept

    value, name = simplify(form.schema(schema["$defs"])), form.key
    if ask == "candidate":
        name, value = "label", value["items"]
    return {
        "type": "object",
        "properties": {name: value},
        "required": [name],
        "additionalProperties": False,
    }


def merge_answers(procedure: str, answers: Sequence[Answer]) -> Answer:
    """Merge the answers to the windows of a text: chains that share a mention are one; a pair is linked once."""
    if len(answers) == 1:
        return answers[0]
    reason = next((one.reason for one in answers if one.reason), None)
    rows = [row for one in answers for row in one.rows]
    dropped = sum(one.dropped for one in answers)
    if not rows:
        return Answer([], reason, dropped)
    merged = dict(rows[0])
    if procedure == "coref":
        merged["clusters"] = _join_chains(chain for row in rows for chain in row["clusters"])
    elif procedure == "tne":
        links = {
            (one["anchor"], one["complement"]): one
            for row in reversed(rows)
            for one in reversed(row["relations"])
        }
        merged["relations"] = list(reversed(links.values()))
    return Answer([merged], reason, dropped)


def _join_chains(chains: Iterable[list[list[int]]]) -> list[list[list[int]]]:
    joined: list[set[tuple[int, ...]]] = []
    for chain in chains:
        mentions = set(map(tuple, chain))
        joined, touching = (
            [one for one in joined if not one & mentions],
            [one for one in joined if one & mentions],
        )
        joined.append(mentions.union(*touching))
    return sorted([list(mention) for mention in sorted(one)] for one in joined)


# JSON inside of a text


def _find_list(text: str, key: str) -> list[Any]:
    """Return the list that is the answer."""
    fenced = FENCED.findall(text)
    values = [value for part in fenced or [text] for value in _find_values(part)]
    if not values:
        raise UnreadableError("no JSON")
    found = [one.get(key) if isinstance(one, dict) else one for one in values]
    lists = [value for value in found if isinstance(value, list)]
    if not lists:
        raise UnreadableError(f"no list of {key}")
    named = [one[key] for one in values if isinstance(one, dict) and isinstance(one.get(key), list)]
    chosen = named or lists
    if any(one != chosen[0] for one in chosen):
        raise UnreadableError("several different answers")
    return list(chosen[0])


def _find_values(text: str) -> Iterator[Any]:
    """Yield the objects and lists of JSON in a text; what only looks like one, such as [1], is passed over."""
    start = 0
    while opening := re.compile(r"[\[{]").search(text, start):
        start = _find_end(text, opening.start())
        part = text[opening.start() : start]
        for tried in (part, TRAILING_COMMA.sub(lambda match: match[1] or "", part)):
            try:
                yield parse_json(tried, UNSAFE)
                break
            except ValueError:
                continue


def _find_end(text: str, start: int) -> int:
    """Return where the bracket at the start is closed."""
    depth = 0
    for token in re.compile(r'"(?:[^"\\]|\\.)*"|[\[{\]}]', re.S).finditer(text, start):
        if token[0] in "[{":
            depth += 1
        elif token[0] in "]}":
            depth -= 1
            if not depth:
                return token.end()
    raise UnreadableError("JSON that is cut short")


def _read_word(text: str) -> str:
    """Return the only word of an answer, or that of its JSON."""
    try:
        found = [
            one["label"] for one in _find_values(text) if isinstance(one, dict) and "label" in one
        ]
    except UnreadableError:
        found = []
    if not found:
        matches = (LABEL.match(text), LAST_LABEL.search(text))
        found = [match[1] for match in matches if match]
    if len({str(one).lower() for one in found}) > 1:
        raise UnreadableError("several different answers")
    if not found:
        raise UnreadableError("neither yes nor no")
    return str(found[0])


# Tasks


def _read_labels(values: list[Any], about: About) -> tuple[list[Record], int]:
    ids = about["ids"]
    if len(values) != len(ids):
        raise UnreadableError(
            f"{pluralize(len(values), 'label')} for {pluralize(len(ids), 'answer')}"
        )
    words = {True: "yes", False: "no"}
    labels = [words[one] if isinstance(one, bool) else str(one).strip().lower() for one in values]
    if any(label not in ("yes", "no") for label in labels):
        raise UnreadableError("a label is neither yes nor no")
    return [{"id": one, "label": label} for one, label in zip(ids, labels, strict=True)], 0


def _read_number(value: Any) -> int | None:
    """Return a whole number, which may be text, such as "3" or "[3]"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    match = NUMBER.fullmatch(str(value).strip())
    return int(match[1]) if match else None


def _read_links(values: list[Any], about: About) -> tuple[list[Record], int]:
    known = set(about["nps"])
    prepositions = set(load_schema("tne")["$defs"]["preposition"]["enum"])
    links: dict[tuple[str, str], Record] = {}
    for one in values:
        if not isinstance(one, dict):
            continue
        ends = [_read_number(one.get(name)) for name in ("anchor", "complement")]
        anchor, complement = (f"np{number}" for number in ends)
        preposition = str(one.get("preposition")).strip().lower()
        if {anchor, complement} <= known and anchor != complement and preposition in prepositions:
            link = {"anchor": anchor, "complement": complement, "preposition": preposition}
            links.setdefault((anchor, complement), link)
    return [{"id": about["id"], "relations": list(links.values())}], len(values) - len(links)


def _write_links(rows: Sequence[Record], about: About) -> list[Any]:
    known = set(about["nps"])
    return [
        {
            "anchor": int(link["anchor"][2:]),
            "preposition": link["preposition"],
            "complement": int(link["complement"][2:]),
        }
        for row in rows
        # of a system, or of gold
        for link in row["relations" if "relations" in row else "np_relations"]
        if {link["anchor"], link["complement"]} <= known
    ]


def _keep_valid(corpus: str, row: Record, key: str, items: list[Any]) -> tuple[list[Record], int]:
    """Return the row with the items that the schema of a submission accepts; missing fields that may be null are."""
    schema = load_schema(corpus)
    validator = RowValidator(schema, "submission")
    properties = resolve(schema, schema["$defs"]["submission"]["properties"][key]["items"])[
        "properties"
    ]
    nullable = {
        name for name, node in properties.items() if "null" in resolve(schema, node).get("type", ())
    }
    kept = []
    for item in items:
        if not isinstance(item, dict):
            continue
        known = {
            name: value for name, value in item.items() if name in properties and name != "spans"
        }
        rows, problems = accept_rows(
            validator, [{**row, key: [dict.fromkeys(nullable) | known]}], unsafe=UNSAFE
        )
        if not problems:
            kept += rows[0][key]
    return [{**row, key: kept}], len(items) - len(kept)


def _read_possessions(values: list[Any], about: About) -> tuple[list[Record], int]:
    # A relation without an anchor or a certainty says nothing that could be scored.
    whole = ("anchor", "relation", "relation_certainty")
    unrelated = {"relation": None, "relation_certainty": None}
    rows = [
        one | unrelated if isinstance(one, dict) and not all(map(one.get, whole)) else one
        for one in values
    ]
    return _keep_valid("wikipossessions", {"article": about["article"]}, "possessions", rows)


def _read_entries(values: list[Any], about: About) -> tuple[list[Record], int]:
    entries = []
    for one in values:
        entry = dict(one) if isinstance(one, dict) else {}
        mentions = entry.get("mentions")
        entry["mentions"] = [mentions] if isinstance(mentions, str) else mentions
        entries.append(
            entry
            | {
                "position": _read_number(entry.get("position")),
                "anchor": entry.get("anchor") or "XXXX-XX-XX",
            }
        )
    row = {"id": about["id"], "entity": about["entity"]}
    return _keep_valid("semeval2015_timeline", row, "entries", entries)


def _write_possessions(rows: Sequence[Record], about: About) -> list[Any]:
    names = ("possessor", "type", "certainty", "order", "anchor", "relation", "relation_certainty")
    return [{name: one.get(name) for name in names} for row in rows for one in row["possessions"]]


def _write_entries(rows: Sequence[Record], about: About) -> list[Any]:
    names = ("position", "anchor", "mentions")
    return [{name: entry[name] for name in names} for row in rows for entry in row["entries"]]


def _read_chains(values: list[Any], about: About) -> tuple[list[Record], int]:
    first, end = about["tokens"]
    seen, chains, dropped = set[tuple[int, int]](), [], 0
    for value in values:
        chain = []
        for mention in value if isinstance(value, list) else []:
            numbers = [_read_number(one) for one in mention] if isinstance(mention, list) else []
            match numbers:
                case [int(start), int(last)] if (
                    first <= start <= last < end and (start, last) not in seen
                ):
                    seen.add((start, last))
                    chain.append([start, last])
        if chain:
            chains.append(chain)
        dropped += len(value) - len(chain) if chain else 1
    return [{"document": about["document"], "clusters": chains}], dropped


def _write_chains(rows: Sequence[Record], about: About) -> list[Any]:
    first, end = about["tokens"]
    chains = [
        [one[:2] for one in chain if first <= one[0] and one[1] < end]
        for row in rows
        for chain in row["clusters"]
    ]
    return [chain for chain in chains if chain]


def _list_schema(node: Any) -> dict[str, Any]:
    return {"type": "array", "items": node}


def _schema_of_links(definitions: Mapping[str, Any]) -> dict[str, Any]:
    number = {"type": "integer", "description": "The number of a noun phrase."}
    fields = {"anchor": number, "preposition": definitions["preposition"], "complement": number}
    return _list_schema({"type": "object", "properties": fields})


def _schema_of_entries(definitions: Mapping[str, Any]) -> dict[str, Any]:
    names = ("position", "anchor", "mentions")
    return _list_schema(
        {"type": "object", "properties": {name: definitions[name] for name in names}}
    )


FORMS = {
    "mctaco": Form(
        "mctaco",
        "labels",
        lambda definitions: _list_schema(definitions["label"]),
        _read_labels,
        lambda rows, about: [row["label"] for row in rows if row["id"] in about["ids"]],
    ),
    "tne": Form("tne", "relations", _schema_of_links, _read_links, _write_links),
    "wikipossessions": Form(
        "wikipossessions",
        "possessions",
        lambda definitions: dict(definitions["submission"]["properties"]["possessions"]),
        _read_possessions,
        _write_possessions,
    ),
    "timeline": Form(
        "semeval2015_timeline", "entries", _schema_of_entries, _read_entries, _write_entries
    ),
    "coref": Form(
        "coref",
        "clusters",
        lambda definitions: _list_schema(_list_schema(_list_schema({"type": "integer"}))),
        _read_chains,
        _write_chains,
    ),
}
