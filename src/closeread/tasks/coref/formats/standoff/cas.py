"""UIMA CAS as XMI and as JSON, INCEpTION's exports: a document is a set of feature structures.

What a feature structure is shows in its features, so that the type system is not needed: a chain has `first`, a link of it
`next`, a relation `Governor` and `Dependent`, a link of a feature `target`.  Offsets count UTF-16 units.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.formats.json_lines import decode_json
from closeread.formats.xml_tree import Element, build_tree
from closeread.tasks.coref.formats.standoff.records import (
    AnnotatorDocuments,
    Chain,
    StandoffDocument,
    StandoffFile,
    StandoffSpan,
    find_code_points,
)

XMI_NAMESPACE = re.compile(r"http:///(.*)\.ecore")

ANNOTATION_FEATURES = ("begin", "end", "sofa", "flavor", "Governor", "Dependent")
"""The features of annotations that are no labels."""

NO_SPANS = ("Sentence", "DocumentMetaData", "DocumentAnnotation", "TagsetDescription")
"""Types with a begin and an end that nobody marks."""

INITIAL_VIEW = "_InitialView"


class FeatureStructure(NamedTuple):
    """A feature structure.

    Attributes:
        type: the name of its type.
        features: its features as text; those that refer to others are their ids, separated by blanks.
        line: its line; None if it is unknown.
    """

    type: str
    features: Mapping[str, str]
    line: int | None = None

    @property
    def short_type(self) -> str:
        """The name of its type without the package."""
        return self.type.rpartition(".")[2]

    @property
    def is_annotation(self) -> bool:
        """Whether it has a place in the text."""
        return "begin" in self.features and "end" in self.features


Structures = Mapping[str, FeatureStructure]
"""Feature structures by their ids."""


def read_xmi(file: StandoffFile) -> AnnotatorDocuments:
    """Read a document of XMI."""
    root = build_tree(Path(file.name), file.data)
    packages = {}
    for name, value in root.attributes.items():
        match = XMI_NAMESPACE.fullmatch(value)
        if name.startswith("xmlns:") and match:
            packages[name.removeprefix("xmlns:")] = match[1].replace("/", ".")
    structures = {}
    for node in root.elements():
        if "xmi:id" in node.attributes:
            prefix, _, local_name = node.name.rpartition(":")
            package = packages.get(prefix, "uima")
            features = dict(_list_features(node))
            structure = FeatureStructure(f"{package}.{local_name}", features, node.line)
            structures[node.attributes["xmi:id"]] = structure
    return {"": [_read_structures(structures, file.name)]}


def _list_features(node: Element) -> Iterator[tuple[str, str]]:
    """Yield the features of a feature structure; those with several values may be elements."""
    for name, value in node.attributes.items():
        if not name.startswith("xmi:"):
            yield name, value
    values: dict[str, list[str]] = {}
    for child in node.elements():
        values.setdefault(child.name, []).append(child.text())
    for name, texts in values.items():
        yield name, " ".join(texts)


def read_cas_json(file: StandoffFile) -> AnnotatorDocuments:
    """Read a document of CAS JSON 0.4."""
    content = decode_json(file.text, file.name)
    listed = content.get("%FEATURE_STRUCTURES", []) if isinstance(content, Mapping) else None
    if isinstance(listed, Mapping):
        listed = [
            {"%ID": number, **structure} if isinstance(structure, Mapping) else structure
            for number, structure in listed.items()
        ]
    if not isinstance(listed, Sequence):
        problem = Problem("has no list of feature structures (expected UIMA CAS JSON 0.4)")
        raise FormatError(file.name, [problem])
    structures = {}
    problems = ProblemList()
    for number, structure in enumerate(listed):
        if not isinstance(structure, Mapping) or not {"%ID", "%TYPE"} <= structure.keys():
            problems.add(f"%FEATURE_STRUCTURES[{number}] has no %ID and %TYPE")
            continue
        features = {}
        for name, value in structure.items():
            if not name.startswith(("%", "^")):
                features[name.lstrip("@#")] = _to_text(value)
        if "%ELEMENTS" in structure:
            features["elements"] = _to_text(structure["%ELEMENTS"])
        structures[str(structure["%ID"])] = FeatureStructure(str(structure["%TYPE"]), features)
    problems.raise_any(file.name)
    return {"": [_read_structures(structures, file.name)]}


def _to_text(value: Any) -> str:
    """Return a value of JSON as XMI has it."""
    if isinstance(value, list):
        return " ".join(map(_to_text, value))
    return "" if value is None else str(value)


def _read_structures(structures: Structures, file: str) -> StandoffDocument:
    """Return what feature structures say of a document."""
    sofa_id = _choose_sofa(structures, file)
    text = structures[sofa_id].features.get("sofaString", "")
    document = StandoffDocument(text=text)
    code_points = find_code_points(text)
    problems = ProblemList()
    tokens = []
    sentences = []
    relations = []
    for number, structure in structures.items():
        is_elsewhere = structure.features.get("sofa", sofa_id) != sofa_id
        if not structure.is_annotation or is_elsewhere:
            continue
        begin = structure.features["begin"]
        end = structure.features["end"]
        is_valid = begin.isdecimal() and end.isdecimal() and int(begin) <= int(end)
        if not is_valid or int(end) >= len(code_points):
            expected = f"expected 0 <= begin <= end <= {len(code_points) - 1:,}"
            description = f"a {structure.short_type} is at {quote(begin)} to {quote(end)}"
            problems.add(f"{description} ({expected})", structure.line)
            continue
        positions = (code_points[int(begin)], code_points[int(end)])
        if {"Governor", "Dependent"} <= structure.features.keys():
            relations.append(structure)
            continue
        if structure.short_type == "Sentence":
            sentences.append(positions)
        if structure.short_type == "Token":
            tokens.append(positions)
        if structure.short_type not in NO_SPANS:
            document.spans[number] = StandoffSpan(
                structure.type, [positions], _list_labels(structure)
            )
        if structure.short_type == "DocumentMetaData":
            # INCEpTION has the annotator's name in documentId.
            names = ("documentTitle", "documentId")
            texts = [structure.features.get(name, "") for name in names]
            document.name = next(filter(None, texts), "")
    problems.raise_any(file)
    visible = sorted({token for token in tokens if token[0] < token[1]})
    if len(visible) < len(tokens):
        left_out = pluralize(len(tokens) - len(visible), "token")
        document.notices.append(f"{left_out} without characters left out.")
    document.tokens = visible or None
    document.sentences = sorted(sentences)
    for structure in relations:
        source = structure.features["Governor"]
        target = structure.features["Dependent"]
        document.link(structure.type, source, target, _list_labels(structure))
    _add_linking_features(document, structures)
    _add_chains(document, structures, file)
    _drop_tokens(document)
    return document


def _choose_sofa(structures: Structures, file: str) -> str:
    """Return the id of the text: that of the initial view, or of the only one."""
    sofas = [number for number, structure in structures.items() if structure.short_type == "Sofa"]
    for number in sofas:
        if structures[number].features.get("sofaID") == INITIAL_VIEW:
            return number
    if len(sofas) != 1:
        problem = Problem(f"has {pluralize(len(sofas), 'text')} (expected one)")
        raise FormatError(file, [problem])
    return sofas[0]


def _list_labels(structure: FeatureStructure) -> dict[str, str]:
    """Return the features of an annotation that people give it."""
    return {
        name: value
        for name, value in structure.features.items()
        if name not in ANNOTATION_FEATURES and value
    }


def _follow(structures: Structures, structure: FeatureStructure, feature: str) -> Iterator[str]:
    """Yield the ids to which a feature refers, those in arrays included; nothing if its value is no reference."""
    for number in structure.features.get(feature, "").split():
        if number not in structures:
            return
        if structures[number].short_type.endswith(("[]", "Array")):
            yield from structures[number].features.get("elements", "").split()
        else:
            yield number


def _add_linking_features(document: StandoffDocument, structures: Structures) -> None:
    """Add the links of features whose values are links, which have a target."""
    for number in list(document.spans):
        structure = structures[str(number)]
        for feature in structure.features:
            if feature in (*ANNOTATION_FEATURES, "next"):
                continue
            for link in _follow(structures, structure, feature):
                if link in structures and "target" in structures[link].features:
                    target = structures[link].features["target"]
                    document.link(f"{structure.type}.{feature}", number, target)


def _add_chains(document: StandoffDocument, structures: Structures, file: str) -> None:
    """Add the chains, and the links of chains that no chain reaches as chains of their own."""
    problems = ProblemList()
    reached: set[Hashable] = set()
    layers = set()
    for structure in structures.values():
        if structure.is_annotation or "first" not in structure.features:
            continue
        spans: list[str] = []
        span = structure.features["first"]
        while span in document.spans:
            if span in reached:
                problems.add(f"a chain comes back to its link {span}", structure.line)
                break
            reached.add(span)
            spans.append(span)
            span = structures[span].features.get("next", "")
        if spans:
            layer = document.spans[spans[0]].layer
            layers.add(layer)
            document.chains.append(Chain(layer, spans))
    problems.raise_any(file)
    unreached = [
        key for key, span in document.spans.items() if span.layer in layers and key not in reached
    ]
    for key in unreached:
        document.chains.append(Chain(document.spans[key].layer, [key]))
    if unreached:
        links = pluralize(len(unreached), "mention")
        document.notices.append(f"{links} of no chain read as entities of one mention.")


def _drop_tokens(document: StandoffDocument) -> None:
    """Leave out the tokens among the spans, but for those that a link has."""
    linked: set[Hashable] = set()
    for link in document.links:
        linked.update((link.source, link.target))
    document.spans = {
        key: span
        for key, span in document.spans.items()
        if span.layer.rpartition(".")[2] != "Token" or key in linked
    }
