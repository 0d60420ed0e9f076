"""WebAnno TSV 3, which INCEpTION and WebAnno export: a row for every token, and columns for every layer.

Conventions: a *unit* is the first cell of a row, such as "2-1", the first token of the second sentence, or "2-1.1", a part
of it.  A cell stacks its values by `|`; `_` is no value, and `*` a value without a text.  A number in brackets after a
value is the id of the span that it belongs to; without one, the span is that of the unit alone.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from closeread.exceptions import ProblemList, quote
from closeread.tasks.coref.formats import StandoffOptions
from closeread.tasks.coref.formats.standoff.records import (
    WIDTH_OF_TOKEN,
    AnnotatorDocuments,
    Chain,
    Positions,
    SentenceLayout,
    StandoffDocument,
    StandoffFile,
    StandoffSpan,
)

UNIT = re.compile(r"(\d+)-(\d+)(?:\.(\d+))?")
OFFSETS = re.compile(r"(\d+)-(\d+)")
STACKED = re.compile(r"(?<!\\)\|")
ROLE_SEPARATOR = re.compile(r"(?<!\\);")
ID = re.compile(r"(?s)(.*)(?<!\\)\[(\d+)(?:_(\d+))?\]")
CHAIN_LINK = re.compile(r"(?s)(.*)(?<!\\)->(\d+)-(\d+)")
ESCAPED = re.compile(r"\\(->|.)")
ESCAPED_CONTROLS = {"t": "\t", "n": "\n"}

TEXT = "#Text="

NOTHING = "_"
WITHOUT_TEXT = "*"

N_COLUMNS_OF_TOKEN = 3
"""The unit, the offsets and the word."""

LAYER_OF_TOKENS = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"


class Column(NamedTuple):
    """A column of a layer.

    Attributes:
        place: its number among the columns of layers, from 0.
        feature: the feature; empty if the layer has none.
        role: "roles" and "targets" of a feature that links, "base" of a relation, and otherwise empty.
        target: the layer of the spans that it leads to.
    """

    place: int
    feature: str
    role: str = ""
    target: str = ""


class Layer(NamedTuple):
    """A layer and its columns.

    Attributes:
        kind: "SP", a layer of spans, "CH" of chains or "RL" of relations.
        name: its type.
        columns: its columns.
    """

    kind: str
    name: str
    columns: Sequence[Column]

    def column(self, role: str = "", feature: str | None = None) -> Column | None:
        """Return the first column with a role, and maybe a feature."""
        for column in self.columns:
            if column.role == role and feature in (None, column.feature):
                return column
        return None


class Reference(NamedTuple):
    """A link whose ends are still to be description.

    Attributes:
        layer: its layer.
        labels: the names and values of its features.
        source: the id of its first span; None if that is to be description at a unit, as the other is.
        source_unit, source_number: the unit of its first span, and the number of its id, 0 if it has none.
        unit, number: those of the other.
        target: the layer of the spans that are to be description; empty if the file doesn't say.
    """

    layer: str
    labels: tuple[tuple[str, str], ...]
    source: Hashable
    source_unit: str
    source_number: int
    unit: str
    number: int
    target: str


class Value(NamedTuple):
    """A value of a cell, and the numbers in brackets after it; 0 if there are none."""

    text: str
    number: int = 0
    other_number: int = 0


@dataclass
class Reader:
    """What has been read of a file.

    Attributes:
        document: the document.
        problems: what is wrong with it.
        layers: the layers that the header declares.
        positions: where each unit is.
        at_unit: the ids of the spans that begin at a unit, by layer and unit.
        numbered: the ids of spans by their numbers in the file.
        chains: the spans of chains by their number, by layer and the chain's number.
        references: the links.
        texts: the lines of the text of the next sentence.
        sentence: the number of the current sentence; -1 before the first.
    """

    document: StandoffDocument = field(default_factory=StandoffDocument)
    problems: ProblemList = field(default_factory=ProblemList)
    layers: list[Layer] = field(default_factory=list)
    positions: dict[str, Positions] = field(default_factory=dict)
    at_unit: dict[tuple[str, str], list[Hashable]] = field(
        default_factory=lambda: defaultdict(list)
    )
    numbered: dict[int, Hashable] = field(default_factory=dict)
    chains: dict[tuple[str, int], dict[int, Hashable]] = field(
        default_factory=lambda: defaultdict(dict)
    )
    references: dict[Reference, None] = field(default_factory=dict)
    texts: list[str] = field(default_factory=list)
    sentence: int = -1

    @property
    def n_columns(self) -> int:
        """The number of columns of all layers."""
        return sum(len(layer.columns) for layer in self.layers)


def read_webanno_tsv(file: StandoffFile, options: StandoffOptions) -> AnnotatorDocuments:
    """Read a document.

    Raises:
        FormatError: a row isn't one, or a cell of a chain doesn't say which.
    """
    del options
    reader = Reader()
    last_unit = (0, 0)
    for line_number, line in enumerate(file.text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith("#T_"):
            _read_layer(reader, line, line_number)
        if line.startswith(TEXT):
            # A sentence may have several lines of text.
            reader.texts.append(_unescape(line.removeprefix(TEXT)))
        if not line or line.startswith("#"):
            continue
        cells = line.split("\t")
        match = UNIT.fullmatch(cells[0])
        offsets = OFFSETS.fullmatch(cells[1]) if len(cells) >= N_COLUMNS_OF_TOKEN else None
        if match is None or offsets is None:
            expected = "expected SENTENCE-TOKEN, BEGIN-END and a word, separated by tabs"
            reader.problems.add(f"{quote(line)} is not a row of a token ({expected})", line_number)
            continue
        n_missing = N_COLUMNS_OF_TOKEN + reader.n_columns - len(cells)
        if n_missing > 0:
            description = (
                f"{len(cells):,} columns (expected {len(cells) + n_missing:,}, as in the header)"
            )
            reader.problems.add(f"the row of {cells[0]} has {description}", line_number)
            continue
        if match[3] is None:
            unit = int(match[1]), int(match[2])
            if unit <= last_unit:
                after = f"after {last_unit[0]}-{last_unit[1]}"
                description = f"{cells[0]} {after} (expected tokens in ascending order)"
                reader.problems.add(description, line_number)
            last_unit = unit
            reader.document.add_row(cells[2])
            _lay_out(reader, unit[0], (int(offsets[1]), int(offsets[2])))
        _place_unit(reader, cells[0], offsets, is_part=match[3] is not None)
        values = cells[N_COLUMNS_OF_TOKEN:]
        if values.count(NOTHING) + values.count("") < len(values):
            _read_values(reader, cells[0], values, line_number)
    reader.problems.raise_any(file.name)
    _follow_references(reader)
    for (layer, _), spans_by_place in reader.chains.items():
        spans = [spans_by_place[place] for place in sorted(spans_by_place)]
        reader.document.chains.append(Chain(layer, spans))
    return {"": [reader.document]}


def _lay_out(reader: Reader, sentence: int, offsets: Positions) -> None:
    """Add a token to its sentence, the first of which ends the lines of its text."""
    layout = reader.document.layout
    if sentence != reader.sentence:
        reader.sentence = sentence
        layout.append(SentenceLayout("\n".join(reader.texts), []))
        reader.texts.clear()
    layout[-1].offsets.append(offsets)


def _read_layer(reader: Reader, line: str, line_number: int) -> None:
    """Read the declaration of a layer: ``#T_SP=TYPE|FEATURE|...``."""
    kind, _, declared = line[len("#T_") :].partition("=")
    if kind not in ("SP", "CH", "RL"):
        expected = "expected #T_SP=, #T_CH= or #T_RL="
        reader.problems.add(f"{quote(line)} declares no layer ({expected})", line_number)
        return
    name, *features = declared.split("|")
    columns: list[Column] = []
    # A layer without features has a column, too.
    for feature in list(filter(None, features)) or [""]:
        number = reader.n_columns + len(columns)
        before = columns[-1] if columns else None
        if feature.startswith("ROLE_"):
            linking = feature.partition(":")[2].partition("_")[0]
            column = Column(number, linking, "roles")
        elif feature.startswith("BT_"):
            column = Column(number, "", "base", feature.removeprefix("BT_"))
        elif before is not None and before.role == "roles":
            column = Column(number, before.feature, "targets", feature)
        else:
            column = Column(number, feature)
        columns.append(column)
    if columns[-1].role == "roles":
        expected = "expected the type of the targets after it"
        reader.problems.add(f"{quote(line)} ends with ROLE_ ({expected})", line_number)
        return
    reader.layers.append(Layer(kind, name, columns))


