"""Entity mentions in CAT XML, as annotated for TimeLine; no release contains any.

Source: Bartalesi Lenzi, Moretti and Sprugnoli (2012); the format of the corpora that the same annotators made for
NewsReader (Minard et al., 2016).

Conventions: `Markables` contains ENTITY_MENTIONs, which have tokens, and ENTITYs, which have none and are named by
TAG_DESCRIPTOR; `Relations` contains REFERS_TOs, each from one or more mentions (`source`) to their referent
(`target`).  Other markables are read by `closeread.tasks.timeline.cat_xml`; other relations are ignored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from closeread.exceptions import FormatError, Problem, pluralize, quote
from closeread.formats.folders import list_files
from closeread.formats.xml_tree import Element, read_xml
from closeread.records import ParsedFolder, Record
from closeread.tasks.timeline.cat_xml import SUFFIX, TITLES_SUFFIX, check_mentions, number_tokens, read_element

MENTION, ENTITY = "ENTITY_MENTION", "ENTITY"

T = TypeVar("T")


def read_annotations(path: Path) -> ParsedFolder:
    """Read the documents of a CAT file, or of a folder of CAT files, each with its `entity_mentions`.

    An entity mention has an `id`, `tokens` and the names of the `entities` that it refers to, possibly none.

    Raises:
        FormatError: there are no documents.
    """
    found, problems = read_each(path, read_annotation)
    return ParsedFolder(list(found.values()), [name or path.name for name in found], problems, [])


def read_each(path: Path, read: Callable[[Path], tuple[T, list[Problem]]]) -> tuple[dict[str, T], list[Problem]]:
    """Read a CAT file, or each of a folder.

    Args:
        path: the file or folder.
        read: reads a file and finds all errors.

    Returns:
        What was read, by name of file, empty if there is no folder; and the errors of all files.

    Raises:
        FormatError: the folder can't be read or contains no documents.
    """
    files, problems = list_files(path, "document", SUFFIX, TITLES_SUFFIX) if path.is_dir() else ({"": path}, [])
    found: dict[str, T] = {}
    for name, file in files.items():
        if name.endswith(TITLES_SUFFIX):
            continue  # needed only for titles
        try:
            found[name], wrong = read(file)
        except FormatError as error:
            wrong = list(error.problems)
        problems += [problem._replace(file=name or None) for problem in wrong]
    return found, problems


def read_annotation(path: Path) -> tuple[Record, list[Problem]]:
    """Read the document of a file, and find all errors.

    Raises:
        FormatError: the file can't be read as XML (see `closeread.formats.xml_tree`).
    """
    root = read_xml(path)
    document, problems, _ = read_element(root)
    numbers = number_tokens(list(root.elements("token")))
    marked = [element for markables in root.elements("Markables") for element in markables.elements()]
    mentions = [element for element in marked if element.name == MENTION]
    kinds = {element.attributes.get("m_id", ""): element for element in marked}
    problems += check_entities(root, marked, numbers)
    if not problems:
        document["entity_mentions"] = _make_entity_mentions(root, mentions, kinds, numbers)
    return document, list(dict.fromkeys(problems))  # reading the document reports those of events, too


def check_entities(root: Element, marked: Sequence[Element], numbers: Mapping[str, int]) -> Iterator[Problem]:
    """Find errors in the markables of a document and in what they refer to.

    Args:
        root: the document.
        marked: its markables.
        numbers: `t_id` to token number; empty if unknown, in which case tokens are not checked.
    """
    yield from check_mentions(marked, numbers)
    for one in marked:
        if one.name == ENTITY and not one.attributes.get("TAG_DESCRIPTOR"):
            what = f"ENTITY {quote(one.attributes.get('m_id', ''))} has no TAG_DESCRIPTOR (expected its name)"
            yield Problem(what, one.line)
    yield from _check_relations(root, {element.attributes.get("m_id", ""): element for element in marked})


def find_references(root: Element) -> Iterator[Element]:
    """Yield the relations from mentions to their referents."""
    return (one for relations in root.elements("Relations") for one in relations.elements("REFERS_TO"))


def _check_relations(root: Element, marked: Mapping[str, Element]) -> Iterator[Problem]:
    for reference in find_references(root):
        sources, targets = (list(reference.elements(name)) for name in ("source", "target"))
        if not sources or len(targets) != 1:
            found = f"has {pluralize(len(sources), 'source')} and {pluralize(len(targets), 'target')}"
            yield Problem(f"REFERS_TO {found} (expected at least one source and exactly one target)", reference.line)
            continue
        ends = [*sources, *targets]
        unknown = [end for end in ends if end.attributes.get("m_id") not in marked]
        for end in unknown:
            yield Problem(f"{end.name}: no markable has the m_id {quote(end.attributes.get('m_id', ''))}", end.line)
        if not unknown and marked[targets[0].attributes["m_id"]].name == ENTITY:
            for source in sources:
                name = marked[source.attributes["m_id"]].name
                if name != MENTION:
                    yield Problem(f"{quote(name)} refers to an ENTITY (expected {MENTION})", source.line)


def _make_entity_mentions(
    root: Element, mentions: list[Element], marked: Mapping[str, Element], numbers: Mapping[str, int]
) -> list[Record]:
    entities: dict[str, list[str]] = {mention.attributes["m_id"]: [] for mention in mentions}
    for reference in find_references(root):
        target = marked[next(reference.elements("target")).attributes["m_id"]]
        if target.name == ENTITY:
            for source in reference.elements("source"):
                entities[source.attributes["m_id"]].append(target.attributes["TAG_DESCRIPTOR"])
    return [
        {
            "id": mention.attributes["m_id"],
            "tokens": [numbers[anchor.attributes["t_id"]] for anchor in mention.elements("token_anchor")],
            "entities": list(dict.fromkeys(entities[mention.attributes["m_id"]])),
        }
        for mention in mentions
    ]
