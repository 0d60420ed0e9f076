"""Answers of language models, read tolerantly: rows of a submission, or the reason why there are none.

An answer is the last JSON object with the expected field, since models correct themselves, or else a list that stands by
itself.  Nothing is guessed: an object that is cut short, a list beside another answer, and both yes and no are no
answers.  A member of a list that can't be read, such as a link to a noun phrase that is not there, or a mention of an
entity, is left out and counted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from closeread.corpus.schema import RowValidator, load_schema, resolve
from closeread.corpus.validation import accept_rows
from closeread.exceptions import pluralize
from closeread.formats.json_lines import parse_json
from closeread.formats.text import UNSAFE
from closeread.records import Record

Subject = Mapping[str, Any]
"""What an answer is about: ids of the question, which the model does not write; no gold."""

THOUGHTS = re.compile(r"<think>.*?(?:</think>|\Z)", re.S)
OPENING_BRACKET = re.compile(r"[\[{]")
# A string of JSON is in one line; it may lack its end, so that no part of a text is searched twice.
TRAILING_COMMA = re.compile(r'("(?:[^"\\\n]|\\.)*"?)|,(?=\s*[\]}])')
# "No idea" and the like are no answers.
YES_OR_NO = r"\b(yes|no(?!(?:\s+|-)(?:doubt|idea|one|problem|question|reason|way|wonder)\b))\b"
FIRST_WORD = re.compile(rf"\W*(?:\d+\W+)?{YES_OR_NO}", re.I)
WORD_AFTER_ANSWER = re.compile(rf"\b(?:answer|label|plausible|say)\W+(?:is\W+)?{YES_OR_NO}", re.I)
ANY_WORD = re.compile(r"\b(?:yes|no)\b", re.I)
NUMBER = re.compile(r"\[?(?:np)?(\d{1,9})\]?", re.A)


@dataclass(frozen=True)
class Answer:
    """What was read of an answer.

    Attributes:
        rows: rows of the submission; none if there is a reason, unless other windows of the text were answered.
        reason: why there are no rows, in a few words; None if the answer was read.
        dropped: how many members of the answer's list could not be read.
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
        read: from the list and its subject, to rows and the number of members that were left out.
        write: from rows and their subject, to the list.
    """

    corpus: str
    key: str
    schema: Callable[[Mapping[str, Any]], dict[str, Any]]
    read: Callable[[list[Any], Subject], tuple[list[Record], int]]
    write: Callable[[Sequence[Record], Subject], list[Any]]


def read_answer(procedure: str, text: str, subject: Subject) -> Answer:
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
        if subject.get("ask") == "candidate":
            label, is_corrected = _read_word(text)
            rows, dropped = form.read([label], subject)
        else:
            values, is_corrected = _choose_list(text, form, subject)
            rows, dropped = form.read(values, subject)
            if dropped and not any(row.get(form.key) for row in rows):
                return Answer(reason="no item of the list can be read")
    except UnreadableError as error:
        return Answer(reason=str(error))
    return Answer(rows, dropped=dropped, is_corrected=is_corrected)


def write_answer(
    procedure: str, rows: Sequence[Record], subject: Subject, *, structured: bool = False
) -> str:
    """Write rows as a model should answer."""
    form = FORMS[procedure]
    values = form.write(rows, subject)
    if subject.get("ask") == "candidate":
        label = values[0] if values else ""
        return json.dumps({"label": label}) if structured else label.capitalize()
    return json.dumps({form.key: values}, ensure_ascii=False)


def answer_schema(procedure: str, ask: str = "question") -> dict[str, Any]:
    """Return the JSON Schema of an answer: that of the submission without ids, and without what models don't know."""
    form = FORMS[procedure]
    schema = load_schema(form.corpus)

    def simplify(node: Any) -> Any:
        node = resolve(schema, node)
        names = ("type", "enum", "description")
        simple = {name: value for name, value in node.items() if name in names}
        if "properties" in node:
            fields = {name: simplify(child) for name, child in node["properties"].items()}
            simple |= _object_schema(fields)
        if "items" in node:
            simple["items"] = simplify(node["items"])
        return simple

    values = simplify(form.schema(schema["$defs"]))
    if ask == "candidate":
        return _object_schema({"label": values["items"]})
    return _object_schema({form.key: values})