def _place_unit(reader: Reader, unit: str, offsets: re.Match[str], *, is_part: bool) -> None:
    """Note where a unit is: a token, a part of one, or the place of an annotation without any text."""
    tokens = reader.document.tokens or [(0, WIDTH_OF_TOKEN)]
    begin, end = tokens[-1]
    if offsets[1] == offsets[2]:
        end = begin
    elif is_part:
        end = begin + 1
    reader.positions[unit] = (begin, end)


def _read_values(reader: Reader, unit: str, values: Sequence[str], line_number: int) -> None:
    """Read the cells of a row after its word."""
    for layer in reader.layers:
        if all(values[column.place] in (NOTHING, "") for column in layer.columns):
            continue
        if layer.kind == "SP":
            _read_spans(reader, layer, unit, values)
        elif layer.kind == "CH":
            _read_chain_links(reader, layer, unit, values, line_number)
        else:
            _read_relations(reader, layer, unit, values)


def _split_stack(cell: str) -> list[Value]:
    """Return the values that a cell stacks; none of an empty one."""
    if cell in (NOTHING, ""):
        return []
    values = []
    for text in STACKED.split(cell):
        match = ID.fullmatch(text)
        if match:
            values.append(Value(match[1], int(match[2]), int(match[3] or 0)))
        else:
            values.append(Value(text))
    return values


def _unescape(text: str) -> str:
    return ESCAPED.sub(lambda match: ESCAPED_CONTROLS.get(match[1], match[1]), text)


