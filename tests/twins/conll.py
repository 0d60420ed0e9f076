"""A slow, obvious reader of CoNLL files."""

import re


def read_conll(text):
    """Read (name, words, mentions in order of position) of each document; some exception for invalid text."""
    lines = text.removeprefix("\ufeff").split("\n")
    if re.search(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]|\r(?!\n)", text):
        raise ValueError
    documents, current = [], None
    for line in lines:
        line = line.removesuffix("\r")
        marker = re.match(r"#[ \t]*(begin|end)[ \t]+document\b", line, re.ASCII)
        if marker and marker[1] == "begin":
            name = re.fullmatch(
                r"#[ \t]*begin[ \t]+document[ \t]*\((.+)\)[ \t]*(;[ \t]*(part[ \t]+([^ \t()]+)[ \t]*)?)?",
                line.rstrip(" \t"),
            )
            if current is not None or re.search(r"[\t\x80-\x9f]", name[1] + (name[4] or "")):
                raise ValueError
            current = (name[1] + (f"; part {name[4]}" if name[4] else ""), [], [])
        elif marker:
            documents.append((current[0], *read_document(*current[1:])))
            current = None
        elif line.startswith("#"):
            if current is not None:
                current[2].append(line)
        elif line.strip(" \t"):
            current[1].append(line)
    if current is not None or not documents or len({d[0] for d in documents}) < len(documents):
        raise ValueError
    return documents


MENTIONS = r"\|(\([0-9]+\)?|[0-9]+\))(\|?(\([0-9]+\)?|[0-9]+\)))*"


def read_document(rows, comments):
    cells = [re.split(r"[ \t]+", row.strip(" \t")) for row in rows]
    firm = [len(c) for c, row in zip(cells, rows, strict=True) if not row.endswith("\t")]
    width = firm[0] if firm else len(cells[0]) if cells else 0
    for columns in (re.split(r"[ \t]+", comment.strip(" \t")) for comment in comments):
        if len(columns) == width and (columns[-1] in ("-", "_") or re.fullmatch(MENTIONS, "|" + columns[-1])):
            raise ValueError  # a token whose document or word begins with "#"
    words, mentions, stacks, numbers = [], [], {}, {}
    for token, (row, columns) in enumerate(zip(rows, cells, strict=True)):
        if row.endswith("\t") and len(columns) == width - 1:
            columns = [*columns, "-"]
        if len(columns) != width:
            raise ValueError
        words.append(columns[3 if width >= 5 else -2] if width > 1 else None)
        if columns[-1] in "-_":
            continue
        if not re.fullmatch(MENTIONS, "|" + columns[-1]):
            raise ValueError
        for opens, name, closes in re.findall(r"(\()?([0-9]+)(\))?", columns[-1]):
            if opens:
                numbers.setdefault(name, len(numbers))
                mentions.append([numbers[name], token, None])
                stacks.setdefault(name, []).append(mentions[-1])
            if closes:
                stacks[name].pop()[2] = token
    if any(stacks.values()):
        raise ValueError
    return words, sorted(map(tuple, mentions))
