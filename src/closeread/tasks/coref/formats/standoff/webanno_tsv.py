"""WebAnno TSV 3, which INCEpTION and WebAnno export: a row for every token, and columns for every layer.

Conventions: a *unit* is the first cell of a row, such as "2-1", the first token of the second sentence, or "2-1.1", a part
of it.  A cell stacks its values by `|`; `_` is no value, and `*` a value without a text.  A number in brackets after a
value is the id of the span that it belongs to; without one, the span is that of the unit alone.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from closeread.exceptions import ProblemList, quote
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

ROW = re.compile(r"(?s)((\d+)-(\d+)(\.\d+)?)\t(\d+)-(\d+)\t([^\t]*)(.*)")
"""The unit, its sentence, token and part, the offsets, the word, and the cells of layers."""

STACKED = re.compile(r"(?<!\\)\|")
ROLE_SEPARATOR = re.compile(r"(?<!\\);")
ID = re.compile(r"(?s)(.*)(?<!\\)\[(\d+)(?:_(\d+))?\]")
CHAIN_LINK = re.compile(r"(?s).*(?<!\\)->(\d+)-(\d+)")
ESCAPED = re.compile(r"\\(->|.)")
ESCAPED_CONTROLS = {"t": "\t", "n": "\n"}

TEXT = "#Text="

NOTHING = "_"
WITHOUT_TEXT = "*"

N_COLUMNS_OF_TOKEN = 3
"""The unit, the offsets and the word."""

LAYER_OF_TOKENS = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type.Token"

ANY_LAYER = ("", "uima.tcas.Annotation")
"""What stands for the base layer of relations between spans of any layer."""


class Column(NamedTuple):
    """A column of a layer.

    Attributes:
        place: its number among the columns of layers, from 0.
        feature: the feature; empty if the layer has none.
        target: the layer of the spans that it, or the column after it, leads to.
    """

    place: int
    feature: str
    target: str = ""


@dataclass
class Layer:
    """A layer and its columns.

    Attributes:
        kind: "SP", a layer of spans, "CH" of chains or "RL" of relations.
        name: its type.
        features: the columns of values.
        roles: the first columns of features that link, which have the roles; the next has the targets.
        base: the column with the spans where relations begin.
    """

    kind: str
    name: str
    features: list[Column] = field(default_factory=list)
    roles: list[Column] = field(default_factory=list)
    base: Column | None = None


class Value(NamedTuple):
    """A value of a cell, empty if it has no text, and the numbers in brackets after it, 0 if there are none."""

    text: str
    number: int = 0
    other_number: int = 0


class Place(NamedTuple):
    """Where a span is: its layer, empty if the file doesn't say, its first unit, and its id, 0 if it has none."""

    layer: str
    unit: str
    number: int


class Reference(NamedTuple):
    """A link whose spans may be further down: its layer, the names and values of its features, and its ends."""

    layer: str
    labels: tuple[tuple[str, str], ...]
    source: Place
    target: Place


def read_webanno_tsv(file: StandoffFile) -> AnnotatorDocuments:
    """Read a document.

    Raises:
        FormatError: a row isn't one, or a cell of a chain doesn't say which.
    """
    reader = _Reader()
    for line_number, line in enumerate(file.text.split("\n"), 1):
        line = line.removesuffix("\r")
        if line.startswith(TEXT):
            # A sentence may have several lines of text.
            reader.texts.append(ESCAPED.sub(_unescape_character, line.removeprefix(TEXT)))
        elif line.startswith("#T_"):
            reader.read_layer(line, line_number)
        elif line and not line.startswith("#"):
            reader.read_row(line, line_number)
    reader.problems.raise_any(file.name)
    return {"": [reader.finish()]}


def _split_stack(cell: str) -> list[Value]:
    """Return the values that a cell stacks; none of an empty one."""
    if cell in (NOTHING, ""):
        return []
    return [_parse_value(text) for text in STACKED.split(cell)]


def _parse_value(text: str) -> Value:
    match = ID.fullmatch(text)
    if match is None:
        return Value(_unescape(text))
    return Value(_unescape(match[1]), int(match[2]), int(match[3] or 0))


def _unescape(text: str) -> str:
    """Return a value without escapes; empty if it has no text."""
    if text in (NOTHING, WITHOUT_TEXT):
        return ""
    return ESCAPED.sub(_unescape_character, text)


def _unescape_character(match: re.Match[str]) -> str:
    return ESCAPED_CONTROLS.get(match[1], match[1])


