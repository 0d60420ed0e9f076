"""Label Studio, doccano and Prodigy: annotation tools that export JSON."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

from msgspec import Struct, field

from closeread.exceptions import ProblemList, pluralize, quote
from closeread.tasks.coref.formats.standoff.json_records import (
    Extent,
    convert_records,
    find_outside,
    load_records,
    name_records,
)
from closeread.tasks.coref.formats.standoff.records import (
    AnnotatorDocuments,
    Positions,
    StandoffDocument,
    StandoffFile,
    StandoffSpan,
    fit_offsets,
)

# Label Studio


class RegionValue(Struct):
    """What a region is about: a stretch of text and its labels, or what was chosen or written for it."""

    start: int | None = None
    end: int | None = None
    text: str | list[str] | None = None
    labels: list[str] = field(default_factory=list)
    choices: list[str] = field(default_factory=list)


class Region(Struct):
    """A result of an annotation: a region, something that is said of one, or a relation."""

    type: str = ""
    id: str = ""
    from_name: str = ""
    to_name: str = ""
    value: RegionValue | None = None
    from_id: str = ""
    to_id: str = ""
    labels: list[str] = field(default_factory=list)


class TaskAnnotation(Struct):
    """What somebody made of a task."""

    result: list[Region]
    completed_by: int | str | dict[str, Any] | None = None
    was_cancelled: bool = False
    updated_at: str = ""

    @property
    def annotator(self) -> str:
        """The e-mail address of who made it, or else the number; empty if it is unknown."""
        if isinstance(self.completed_by, dict):
            return str(self.completed_by.get("email") or self.completed_by.get("id", ""))
        return "" if self.completed_by is None else str(self.completed_by)


class Task(Struct):
    """A text with its annotations."""

    data: dict[str, Any]
    annotations: list[TaskAnnotation] | None = None
    # before 2021
    completions: list[TaskAnnotation] | None = None


LABELS_OF_TEXT = "labels"
LABELS_OF_OTHERS = ("hypertextlabels", "paragraphlabels", "rectanglelabels", "timeserieslabels")


def read_label_studio(file: StandoffFile) -> AnnotatorDocuments:
    """Read the tasks of a project, which have the annotations of all annotators.

    Raises:
        FormatError: a region's text is not that at its offsets, or a task is not about plain text.
    """
    records = load_records(file)
    tasks = convert_records(file, records, Task)
    names = name_records(records, file.options.document_field, ("file_upload", "id"))
    documents: dict[str, list[StandoffDocument]] = {}
    problems = ProblemList()
    n_cancelled = 0
    for name, task in zip(names, tasks, strict=True):
        newest: dict[str, TaskAnnotation] = {}
        for annotation in task.annotations or task.completions or ():
            if annotation.was_cancelled:
                n_cancelled += 1
                continue
            before = newest.get(annotation.annotator)
            if before is None or before.updated_at <= annotation.updated_at:
                newest[annotation.annotator] = annotation
        for annotator, annotation in newest.items():
            document = _read_task(task, annotation, file.options.text_field, name, problems)
            document.name = name
            documents.setdefault(annotator, []).append(document)
    problems.raise_any(file.name)
    if n_cancelled and documents:
        first = next(iter(documents.values()))[0]
        first.notices.append(f"{pluralize(n_cancelled, 'cancelled annotation')} left out.")
    return documents


def _read_task(
    task: Task,
    annotation: TaskAnnotation,
    text_field: str,
    name: str,
    problems: ProblemList,
) -> StandoffDocument:
    document = StandoffDocument()
    texts: dict[Hashable, str | None] = {}
    targets = set()
    for region in annotation.result:
        if region.type in LABELS_OF_OTHERS:
            problems.add(f"task {quote(name)} has {region.type} (expected labels of plain text)")
        value = region.value
        if region.type != LABELS_OF_TEXT or value is None:
            continue
        if value.start is None or value.end is None:
            problems.add(f"task {quote(name)}: region {quote(region.id)} has no start and end")
            continue
        targets.add(region.to_name)
        texts[region.id] = value.text if isinstance(value.text, str) else None
        label = value.labels[0] if value.labels else ""
        document.spans[region.id] = StandoffSpan(label, [(value.start, value.end)])
    if len(targets) > 1:
        problems.add(f"task {quote(name)} labels {pluralize(len(targets), 'text')} (expected one)")
    document.text = _choose_text(task, text_field or next(iter(targets), ""))
    for key, covered in list(fit_offsets(document, texts).items())[:1]:
        description = f"region {quote(str(key))} has the text {quote(covered)} at its offsets"
        expected = f"expected {quote(texts[key] or '')}"
        problems.add(f"task {quote(name)}: {description} ({expected})")
    for region in annotation.result:
        if region.type == "relation":
            label = region.labels[0] if region.labels else ""
            document.link(label, region.from_id, region.to_id)
        elif region.id in document.spans and region.value is not None:
            values = region.value.choices or region.value.text
            if region.type in ("choices", "textarea") and isinstance(values, list) and values:
                document.spans[region.id].features[region.from_name] = values[0]
    return document


def _choose_text(task: Task, text_field: str) -> str:
    """Return the text of a task: of the field that its labels name, or else the longest."""
    if isinstance(task.data.get(text_field), str):
        return str(task.data[text_field])
    texts = [value for value in task.data.values() if isinstance(value, str)]
    return max(texts, key=len, default="")


# doccano


class DoccanoEntity(Struct):
    """A labelled stretch of text."""

    id: int
    label: str
    start_offset: int
    end_offset: int


class DoccanoRelation(Struct):
    """A relation between two of them."""

    from_id: int
    to_id: int
    type: str


class DoccanoDocument(Struct):
    """A line of an export."""

    text: str
    entities: list[DoccanoEntity]
    relations: list[DoccanoRelation]


def read_doccano(file: StandoffFile) -> AnnotatorDocuments:
    """Read the documents of an annotator."""
    records = load_records(file)
    names = name_records(records, file.options.document_field, ("id",))
    documents = []
    problems = ProblemList()
    lines = [line for _, line in records]
    exported = convert_records(file, records, DoccanoDocument)
    for name, line, record in zip(names, lines, exported, strict=True):
        document = StandoffDocument(name, record.text)
        for entity in record.entities:
            positions = (entity.start_offset, entity.end_offset)
            for place in find_outside(record.text, [positions]):
                hint = "does the project count grapheme clusters?"
                problems.add(f"entity {entity.id} is at {place}; {hint}", line)
            document.spans[entity.id] = StandoffSpan(entity.label, [positions])
        for relation in record.relations:
            document.link(relation.type, relation.from_id, relation.to_id)
        documents.append(document)
    problems.raise_any(file.name)
    return {"": documents}


# Prodigy


class ProdigySpan(Struct):
    """A span of tokens, the last included."""

    token_start: int
    token_end: int
    end: int | None = None
    label: str | None = None


class ProdigyRelation(Struct):
    """A relation between two spans, or between two tokens."""

    head: int
    child: int
    label: str = ""
    head_span: ProdigySpan | None = None
    child_span: ProdigySpan | None = None


class ProdigyDocument(Struct):
    """A line of a data set."""

    text: str
    tokens: list[Extent]
    spans: list[ProdigySpan] = field(default_factory=list)
    relations: list[ProdigyRelation] = field(default_factory=list)
    answer: str = "accept"
    annotator: str | None = field(default=None, name="_annotator_id")
    session: str | None = field(default=None, name="_session_id")


def read_prodigy(file: StandoffFile) -> AnnotatorDocuments:
    """Read the documents of a data set, which may have those of several annotators."""
    records = load_records(file)
    exported = convert_records(file, records, ProdigyDocument)
    owners = [record.annotator or record.session or "" for record in exported]
    names = name_records(records, file.options.document_field, ("_input_hash",), owners)
    documents: dict[str, list[StandoffDocument]] = {}
    problems = ProblemList()
    n_rejected = 0
    for number, record in enumerate(exported):
        if record.answer != "accept":
            n_rejected += 1
            continue
        line = records[number][1]
        try:
            document = _read_prodigy_document(record)
        except ValueError as error:
            problems.add(str(error), line)
            continue
        document.name = names[number]
        documents.setdefault(owners[number], []).append(document)
    problems.raise_any(file.name)
    if n_rejected and documents:
        first = next(iter(documents.values()))[0]
        first.notices.append(f"{pluralize(n_rejected, 'document')} not accepted left out.")
    return documents


def _read_prodigy_document(record: ProdigyDocument) -> StandoffDocument:
    """Return a document; a ValueError says which token or span is not one."""
    tokens = [token.positions for token in record.tokens]
    for place in find_outside(record.text, tokens):
        raise ValueError(f"a token is at {place}")
    document = StandoffDocument("", record.text, tokens)
    spans = list(record.spans)
    for relation in record.relations:
        spans += [span for span in (relation.head_span, relation.child_span) if span is not None]
    # Converters of some people write the token after the last one.
    is_exclusive = _are_ends_exclusive(spans, tokens)

    def add(span: ProdigySpan) -> tuple[int, int]:
        last = span.token_end - is_exclusive
        if not 0 <= span.token_start <= last < len(tokens):
            expected = f"expected tokens from 0 to {len(tokens) - 1:,}"
            raise ValueError(f"a span is at {span.token_start} to {span.token_end} ({expected})")
        key = (span.token_start, last)
        positions = (tokens[span.token_start][0], tokens[last][1])
        document.spans.setdefault(key, StandoffSpan(span.label or "", [positions]))
        return key

    for span in record.spans:
        add(span)
    for relation in record.relations:
        head = relation.head_span or ProdigySpan(relation.head, relation.head + is_exclusive)
        child = relation.child_span or ProdigySpan(relation.child, relation.child + is_exclusive)
        document.link(relation.label, add(head), add(child))
    return document


def _are_ends_exclusive(spans: Sequence[ProdigySpan], tokens: Sequence[Positions]) -> bool:
    """Return whether the last tokens of all spans are those after their ends."""
    ends = [(span.token_end, span.end) for span in spans if span.end is not None]
    if not ends or not all(0 < last <= len(tokens) for last, _ in ends):
        return False
    return all(tokens[last - 1][1] == end for last, end in ends)