def _object_schema(fields: Mapping[str, Any]) -> dict[str, Any]:
    """The schema of an object that has exactly these fields."""
    return {
        "type": "object",
        "properties": fields,
        "required": list(fields),
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
        merged["clusters"] = _join_chains(rows)
    elif procedure == "tne":
        links: dict[tuple[str, str], Record] = {}
        for row in rows:
            for link in row["relations"]:
                links.setdefault((link["anchor"], link["complement"]), link)
        merged["relations"] = list(links.values())
    return Answer([merged], reason, dropped, is_corrected)


def _join_chains(rows: Iterable[Record]) -> list[list[list[int]]]:
    """The chains of all rows, of which those that share a mention are one."""
    joined: list[set[tuple[int, ...]]] = []
    for row in rows:
        for chain in row["clusters"]:
            mentions = set(map(tuple, chain))
            separate = []
            for entity in joined:
                if entity & mentions:
                    mentions |= entity
                else:
                    separate.append(entity)
            joined = [*separate, mentions]
    return sorted(list(map(list, sorted(entity))) for entity in joined)


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


def _choose_list(text: str, form: Form, subject: Subject) -> tuple[list[Any], bool]:
    """Return the list that is the answer, and whether it corrects another one."""
    values = _find_values(text, form.key)
    named = [value for value in values.named if isinstance(value, list)]
    # Such as [1] in prose.
    readable = [value for value in values.lists if _is_answer(value, form, subject)]
    lists = readable or values.lists
    if named:
        lists = [named[-1], *readable]
    if not lists:
        has_json = values.named or values.has_other
        raise UnreadableError(f"no list of {form.key}" if has_json else "no JSON")
    if any(value != lists[0] for value in lists):
        raise UnreadableError("several different answers")
    return lists[0], any(value != lists[0] for value in named)


def _is_answer(values: list[Any], form: Form, subject: Subject) -> bool:
    """Whether anything can be read of a list; of an empty one, that there is nothing."""
    try:
        rows, dropped = form.read(values, subject)
    except UnreadableError:
        return False
    return not dropped or any(row.get(form.key) for row in rows)


def _find_values(text: str, key: str) -> JsonValues:
    """Return the JSON in a text; brackets that begin no JSON are prose."""
    text = TRAILING_COMMA.sub(lambda match: match[1] or "", text)
    named: list[Any] = []
    lists: list[list[Any]] = []
    prose: list[str] = []
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

    A word is an answer at the beginning, or after "answer:" and the like, unless the other word stands anywhere else.
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


def _read_labels(values: list[Any], subject: Subject) -> tuple[list[Record], int]:
    ids = subject["ids"]
    if len(values) != len(ids):
        n_labels = pluralize(len(values), "label")
        raise UnreadableError(f"{n_labels} for {pluralize(len(ids), 'answer')}")
    rows: list[Record] = []
    for candidate_id, value in zip(ids, values, strict=True):
        label = _name_label(value)
        if label not in ("yes", "no"):
            raise UnreadableError("a label is neither yes nor no")
        rows.append({"id": candidate_id, "label": label})
    return rows, 0


def _write_labels(rows: Sequence[Record], subject: Subject) -> list[Any]:
    return [row["label"] for row in rows if row["id"] in subject["ids"]]


def _read_number(value: Any) -> int | None:
    """Return a whole number, which may be text, such as "3" or "[3]"."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    match = NUMBER.fullmatch(str(value).strip())
    return int(match[1]) if match else None


def _read_links(values: list[Any], subject: Subject) -> tuple[list[Record], int]:
    phrases = set(subject["nps"])
    prepositions = load_schema("tne")["$defs"]["preposition"]["enum"]
    links: dict[tuple[str, str], Record] = {}
    for value in values:
        if not isinstance(value, dict):
            continue
        anchor = f"np{_read_number(value.get('anchor'))}"
        complement = f"np{_read_number(value.get('complement'))}"
        preposition = str(value.get("preposition")).strip().lower()
        if anchor == complement or not {anchor, complement} <= phrases:
            continue
        if preposition in prepositions:
            link = {"anchor": anchor, "complement": complement, "preposition": preposition}
            links.setdefault((anchor, complement), link)
    return [{"id": subject["id"], "relations": list(links.values())}], len(values) - len(links)


def _write_links(rows: Sequence[Record], subject: Subject) -> list[Any]:
    phrases = set(subject["nps"])
    values = []
    for row in rows:
        # Gold has another name for its links than a system.
        for link in row["relations" if "relations" in row else "np_relations"]:
            if {link["anchor"], link["complement"]} <= phrases:
                anchor = int(link["anchor"][2:])
                complement = int(link["complement"][2:])
                preposition = link["preposition"]
                values.append(
                    {"anchor": anchor, "preposition": preposition, "complement": complement}
                )
    return values


def _keep_valid(
    corpus: str, row: Record, key: str, values: Sequence[Any]
) -> tuple[list[Record], int]:
    """Return the row with the values that the schema of a submission accepts; missing fields that may be null are."""
    schema = load_schema(corpus)
    validator = RowValidator(schema, "submission")
    field_of_row = schema["$defs"]["submission"]["properties"][key]
    properties = resolve(schema, field_of_row["items"])["properties"]
    nulls: dict[str, None] = {}
    for name, node in properties.items():
        if "null" in resolve(schema, node).get("type", ()):
            nulls[name] = None
    valid: list[Any] = []
    for value in values:
        if not isinstance(value, dict):
            continue
        fields: Record = dict(nulls)
        for name in properties:
            if name in value and name != "spans":
                fields[name] = value[name]
        rows, problems = accept_rows(validator, [{**row, key: [fields]}], unsafe=UNSAFE)
        if not problems:
            valid += rows[0][key]
    return [{**row, key: valid}], len(values) - len(valid)


def _read_possessions(values: list[Any], subject: Subject) -> tuple[list[Record], int]:
    possessions = []
    for value in values:
        # A relation without an anchor or a certainty says nothing that could be scored.
        if isinstance(value, dict) and not all(
            map(value.get, ("anchor", "relation", "relation_certainty"))
        ):
            value = value | {"relation": None, "relation_certainty": None}
        possessions.append(value)
    row = {"article": subject["article"]}
    return _keep_valid("wikipossessions", row, "possessions", possessions)


def _write_possessions(rows: Sequence[Record], subject: Subject) -> list[Any]:
    names = ("possessor", "type", "certainty", "order", "anchor", "relation", "relation_certainty")
    return _write_fields(rows, "possessions", names)


def _read_entries(values: list[Any], subject: Subject) -> tuple[list[Record], int]:
    entries = []
    for value in values:
        entry = dict(value) if isinstance(value, dict) else {}
        entry["position"] = _read_number(entry.get("position"))
        entry["anchor"] = entry.get("anchor") or "XXXX-XX-XX"
        mentions = entry.get("mentions")
        entry["mentions"] = [mentions] if isinstance(mentions, str) else mentions
        entries.append(entry)
    row = {"id": subject["id"], "entity": subject["entity"]}
    return _keep_valid("semeval2015_timeline", row, "entries", entries)


def _write_entries(rows: Sequence[Record], subject: Subject) -> list[Any]:
    return _write_fields(rows, "entries", ("position", "anchor", "mentions"))


def _read_chains(values: list[Any], subject: Subject) -> tuple[list[Record], int]:
    first, end = subject["tokens"]
    seen: set[tuple[int, int]] = set()
    chains = []
    dropped = 0
    for value in values:
        chain = []
        for mention in value if isinstance(value, list) else []:
            numbers = list(map(_read_number, mention)) if isinstance(mention, list) else []
            match numbers:
                case [int(start), int(last)] if (
                    first <= start <= last < end and (start, last) not in seen
                ):
                    seen.add((start, last))
                    chain.append([start, last])
        if chain:
            chains.append(chain)
            dropped += len(value) - len(chain)
        else:
            dropped += 1
    return [{"document": subject["document"], "clusters": chains}], dropped


def _write_chains(rows: Sequence[Record], subject: Subject) -> list[Any]:
    first, end = subject["tokens"]
    chains = []
    for row in rows:
        for entity in row["clusters"]:
            chain = [mention[:2] for mention in entity if first <= mention[0] and mention[1] < end]
            if chain:
                chains.append(chain)
    return chains


def _write_fields(rows: Sequence[Record], key: str, names: Sequence[str]) -> list[Any]:
    """The named fields of the objects in a list of each row; null where an object lacks one."""
    values = []
    for row in rows:
        for record in row[key]:
            fields = {name: record.get(name) for name in names}
            values.append(fields)
    return values


def _list_schema(node: Any) -> dict[str, Any]:
    return {"type": "array", "items": node}


def _schema_of_links(definitions: Mapping[str, Any]) -> dict[str, Any]:
    number = {"type": "integer", "description": "The number of a noun phrase."}
    fields = {"anchor": number, "preposition": definitions["preposition"], "complement": number}
    return _list_schema(_object_schema(fields))


def _schema_of_entries(definitions: Mapping[str, Any]) -> dict[str, Any]:
    fields = {name: definitions[name] for name in ("position", "anchor", "mentions")}
    return _list_schema(_object_schema(fields))


FORMS = {
    "mctaco": Form(
        "mctaco",
        "labels",
        lambda definitions: _list_schema(definitions["label"]),
        _read_labels,
        _write_labels,
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
