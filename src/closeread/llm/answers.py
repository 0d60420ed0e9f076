"""Answers of language models, read tolerantly: rows of a submission, or the reason why there are none.

An answer is the last JSON object with the expected field, since models correct themselves, or else a list that stands by
itself.  Nothing is guessed: an object that is cut short, a list beside another answer, and both yes and no are no
answers.  An item of a list that can't be read, such as a link to a noun phrase that is not there, or a mention of an
entity, is left out and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
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

THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.S)
OPENING_BRACKET = re.compile(r"[\[{]")
# A string of JSON is in one line; it may lack its end, so that no part of a text is searched twice.
TRAILING_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[\]}])')
# "No idea" and the like are no answers.
YES_OR_NO = r"\b(yes|no(?!(?:\s+|-)(?:doubt|idea|one|problem|question|reason|way|wonder)\b))\b"
FIRST_WORD = re.compile(rf"\W*(?:\d+\W+)?{YES_OR_NO}", re.I)
WORD_AFTER_ANSWER = re.compile(rf"\banswer\W+(?:is\W+)?{YES_OR_NO}", re.I)
ANY_WORD = re.compile(r"\b(?:yes|no)\b", re.I)
NUMBER = re.compile(r"\[?(?:np)?(\d{1,9})\]?", re.A)


@dataclass(frozen=True)
class Answer:
    """What was read of an answer.

    Attributes:
        rows: rows of the submission; none if there is a reason, unless other windows of the text were answered.
        reason: why there are no rows, in a few words; None if the answer was read.
        dropped: how many items of the answer could not be read.
        is_corrected: whether the answer had other values before, of which the last counts.
    """

    rows: list[Record] = field(default_factory=list)
    reason: str | None = None
    dropped: int = 0
    is_corrected: bool = False


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
            label, is_corrected = _read_word(text)
            rows, dropped = form.read([label], about)
        else:
            values, is_corrected = _choose_list(text, form, about)
            rows, dropped = form.read(values, about)
            if dropped and not any(row.get(form.key) for row in rows):
                return Answer(reason="no item of the list can be read")
    except UnreadableError as error:
        return Answer(reason=str(error))
    return Answer(rows, dropped=dropped, is_corrected=is_corrected)


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
    reason = next((answer.reason for answer in answers if answer.reason), None)
    rows = list[Record]()
    for answer in answers:
        rows += answer.rows
    dropped = sum(answer.dropped for answer in answers)
    is_corrected = any(answer.is_corrected for answer in answers)
    if not rows:
        return Answer([], reason, dropped, is_corrected)
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
    return Answer([merged], reason, dropped, is_corrected)


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


@dataclass(frozen=True)
class JsonValues:
    """The JSON in a text.

    Attributes:
        named: the values of the expected field, in order.
        lists: lists that stand by themselves.
        prose: the text without the objects that have the field.
        has_other: whether there is any other object.
    """

    named: list[Any] = field(default_factory=list)
    lists: list[list[Any]] = field(default_factory=list)
    prose: str = ""
    has_other: bool = False


def _choose_list(text: str, form: Form, about: About) -> tuple[list[Any], bool]:
    """Return the list that is the answer, and whether it corrects another one."""
    values = _find_values(text, form.key)
    named = [value for value in values.named if isinstance(value, list)]
    # Such as [1] in prose.
    lists = [value for value in values.lists if _is_answer(value, form, about)] or values.lists
    if named:
        lists = [named[-1], *(value for value in lists if _is_answer(value, form, about))]
    if not lists:
        has_json = values.named or values.has_other
        raise UnreadableError(f"no list of {form.key}" if has_json else "no JSON")
    if any(value != lists[0] for value in lists):
        raise UnreadableError("several different answers")
    return lists[0], any(value != lists[0] for value in named)


def _is_answer(values: list[Any], form: Form, about: About) -> bool:
    """Whether anything can be read of a list; of an empty one, that there is nothing."""
    try:
        rows, dropped = form.read(values, about)
    except UnreadableError:
        return False
    return not dropped or any(row.get(form.key) for row in rows)


def _find_values(text: str, key: str) -> JsonValues:
    """Return the JSON in a text; brackets that begin no JSON are prose."""
    text = TRAILING_COMMA.sub(lambda match: match[1] or "", text)
    named, lists, prose = list[Any](), list[list[Any]](), list[str]()
    has_other = False
    # A list after a bracket that begins no JSON may be a part of an answer that is cut short.
    is_broken = False
    end = 0
    end_of_named = 0
    for opening in OPENING_BRACKET.finditer(text):
        start = opening.start()
        if start < end:
            continue
        try:
            _, end = json.JSONDecoder().raw_decode(text, start)
            value = parse_json(text[start:end], UNSAFE)
        except RecursionError:
            raise UnreadableError("JSON that is nested too deeply") from None
        except ValueError:
            if re.compile(rf'\{{\s*"{key}"').match(text, start):
                raise UnreadableError("JSON that is cut short or malformed") from None
            is_broken = True
            continue
        if isinstance(value, dict) and key in value:
            named.append(value[key])
            prose.append(text[end_of_named:start])
            end_of_named = end
        elif isinstance(value, list) and not is_broken:
            lists.append(value)
        else:
            has_other = True
    prose.append(text[end_of_named:])
    return JsonValues(named, lists, " ".join(prose), has_other)


def _read_word(text: str) -> tuple[str, bool]:
    """Return the label of an answer or of its JSON, and whether it corrects another one.

    A word is an answer at the beginning or after "answer:", unless the other word stands anywhere else.
    """
    values = _find_values(text, "label")
    labels = [_name_label(value) for value in values.named]
    match = FIRST_WORD.match(values.prose) or WORD_AFTER_ANSWER.search(values.prose)
    if match:
        words = {word.lower() for word in ANY_WORD.findall(values.prose)}
        if len(words.union(labels)) > 1:
            raise UnreadableError("both yes and no")
        labels.append(match[1].lower())
    if not labels:
        raise UnreadableError("neither yes nor no")
    return labels[-1], any(label != labels[-1] for label in labels)


def _name_label(value: Any) -> str:
    """Return a label as text; true and false are yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value).strip().lower()


# Tasks


def _read_labels(values: list[Any], about: About) -> tuple[list[Record], int]:
    ids = about["ids"]
    if len(values) != len(ids):
        raise UnreadableError(
            f"{pluralize(len(values), 'label')} for {pluralize(len(ids), 'answer')}"
        )
    labels = [_name_label(value) for value in values]
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