def _extend_span(reader: Reader, key: Hashable, layer: str, unit: str) -> StandoffSpan:
    """Return a span that the unit is part of: a new one, or one that reaches from an earlier unit to this."""
    positions = reader.positions[unit]
    span = reader.document.spans.get(key)
    if span is None:
        span = StandoffSpan(layer, [positions])
        reader.document.spans[key] = span
        reader.at_unit[layer, unit].append(key)
    else:
        span.parts = [(span.parts[0][0], positions[1])]
    return span


def _read_spans(reader: Reader, layer: Layer, unit: str, values: Sequence[str]) -> None:
    """Read the spans of a row; their values belong together by id where they have one, else by place in the stack."""
    for column in layer.columns:
        if column.role == "targets":
            continue
        stack = _split_stack(values[column.place])
        targets: list[str] = []
        if column.role == "roles":
            targets = STACKED.split(values[column.place + 1])
            # A span without links has a place in the targets only.
            if not stack and targets != [NOTHING]:
                stack = [Value(NOTHING)] * len(targets)
        for place, value in enumerate(stack):
            key: Hashable = (layer.name, unit, place)
            if value.number:
                key = (layer.name, value.number)
                reader.numbered[value.number] = key
            span = _extend_span(reader, key, layer.name, unit)
            if column.role == "roles":
                if place < len(targets):
                    _read_targets(reader, layer, column, key, targets[place])
            elif value.text not in (WITHOUT_TEXT, NOTHING):
                span.features.setdefault(column.feature, _unescape(value.text))


def _read_targets(
    reader: Reader,
    layer: Layer,
    column: Column,
    source: Hashable,
    cell: str,
) -> None:
    """Read the units to which a feature of a span leads."""
    targets = layer.column("targets", column.feature)
    target_layer = targets.target if targets else ""
    for target in ROLE_SEPARATOR.split(cell):
        if target in (WITHOUT_TEXT, NOTHING, ""):
            continue
        (value,) = _split_stack(target)
        name = f"{layer.name}.{column.feature}"
        reference = Reference(name, (), source, "", 0, value.text, value.number, target_layer)
        reader.references[reference] = None


def _read_chain_links(
    reader: Reader, layer: Layer, unit: str, values: Sequence[str], line_number: int
) -> None:
    """Read the links of chains of a row: ``RELATION->CHAIN-PLACE``, whatever the relation."""
    column = layer.column(feature="referenceRelation") or layer.columns[-1]
    places = set()
    for text in STACKED.split(values[column.place]):
        match = CHAIN_LINK.fullmatch(text)
        if match is None:
            message = f"{unit}: {quote(text)} names no chain (expected TEXT->CHAIN-PLACE)"
            reader.problems.add(message, line_number)
            continue
        chain = int(match[2])
        place = int(match[3])
        if (chain, place) in places:
            reader.problems.add(f"{unit}: {chain}-{place} is there twice", line_number)
        places.add((chain, place))
        key = (layer.name, chain, place)
        _extend_span(reader, key, layer.name, unit)
        reader.chains[layer.name, chain][place] = key


def _read_relations(reader: Reader, layer: Layer, unit: str, values: Sequence[str]) -> None:
    """Read the relations that end at a unit; the column of the base layer has the units where they begin."""
    base = layer.column("base")
    if base is None:
        return
    for place, source in enumerate(_split_stack(values[base.place])):
        labels = tuple(_list_labels(layer, values, place))
        reference = Reference(
            layer.name,
            labels,
            None,
            source.text,
            source.number,
            unit,
            source.other_number,
            base.target,
        )
        reader.references[reference] = None


def _list_labels(layer: Layer, values: Sequence[str], place: int) -> Iterator[tuple[str, str]]:
    """Yield the features of a relation that have values, and these."""
    for column in layer.columns:
        if column.role:
            continue
        stack = _split_stack(values[column.place])
        if place < len(stack) and stack[place].text not in (WITHOUT_TEXT, NOTHING):
            yield column.feature, _unescape(stack[place].text)


def _follow_references(reader: Reader) -> None:
    """Find the spans of all links."""
    for reference in reader.references:
        source = reference.source
        if source is None:
            source = _find_span(
                reader, reference.target, reference.source_unit, reference.source_number
            )
        target = _find_span(reader, reference.target, reference.unit, reference.number)
        reader.document.link(reference.layer, source, target, dict(reference.labels))


def _find_span(reader: Reader, layer: str, unit: str, number: int) -> Hashable:
    """Return the id of the span of a layer that begins at a unit; None if there is none.

    A token can be the end of a relation, and is then a span.
    """
    if number:
        return reader.numbered.get(number)
    for (other_layer, other_unit), keys in reader.at_unit.items() if not layer else ():
        if other_unit == unit and other_layer:
            return keys[0]
    keys = reader.at_unit.get((layer, unit), [])
    if keys:
        # The span without an id.
        return min(keys, key=lambda key: key in reader.numbered.values())
    if layer == LAYER_OF_TOKENS and unit in reader.positions:
        key = (layer, unit, 0)
        reader.document.spans[key] = StandoffSpan(layer, [reader.positions[unit]])
        reader.at_unit[layer, unit].append(key)
        return key
    return None
