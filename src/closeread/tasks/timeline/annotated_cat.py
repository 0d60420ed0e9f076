"""Annotated documents in CAT XML: which mentions refer to which entities.

Sources: Minard et al. (2015), section 3, as annotated for TimeLine; no release contains such documents.  Bartalesi
Lenzi, Moretti and Sprugnoli (2012).

`Markables` contains ENTITY_MENTIONs, which have tokens, and ENTITYs, which have none and are named by TAG_DESCRIPTOR.
`Relations` contains REFERS_TOs from one or more mentions (`source`) to their referent (`target`); other relations are
ignored.  Other markables are read by `closeread.tasks.timeline.cat_xml`.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path

from closeread.corpus.notices import warn_all
from closeread.exceptions import (
    Problem,
    ProblemList,
    describe_problems,
    pluralize,
    quote,
)
from closeread.formats.folders import list_files
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import Parsed, Record, find_repeated
from closeread.tasks.timeline.cat_xml import (
    ENTITY_MENTION,
    SUFFIX,
    TITLES_SUFFIX,
    find_tokens,
    list_markables,
    number_tokens,
    read_each,
    read_element,
)

ENTITY = "ENTITY"


def read_annotations(path: Path) -> tuple[Sequence[Record], list[Problem]]:
    """Read the documents of a CAT file, or of a folder of CAT files, and find all errors.

    Each has its `entity_mentions`: their `tokens`, and the names of the `entities` that they refer to, possibly none.
    """
    if not path.is_dir():
        return [_read_annotation(path)], []
    files, problems, notices = list_files(path, "document", SUFFIX, TITLES_SUFFIX)
    warn_all(describe_problems(str(path), notices))
    documents, errors = read_each(files, SUFFIX, _read_annotation)
    parsed = Parsed(list(documents.values()), list(documents), [], [])
    return list(parsed.records), problems + errors + find_repeated(parsed, "id", "id")


def _read_annotation(file: Path) -> Record:
    root = read_xml(file)
    problems = ProblemList()
    markables = list_markables(root)
    document = read_element(root, problems, checks_all=True).document
    by_id = {}
    for markable in markables:
        m_id = markable.attributes.get("m_id", "")
        if m_id:
            by_id[m_id] = markable
        if markable.name == ENTITY and not markable.attributes.get("TAG_DESCRIPTOR"):
            message = f"ENTITY {quote(m_id)} has no TAG_DESCRIPTOR (expected its name)"
            problems.add(message, markable.line)
    # for each mention, the names of its entities, as the keys of a dictionary
    entities: dict[str, dict[str, None]] = defaultdict(dict)
    for relations in root.elements("Relations"):
        for reference in relations.elements("REFERS_TO"):
            sources, target = _read_reference(reference, by_id, problems)
            if target is not None and target.name == ENTITY:
                entity = target.attributes.get("TAG_DESCRIPTOR", "")
                for source in sources:
                    entities[source.attributes["m_id"]][entity] = None
    problems.raise_any(file)
    numbers = number_tokens(root)
    document["entity_mentions"] = []
    for markable in markables:
        if markable.name == ENTITY_MENTION:
            m_id = markable.attributes["m_id"]
            mention = {
                "id": m_id,
                "tokens": find_tokens(markable, numbers),
                "entities": list(entities[m_id]),
            }
            document["entity_mentions"].append(mention)
    return document


def _read_reference(
    reference: Element, by_id: Mapping[str, Element], problems: ProblemList
) -> tuple[Sequence[Element], Element | None]:
    """Return the mentions of a reference and what they refer to; None if the reference has errors."""
    sources = list(reference.elements("source"))
    targets = list(reference.elements("target"))
    if not sources or len(targets) != 1:
        counts = f"{pluralize(len(sources), 'source')} and {pluralize(len(targets), 'target')}"
        expected = "at least one source and exactly one target"
        problems.add(f"REFERS_TO has {counts} (expected {expected})", reference.line)
        return [], None
    unknown = [end for end in (*sources, *targets) if end.attributes.get("m_id") not in by_id]
    for end in unknown:
        m_id = quote(end.attributes.get("m_id", ""))
        problems.add(f"{end.name}: no markable has the m_id {m_id}", end.line)
    if unknown:
        return [], None
    target = by_id[targets[0].attributes["m_id"]]
    mentions = [by_id[source.attributes["m_id"]] for source in sources]
    for source, mention in zip(sources, mentions, strict=True):
        if target.name == ENTITY and mention.name != ENTITY_MENTION:
            message = f"{quote(mention.name)} refers to an ENTITY (expected {ENTITY_MENTION})"
            problems.add(message, source.line)
    return mentions, target
