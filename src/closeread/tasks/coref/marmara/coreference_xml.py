"""The coreference of a document in XML, as the corpus is released: mentions by sentence and words, and chains.

Source: Schüller et al. (2018) and the files of the corpus, which have no text of their own.

Conventions: words of a mention are counted as the treebank does (IX), the last one included; the text of an element is
for readers.  A mention may be in no chain.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple
from unicodedata import normalize
from xml.sax.saxutils import escape, quoteattr

from closeread.exceptions import FormatError, Problem, ProblemList, pluralize, quote
from closeread.formats.xml_tree import Element, check_characters, read_xml
from closeread.tasks.coref.marmara.documents import Annotation, Document, Mention

SUFFIXES = (".xml", ".xml.gz")
WORD = re.compile("-?[0-9]{1,100}")
APOSTROPHES = re.compile("[’‘`´ʼ]")
SPACES = re.compile(r"[\s_]+")


class Annotations(NamedTuple):
    """The contents of coreference files.

    Attributes:
        annotations: one for each file that could be read, without what is wrong with it.
        problems: errors, with their file.
        notices: what is odd, with its file.
    """

    annotations: list[Annotation]
    problems: list[Problem]
    notices: list[Problem]


def read_annotations(files: Mapping[str, Path]) -> Annotations:
    """Read coreference files, and find whatever is wrong with them that takes no treebank to see.

    Args:
        files: the files, by the names that messages show.
    """
    annotations: list[Annotation] = []
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    for name, path in files.items():
        if not name.endswith(SUFFIXES):
            notices.append(Problem(f"is ignored (expected a name ending in {SUFFIXES[0]})", None, name))
            continue
        try:
            annotation, wrong, odd = read_annotation(name, path)
        except FormatError as error:
            problems += [problem._replace(file=name) for problem in error.problems]
        else:
            annotations.append(annotation)
            problems += [problem._replace(file=name) for problem in wrong]
            notices += [notice._replace(file=name) for notice in odd]
    if not annotations and not problems:
        problems.append(Problem(f"contains no coreference files (expected files ending in {SUFFIXES[0]})"))
    return Annotations(annotations, problems, notices)


def read_annotation(name: str, path: Path) -> tuple[Annotation, list[Problem], list[Problem]]:
    """Read a coreference file; return what is right with it, errors, and what is odd.

    Args:
        name: its name, for the annotation.
        path: the file.

    Raises:
        FormatError: the file can't be read as XML (see `closeread.formats.xml_tree`).
    """
    root = read_xml(path)
    if root.name != "coref":
        return Annotation(name, [], []), [Problem(f"the root element is {quote(root.name)} (expected coref)", 1)], []
    notices = []
    for parent, expected in _expected_elements(root):
        for child in parent.content:
            if isinstance(child, str):
                if child.strip():
                    what = f"the text {quote(child.strip())} outside a mention is ignored"
                    notices.append(Problem(what, parent.line))
            elif child.name not in expected.split(" and "):
                what = f"the element {quote(child.name)} is ignored (expected {expected})"
                notices.append(Problem(what, child.line))
    mentions, problems = _read_mentions(root)
    chains, wrong, odd = _read_chains(root, mentions)
    return Annotation(name, list(mentions.values()), chains), problems + wrong, notices + odd


def _expected_elements(root: Element) -> list[tuple[Element, str]]:
    """Return the elements that have others in them, with what is expected there."""
    chains = list(root.elements("chains"))
    return [
        (root, "mentions and chains"),
        *((mentions, "mention") for mentions in root.elements("mentions")),
        *((element, "chain") for element in chains),
        *((element, "mention") for element in chain.from_iterable(one.elements("chain") for one in chains)),
    ]


def _read_mentions(root: Element) -> tuple[dict[str, Mention], list[Problem]]:
    """Return the mentions by id, and errors; one with a wrong span is kept, so that references to it are not wrong."""
    mentions: dict[str, Mention] = {}
    spans: dict[tuple[str, int, int], Mention] = {}
    problems: list[Problem] = ProblemList()
    for element in chain.from_iterable(parent.elements("mention") for parent in root.elements("mentions")):
        m_id, sentence = (element.attributes.get(name, "").strip() for name in ("id", "sentenceNo"))
        wrong = [f"has no {name}" for name, value in (("id", m_id), ("sentenceNo", sentence)) if not value]
        first, wrong_first = _read_word(element, "fromWordIX")
        last, wrong_last = _read_word(element, "toWordIX")
        wrong += wrong_first + wrong_last
        if first is not None and last is not None and first > last:
            wrong.append(f"fromWordIX is {first}, after toWordIX {last}")
        if m_id in mentions:
            wrong.append(f"its id is already used on line {mentions[m_id].line}")
        mention = Mention(m_id, sentence, first or 0, last or 0, element.text().strip(), element.line)
        if not wrong:
            same = spans.setdefault((sentence, mention.first, mention.last), mention)
            if same is not mention:
                wrong.append(f"has the same words as mention {quote(same.id)} on line {same.line}")
        problems += [Problem(f"{describe_mention(m_id, sentence)}: {what}", element.line) for what in wrong]
        if m_id:
            mentions.setdefault(m_id, mention)
    return mentions, problems


def describe_mention(m_id: str, sentence: str) -> str:
    """Name a mention in a message."""
    place = f", sentence {quote(sentence)}" if sentence else ""
    return f"mention {quote(m_id)}{place}" if m_id else f"mention{place}"


def _read_word(element: Element, attribute: str) -> tuple[int | None, list[str]]:
    """Return the number of a word, or None and what is wrong with it."""
    text = element.attributes.get(attribute)
    if text is None:
        return None, [f"has no {attribute}"]
    if WORD.fullmatch(text.strip()) is None:
        return None, [f"{attribute} {quote(text)} is not a number"]
    if int(text) < 1:
        return None, [f"{attribute} is {int(text)} (expected 1 or more)"]
    return int(text), []


def _read_chains(
    root: Element, mentions: Mapping[str, Mention]
) -> tuple[list[list[str]], list[Problem], list[Problem]]:
    """Return the chains, without wrong references, errors, and references whose text is not that of the mention."""
    chains: list[list[str]] = []
    problems: list[Problem] = ProblemList()
    notices: list[Problem] = []
    lines: dict[str, int] = {}  # of the first reference to each mention
    for element in chain.from_iterable(parent.elements("chain") for parent in root.elements("chains")):
        references = list(element.elements("mention"))
        found: list[str] = []
        for reference in references:
            m_id = reference.attributes.get("mentionId", "").strip()
            mention = mentions.get(m_id)
            if not m_id:
                what = "mention of a chain: has no mentionId"
            elif mention is None:
                what = f"mention {quote(m_id)} of a chain: no mention has this id"
            elif m_id in lines:
                what = f"{describe_mention(m_id, mention.sentence)}: is already in a chain on line {lines[m_id]}"
            else:
                lines[m_id] = reference.line
                found.append(m_id)
                notices += _compare_reference(reference, mention)
                continue
            problems.append(Problem(what, reference.line))
        if len(references) < 2:
            named = "".join(f", {quote(one.attributes.get('mentionId', ''))}" for one in references)
            what = f"the chain has {pluralize(len(references), 'mention')}{named} (expected two or more)"
            problems.append(Problem(what, element.line))
        problems += _find_overlaps([mentions[m_id] for m_id in found], lines)
        chains.append(found)
    return chains, problems, notices


def _compare_reference(reference: Element, mention: Mention) -> list[Problem]:
    """Return a notice if the text of a reference is not that of its mention."""
    text = reference.text().strip()
    if not text or text == mention.text or normalize_text(text) == normalize_text(mention.text):
        return []
    what = f"the text in the chain is {quote(text)}, that of the mention {quote(mention.text)}"
    return [Problem(f"{describe_mention(mention.id, mention.sentence)}: {what}", reference.line)]


def _find_overlaps(mentions: Sequence[Mention], lines: Mapping[str, int]) -> list[Problem]:
    """Find mentions of a chain that overlap, at the later reference.

    Args:
        mentions: the mentions of the chain, in the order of its references.
        lines: the line of the reference to each.
    """
    places = {mention.id: place for place, mention in enumerate(mentions)}
    found: dict[str, Mention] = {}
    widest: Mention | None = None
    # In document order a mention overlaps an earlier one if it overlaps the one that reaches furthest.
    for mention in sorted(mentions, key=lambda mention: (mention.sentence, mention.first, -mention.last)):
        if not 0 < mention.first <= mention.last:  # an error already
            continue
        if widest is None or widest.sentence != mention.sentence or widest.last < mention.first:
            widest = mention
            continue
        earlier, later = sorted((widest, mention), key=lambda mention: places[mention.id])
        found.setdefault(later.id, earlier)
        widest = max(widest, mention, key=lambda mention: mention.last)
    return [
        Problem(
            f"{describe_mention(m_id, other.sentence)}: overlaps mention {quote(other.id)} of the same chain "
            f"(line {lines[other.id]})",
            lines[m_id],
        )
        for m_id, other in found.items()
    ]


def normalize_text(text: str) -> str:
    """Return what is compared of a mention's text: blanks and `_` are alike, and so are apostrophes.

    >>> normalize_text(" Ayşe’nin_evi  ") == normalize_text("Ayşe'nin evi")
    True
    """
    return SPACES.sub(" ", APOSTROPHES.sub("'", normalize("NFC", text))).strip()


def make_annotation(document: Document, file: str = "") -> Annotation:
    """Return the annotation of a record, with mentions in document order.

    Args:
        document: the record.
        file: the name of the file that it is meant for.
    """
    forms = [token["form"] for sentence in document["sentences"] for token in sentence["tokens"]]
    mentions = []
    ids: dict[tuple[int, int], str] = {}
    for one in document["mentions"]:
        text = " ".join(forms[one["start"] : one["end"] + 1])
        mentions.append(Mention(one["id"], one["sentence"], one["from"], one["to"], text, 0))
        ids[one["start"], one["end"]] = one["id"]
    chains = [[ids[start, end] for start, end in cluster] for cluster in document["clusters"]]
    return Annotation(file, mentions, chains)


def dump_annotation(annotation: Annotation) -> str:
    """Return an annotation as the text of a coreference file.

    Raises:
        ValueError: a text contains a control character, which XML can't represent.
    """
    texts = {mention.id: escape(mention.text) for mention in annotation.mentions}
    lines = ["<coref>", "<mentions>"]
    for mention in annotation.mentions:
        attributes = (("fromWordIX", mention.first), ("id", mention.id), ("sentenceNo", mention.sentence))
        written = "".join(
            f" {name}={quoteattr(str(value))}" for name, value in (*attributes, ("toWordIX", mention.last))
        )
        lines.append(f"<mention{written}>{texts[mention.id]}</mention>")
    lines += ["</mentions>", "<chains>"]
    for ids in annotation.chains:
        references = [f"<mention mentionId={quoteattr(m_id)}>{texts[m_id]}</mention>" for m_id in ids]
        lines += ["<chain>", *references, "</chain>"]
    text = "\n".join([*lines, "</chains>", "</coref>", ""])
    check_characters(text)
    return text
