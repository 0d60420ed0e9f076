"""A slow, obvious reader of CoNLL files; brackets are matched as by the reference scorer (8.01)."""

import re
from typing import NamedTuple


class Document(NamedTuple):
    """A document: mentions (entity, start, end) in ascending order, entities numbered in the order of the file.

    `met` has the entities in the order in which the reference scorer meets them, `reopened` the tokens on which an
    entity closes and opens again.
    """

    name: str
    words: list
    mentions: list
    met: list
    reopened: list


def read_conll(text, word_column=None):
    """Read the documents; some exception for invalid text."""
    lines = text.removeprefix("\ufeff").split("\n")
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)", text):
        raise ValueError
    documents, current = [], None
    for line in lines:
        line = line.removesuffix("\r")
        marker = re.match(r"#[ \t]*(begin|end)[ \t]+document\b", line, re.ASCII)
        if marker and marker[1] == "begin":
            if current is not None:
                raise ValueError
            rest = line[marker.end() :].rstrip(" \t")
            name = read_name(rest) if rest else str(len(documents) + 1)
            current = (name, rest.strip(" \t")[:1] != "(", [], [])
        elif marker:
            documents.append(read_document(*current, word_column))
            current = None
        elif line.startswith("#"):
            if current is not None:
                current[3].append(line)
        elif line.strip(" \t"):
            current[2].append(line)
    if current is not None or not documents or len({d.name for d in documents}) < len(documents):
        raise ValueError
    return documents


def read_name(rest):
    """The name of a document, with its part."""
    form = r"\((.+)\)" if rest.strip(" \t").startswith("(") else r"[ \t]([^;].*?)"
    parts = re.fullmatch(rf"[ \t]*{form}[ \t]*(;[ \t]*(part[ \t]+([^ \t()]+))?)?", rest)
    name = parts[1].strip(" \t") if form[1] != "(" else parts[1]
    name += f"; part {parts[4]}" if parts[4] else ""
    if re.search(r"[\t\x80-\x9f]", name):
        raise ValueError
    return name


ID = r"[0-9A-Za-z][^()|*+\x00-\x20\x7f-\x9f]*"
MENTIONS = rf"\|(\({ID}\)?|{ID}\))(\|?(\({ID}\)?|{ID}\)))*"


def read_document(name, is_bare, rows, comments, word_column):
    cells = [re.split(r"[ \t]+", row.strip(" \t")) for row in rows]
    firm = [c for c, row in zip(cells, rows, strict=True) if "\t\t" not in f"\t{row}\t"]
    row = (firm or cells or [[]])[0]
    width = len(row)
    for columns in (re.split(r"[ \t]+", comment.strip(" \t")) for comment in comments):
        last = columns[-1]
        if len(columns) == width and (
            last in ("-", "_") or (re.fullmatch(MENTIONS, "|" + last) and re.search("[0-9]", last))
        ):
            raise ValueError  # a token whose document or word begins with "#"
    if word_column is not None and width:
        if word_column >= width:
            raise ValueError
        place = word_column - 1
    elif width >= 4 and re.fullmatch("[0-9]+", row[0]) and (is_bare or not re.fullmatch("[0-9]+", row[1])):
        place = 1
    else:
        place = 3 if width >= 5 else -2
    words, last_cells = [], []
    for line, columns in zip(rows, cells, strict=True):
        if line.endswith("\t") and len(columns) == width - 1:
            columns = [*columns, "-"]
        between_tabs = [column.strip(" ") for column in line.split("\t")]
        if len(columns) < width == len(between_tabs) and not any(" " in column for column in between_tabs):
            columns = [*between_tabs[:-1], between_tabs[-1] or "-"]
        if len(columns) != width:
            raise ValueError
        words.append(columns[place] if width > 1 else None)
        last_cells.append(columns[-1])
    return Document(name, words, *read_mentions(last_cells))


def read_mentions(cells):
    """Mentions, the entities in the order of the reference scorer, and the tokens where one closes and opens again."""
    mentions, stacks, numbers, met, reopened = [], {}, {}, [], []
    for token, cell in enumerate(cells):
        if cell in "-_":
            continue
        if not re.fullmatch(MENTIONS, "|" + cell):
            raise ValueError
        pieces = re.findall(rf"(\()?({ID})(\))?", cell)
        for opens, label, _ in pieces:
            if opens:
                numbers.setdefault(label, len(numbers))
        for opens, label, closes in pieces:
            if opens and closes:
                mentions.append((numbers[label], token, token))
                met.append(numbers[label])
        for opens, label, closes in pieces:
            if opens and not closes:
                stacks.setdefault(label, []).append(token)
                met.append(numbers[label])
        for opens, label, _ in pieces:
            if not opens:
                mentions.append((numbers[label], stacks[label].pop(), token))
        halves = [(label, opens) for opens, label, closes in pieces if not (opens and closes)]
        if any((label, "(") in halves[i + 1 :] for i, (label, opens) in enumerate(halves) if not opens):
            reopened.append(token)
    if any(stacks.values()):
        raise ValueError
    return sorted(mentions), list(dict.fromkeys(met)), reopened