class _Reader:
    """What has been read of a file.

    Attributes:
        problems: what is wrong with it.
        texts: the lines of the text of the next sentence.
    """

    def __init__(self) -> None:
        self._words: list[str] = []
        self._document = StandoffDocument()
        self.problems = ProblemList()
        self.texts: list[str] = []
        self._layers: list[Layer] = []
        self._n_columns = 0
        self._last_token = (-1, 0)
        self._positions: dict[str, Positions] = {}
        # By layer, and by the number of the span or its first unit; without a layer, those of all.
        self._keys: dict[tuple[str, str | int], Hashable] = {}
        self._chains: dict[tuple[str, str], list[Hashable]] = {}
        # Every row of a span repeats its links.
        self._references: dict[Reference, None] = {}

    def read_layer(self, line: str, line_number: int) -> None:
        """Read the declaration of a layer: ``#T_SP=TYPE|FEATURE|...``."""
        kind, _, declared = line.removeprefix("#T_").partition("=")
        if kind not in ("SP", "CH", "RL"):
            expected = "expected #T_SP=, #T_CH= or #T_RL="
            self.problems.add(f"{quote(line)} declares no layer ({expected})", line_number)
            return
        name, *features = declared.split("|")
        layer = Layer(kind, name)
        role = None
        # A layer without features has a column, too.
        for feature in list(filter(None, features)) or [""]:
            place = self._n_columns
            self._n_columns += 1
            if role is not None:
                layer.roles.append(Column(place - 1, role, feature))
                role = None
            elif feature.startswith("ROLE_"):
                role = feature.partition(":")[2].partition("_")[0]
            elif feature.startswith("BT_"):
                layer.base = Column(place, "", feature.removeprefix("BT_"))
            else:
                layer.features.append(Column(place, feature))
        if role is not None:
            expected = "expected the type of the targets after it"
            self.problems.add(f"{quote(line)} ends with ROLE_ ({expected})", line_number)
        self._layers.append(layer)

    def read_row(self, line: str, line_number: int) -> None:
        """Read a token, or a part of one, and the annotation that begins there or goes on."""
        match = ROW.fullmatch(line)
        if match is None:
            expected = "expected SENTENCE-TOKEN, BEGIN-END and a word, separated by tabs"
            self.problems.add(f"{quote(line)} is not a row of a token ({expected})", line_number)
            return
        unit, sentence, token, part, begin, end, word, cells = match.groups()
        n_cells = cells.count("\t")
        if n_cells < self._n_columns:
            n_columns = N_COLUMNS_OF_TOKEN + n_cells
            expected = f"expected {N_COLUMNS_OF_TOKEN + self._n_columns:,}, as in the header"
            description = f"the row of {unit} has {n_columns:,} columns ({expected})"
            self.problems.add(description, line_number)
            return
        if part is None:
            place = (int(sentence), int(token))
            if place <= self._last_token:
                after = f"after {self._last_token[0]}-{self._last_token[1]}"
                description = f"{unit} {after} (expected tokens in ascending order)"
                self.problems.add(description, line_number)
            if place[0] != self._last_token[0]:
                self._document.layout.append(SentenceLayout("\n".join(self.texts), []))
                self.texts.clear()
            self._last_token = place
            self._document.layout[-1].offsets.append((int(begin), int(end)))
            self._words.append(word)
        width = WIDTH_OF_TOKEN if part is None else 1
        if begin == end:
            # The place of an annotation without any text.
            width = 0
        start = WIDTH_OF_TOKEN * max(0, len(self._words) - 1)
        self._positions[unit] = (start, start + width)
        # Most rows have no annotation.
        if cells.rstrip("\t") != f"\t{NOTHING}" * self._n_columns:
            self._read_cells(unit, cells.split("\t")[1:], line_number)

    def _read_cells(self, unit: str, cells: Sequence[str], line_number: int) -> None:
        """Read the cells of a row after its word."""
        for layer in self._layers:
            if layer.kind == "SP":
                self._read_spans(layer, unit, cells)
            elif layer.kind == "CH":
                self._read_chain_links(layer, unit, cells, line_number)
            else:
                self._read_relations(layer, unit, cells)

    def _extend_span(self, key: Hashable, place: Place) -> StandoffSpan:
        """Return a span that a unit is part of: a new one, or one that reaches from an earlier unit to this."""
        positions = self._positions[place.unit]
        span = self._document.spans.get(key)
        if span is not None:
            span.parts = [(span.parts[0][0], positions[1])]
            return span
        span = StandoffSpan(place.layer, [positions])
        self._document.spans[key] = span
        for layer in (place.layer, *ANY_LAYER):
            if place.number:
                self._keys[layer, place.number] = key
                self._keys.setdefault((layer, place.unit), key)
            else:
                # A unit without an id means the span without an id.
                self._keys[layer, place.unit] = key
        return span

    def _read_spans(self, layer: Layer, unit: str, cells: Sequence[str]) -> None:
        """Read the spans of a row; their values belong together by id if there is one, else by place in the stack."""
        for column in layer.features:
            for number, value in enumerate(_split_stack(cells[column.place])):
                place = Place(layer.name, unit, value.number)
                span = self._extend_span((place.layer, value.number or (unit, number)), place)
                if value.text:
                    span.features.setdefault(column.feature, value.text)
        for column in layer.roles:
            hosts = _split_stack(cells[column.place])
            targets = STACKED.split(cells[column.place + 1])
            # A span without links may have a place in the targets only.
            if not hosts and targets != [NOTHING]:
                hosts = [Value("")] * len(targets)
            for number, host in enumerate(hosts):
                place = Place(layer.name, unit, host.number)
                self._extend_span((place.layer, host.number or (unit, number)), place)
                if number < len(targets):
                    self._read_targets(
                        f"{layer.name}.{column.feature}", place, column, targets[number]
                    )

    def _read_targets(self, name: str, source: Place, column: Column, cell: str) -> None:
        """Read the units to which a feature of a span leads."""
        for text in ROLE_SEPARATOR.split(cell):
            target = _parse_value(text)
            if target.text:
                place = Place(column.target, target.text, target.number)
                self._references[Reference(name, (), source, place)] = None

    def _read_chain_links(
        self, layer: Layer, unit: str, cells: Sequence[str], line_number: int
    ) -> None:
        """Read the links of chains of a row: ``RELATION->CHAIN-PLACE``, whatever the relation."""
        values = {column.feature: cells[column.place] for column in layer.features}
        if not set(values.values()) - {NOTHING, ""}:
            return
        keys = set()
        last = list(values.values())[-1]
        for text in STACKED.split(values.get("referenceRelation", last)):
            match = CHAIN_LINK.fullmatch(text)
            if match is None:
                message = f"{unit}: {quote(text)} names no chain (expected TEXT->CHAIN-PLACE)"
                self.problems.add(message, line_number)
                continue
            chain, number = match.groups()
            key = (layer.name, chain, number)
            if key in keys:
                self.problems.add(f"{unit}: {chain}-{number} is there twice", line_number)
            keys.add(key)
            if key not in self._document.spans:
                spans = self._chains.setdefault((layer.name, chain), [])
                spans.append(key)
            self._extend_span(key, Place(layer.name, unit, 0))

    def _read_relations(self, layer: Layer, unit: str, cells: Sequence[str]) -> None:
        """Read the relations that end at a unit; the column of the base layer has the units where they begin."""
        if layer.base is None:
            return
        stacks = {column.feature: _split_stack(cells[column.place]) for column in layer.features}
        for number, value in enumerate(_split_stack(cells[layer.base.place])):
            labels = []
            for feature, stack in stacks.items():
                if number < len(stack) and stack[number].text:
                    labels.append((feature, stack[number].text))
            source = Place(layer.base.target, value.text, value.number)
            target = Place(layer.base.target, unit, value.other_number)
            self._references[Reference(layer.name, tuple(labels), source, target)] = None

    def finish(self) -> StandoffDocument:
        """Return the document with its chains and links, whose spans may stand before or after them."""
        self._document.add_rows(self._words)
        for (layer, _), spans in self._chains.items():
            self._document.chains.append(Chain(layer, spans))
        for layer, labels, source, target in self._references:
            ends = (self._find_span(source), self._find_span(target))
            self._document.link(layer, *ends, dict(labels))
        return self._document

    def _find_span(self, place: Place) -> Hashable:
        """Return the id of a span; None if there is none.

        A token can be the end of a relation, and is then a span.
        """
        layer, unit, number = place
        if number:
            return self._keys.get((layer, number), self._keys.get(("", number)))
        if layer == LAYER_OF_TOKENS and unit in self._positions:
            self._extend_span(place, place)
            return place
        return self._keys.get((layer, unit))
