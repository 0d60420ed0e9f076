"""What of an annotation says that spans are the same entity, found or chosen.

It may be a layer of chains, links (a layer of relations, a label of them, or a feature that links), or a feature whose
values are entities.  If a file has more than one of them, nothing is guessed: a left-over chain may be beside the real
annotation, and relations of bridging beside those of identity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Sequence
from typing import Literal, NamedTuple

from closeread.exceptions import (
    RequestError,
    describe_unknown,
    join_names,
    name_option,
    pluralize,
    quote,
)
from closeread.tasks.coref.formats import StandoffOptions
from closeread.tasks.coref.formats.standoff.records import (
    CLUSTERS,
    Chain,
    Link,
    StandoffDocument,
    StandoffSpan,
)

LABEL = "label"
"""The feature that stands for the label of a span, whose number, as in "Ida-4", makes it the name of an entity."""

NUMBERED_LABEL = re.compile(r".+-[0-9]+")

NAME_OF_ENTITY_FEATURE = re.compile(r"coref|chain|cluster|entity", re.IGNORECASE)

NOT_COREFERENCE = re.compile(r"\.(?:syntax|semantics)\.type\.")
"""Layers of relations that are part of every project of INCEpTION."""

TOKEN_LAYER = re.compile(r"(?:.*\.)?Token")

MAX_LISTED = 5
"""How many labels of a layer an error lists."""


class Model(NamedTuple):
    """What says that spans are the same entity.

    Attributes:
        kind: a layer of chains, links, or a feature of spans.
        name: the layer of the chains or links, or the feature.
        values: the labels of the links; None for all of them.
        label_feature: the feature of links that is their label; empty for the first.
    """

    kind: Literal["chain", "relation", "feature"]
    name: str
    values: frozenset[str] | None = None
    label_feature: str = ""

    def has_link(self, link: Link) -> bool:
        """Return whether a link is one of these."""
        if self.kind != "relation" or link.layer != self.name:
            return False
        return self.values is None or link.label(self.label_feature) in self.values

    @property
    def title(self) -> str:
        """Its name for notices."""
        if self.kind == "chain":
            return f"the layer {self.name}"
        if self.kind == "feature":
            return f"the feature {self.name}"
        if self.values is None:
            return f"the relation {self.name}"
        return f"the relation {self.name} (label {', '.join(sorted(self.values))})"


class Candidate(NamedTuple):
    """A model that a file may have.

    Attributes:
        model: the model.
        option: the option that chooses it.
        size: how much there is of it.
    """

    model: Model
    option: str
    size: str


def choose_models(
    documents: Sequence[StandoffDocument], options: StandoffOptions, source: str
) -> tuple[list[Model], str]:
    """Return what makes entities, as the options say, or what the documents have; and a notice if it was found.

    Messages name the source, if there is only one.

    Raises:
        RequestError: there are several candidates, or what the options name is nowhere.
    """
    if options.relation:
        return list(_parse_relations(documents, options.relation)), ""
    if options.entity_feature:
        features = list(dict.fromkeys(_list_features(documents)))
        return [Model("feature", _find_name(options.entity_feature, features, "feature"))], ""
    if options.layer:
        layers = list(dict.fromkeys(chain.layer for chain in _list_chains(documents)))
        names = options.layer.split(",")
        return [Model("chain", _find_name(name, layers, "layer of chains")) for name in names], ""
    candidates = list(_list_candidates(documents))
    if not candidates:
        candidates = list(_list_feature_candidates(documents))
    if len(candidates) > 1:
        width = max(len(candidate.option) for candidate in candidates)
        lines = [f"  {candidate.option:{width}}  {candidate.size}" for candidate in candidates]
        places = f"coreference could be in {len(candidates):,} places; choose with"
        heading = f"{source}: {places}" if source else places
        raise RequestError("\n".join([heading, *lines]))
    if not candidates:
        return [], ""
    (candidate,) = candidates
    if candidate.model.name == CLUSTERS:
        return [candidate.model], ""
    return [candidate.model], f"coreference is read from {candidate.model.title}."


def _list_chains(documents: Iterable[StandoffDocument]) -> Iterator[Chain]:
    for document in documents:
        yield from document.chains


def _list_links(documents: Iterable[StandoffDocument]) -> Iterator[Link]:
    for document in documents:
        yield from document.links


def _list_features(documents: Iterable[StandoffDocument]) -> Iterator[str]:
    """Yield the names of features of spans, and `LABEL`."""
    yield LABEL
    for document in documents:
        for span in document.spans.values():
            yield from span.features


def _find_name(name: str, names: Sequence[str], kind: str) -> str:
    """Return the one of the names names that a user means, who may leave out what is before the last dot."""
    if name in names:
        return name
    matching = [other for other in names if other.rpartition(".")[2] == name]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise RequestError(f"{kind} {quote(name)} could be any of {join_names(matching)}")
    raise RequestError(describe_unknown(kind, name, names))


def _parse_relations(documents: Sequence[StandoffDocument], text: str) -> Iterator[Model]:
    """Yield the models of ``NAME,NAME`` or ``NAME=VALUE,VALUE`` or ``NAME:FEATURE=VALUE``."""
    layers = list(dict.fromkeys(link.layer for link in _list_links(documents)))
    if text == "all":
        yield from (Model("relation", layer) for layer in layers)
        return
    name, has_values, listed = text.partition("=")
    if not has_values:
        for layer in text.split(","):
            yield Model("relation", _find_name(layer, layers, "relation"))
        return
    name, _, feature = name.partition(":")
    layer = _find_name(name, layers, "relation")
    values = listed.split(",")
    labels = Counter(link.label(feature) for link in _list_links(documents) if link.layer == layer)
    for value in values:
        if value not in labels:
            raise RequestError(describe_unknown(f"label of {layer}", value, list(labels)))
    yield Model("relation", layer, frozenset(values), feature)


def _list_candidates(documents: Sequence[StandoffDocument]) -> Iterator[Candidate]:
    """Yield the layers of chains, and the relations, that documents have."""
    chains: Counter[str] = Counter()
    mentions: Counter[str] = Counter()
    # Chains of one mention say little, unless there are no others.
    has_longer = any(len(chain.spans) > 1 for chain in _list_chains(documents))
    for chain in _list_chains(documents):
        if len(chain.spans) > 1 or not has_longer:
            chains[chain.layer] += 1
            mentions[chain.layer] += len(chain.spans)
    for layer, n_chains in chains.items():
        size = f"{pluralize(n_chains, 'chain')}, {pluralize(mentions[layer], 'mention')}"
        yield Candidate(Model("chain", layer), name_option("layer", layer), size)
    labels_by_layer: dict[str, Counter[str]] = {}
    for document in documents:
        for link in document.links:
            ends = (document.spans[link.source], document.spans[link.target])
            is_between_tokens = all(TOKEN_LAYER.fullmatch(span.layer) for span in ends)
            if is_between_tokens or NOT_COREFERENCE.search(link.layer):
                continue
            labels_by_layer.setdefault(link.layer, Counter())[link.label()] += 1
    for layer, labels in labels_by_layer.items():
        yield from _list_labels(layer, labels)


def _list_labels(layer: str, labels: Counter[str]) -> Iterator[Candidate]:
    """Yield a layer of relations, or each of its labels if it has several."""
    for label, number in labels.most_common(MAX_LISTED):
        if len(labels) == 1:
            model = Model("relation", layer)
            # An empty name needs "=" to be an option's value.
            value = layer or "="
            has_label = bool(layer)
        else:
            model = Model("relation", layer, frozenset([label]))
            value = f"{layer}={label}"
            has_label = bool(label)
        size = pluralize(number, "link")
        if not has_label:
            size += " without a label"
        yield Candidate(model, name_option("relation", value), size)


def _list_feature_candidates(documents: Sequence[StandoffDocument]) -> Iterator[Candidate]:
    """Yield the features whose names tell that their values are entities, and labels with numbers."""
    n_values: Counter[str] = Counter()
    for document in documents:
        for span in document.spans.values():
            n_values.update(name for name, value in span.features.items() if value)
            n_values[LABEL] += NUMBERED_LABEL.fullmatch(span.layer) is not None
    for feature, number in n_values.items():
        is_named_so = feature == LABEL or NAME_OF_ENTITY_FEATURE.search(feature)
        if is_named_so and number > 1:
            option = name_option("entity_feature", feature)
            size = f"{pluralize(number, 'span')} with a value"
            yield Candidate(Model("feature", feature), option, size)


def entity_of(span: StandoffSpan, feature: str) -> str:
    """Return the name of a span's entity, a feature's value; empty if it has none."""
    if feature != LABEL:
        return span.features.get(feature, "")
    return span.layer if NUMBERED_LABEL.fullmatch(span.layer) else ""


def find_mention_layers(
    documents: Iterable[StandoffDocument], models: Sequence[Model], chosen: str
) -> set[str] | None:
    """Return the layers, or labels, whose spans are mentions even without a link; None for all of them.

    They are those that are named, or else those of spans that a link of the models has in any document.
    """
    first = models[0]
    if first.kind == "chain":
        return set()
    if chosen:
        return set(chosen.split(","))
    if first == Model("feature", LABEL):
        return None
    layers = set()
    for document in documents:
        for link in document.links:
            if any(model.has_link(link) for model in models):
                layers |= {document.spans[link.source].layer, document.spans[link.target].layer}
        for span in document.spans.values():
            if first.kind == "feature" and first.name in span.features:
                layers.add(span.layer)
    return layers


class SpanEntity(NamedTuple):
    """An entity: its name, which may be empty, and the ids of its spans."""

    label: str
    spans: Sequence[Hashable]


def group_spans(
    document: StandoffDocument, models: Sequence[Model], mention_layers: set[str] | None
) -> tuple[list[SpanEntity], list[Hashable]]:
    """Return the entities of a document, and the mentions that belong to none of them."""
    # The group of each span that belongs to others, directly or by others: all of its spans, in one list.
    groups: dict[Hashable, list[Hashable]] = {}
    label_by_span: dict[Hashable, str] = {}
    for model in models:
        if model.kind == "chain":
            for chain in document.chains:
                if chain.layer == model.name and chain.spans:
                    for span in chain.spans:
                        _join(groups, span, chain.spans[0])
        elif model.kind == "relation":
            for link in document.links:
                if model.has_link(link):
                    _join(groups, link.source, link.target)
        else:
            first_by_entity: dict[str, Hashable] = {}
            for key, span in document.spans.items():
                entity = entity_of(span, model.name)
                if entity:
                    _join(groups, key, first_by_entity.setdefault(entity, key))
                    label_by_span[key] = entity
    spans_by_group: dict[int, list[Hashable]] = {}
    unlinked = []
    for key, span in document.spans.items():
        if key in groups:
            spans_by_group.setdefault(id(groups[key]), []).append(key)
        elif mention_layers is None or span.layer in mention_layers:
            unlinked.append(key)
    entities = []
    for spans in spans_by_group.values():
        labels = {label_by_span.get(span, "") for span in spans}
        entities.append(SpanEntity(labels.pop() if len(labels) == 1 else "", spans))
    return entities, unlinked


def _join(groups: dict[Hashable, list[Hashable]], span: Hashable, other: Hashable) -> None:
    """Make one group of those of two spans."""
    both = (groups.setdefault(span, [span]), groups.setdefault(other, [other]))
    smaller, larger = sorted(both, key=len)
    if smaller is not larger:
        larger += smaller
        groups.update(dict.fromkeys(smaller, larger))
