"""Changes to files: to their bytes, their words and lines, and to the values inside their JSON."""

import json
import re

PIECES = (
    *(b"\n", b"\r", b"\r\n", b"\t", b" ", b"\0", b"\x1b[31m", b"\x7f", b"\x9b", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3"),
    *(text.encode() for text in ("\u2028", "\u202e", "\u00a0", "\x85", "İ", "ß", "\ufb01", "e\u0301", "😀", "٣", "²")),
    *rb"""" ' \ { } [ ] ( ) | < > & &amp; &#0; _ - * # = : , ; / .. % + -1 0 00 1 1.0 1e5 1e999 NaN Infinity null true
        2147483647 2147483648 9223372036854775808 -9223372036854775809 <![CDATA[ --> <?xml?> XXXX-XX-XX""".split(),
    *(b"\xed\xa0\x80", b"9" * 400, b"[" * 2000, b"<a>" * 300, b"<!DOCTYPE a [<!ENTITY x 'y'>]>", b'"id": "x", '),
    *(b"# ", b"#begin document (a)", b"#end document", b"# newdoc", b"# sent_id = 1"),
)
WORD = re.compile(rb"[^\s<>\"'|,;:=()\[\]{}]+")
RAW = {
    **{f"@{i}@": text for i, text in enumerate(("NaN", "-Infinity", "1e400", "1.0", "-0.0", "-0", "1E2", "9" * 60))},
    "@s@": r'"\ud800"',
    "@e@": r'"\u001b[31m"',
    "@n@": r'"\u0000"',
    "@d@": '{"id": 1, "id": 2}',
    "@f@": "0.1",
    "@k@": '{"\\ud800": 1}',
    "@b@": '"\\u202e"',
    "@x@": "[" * 60 + "]" * 60,
    "@w@": "123456789012",
}
"""What Python's JSON can't write, by what stands for it."""

VALUES = (None, True, False, 0, 1, -1, 2**31, 2**63, 2**64, 10**30, 0.5, "", " ", "x", "0", "1", "é", [], {}, [[]], [0])


def mutate(rng, data, others):
    """Return other bytes.

    Args:
        rng: a `random.Random`.
        data: the content of a file.
        others: the contents of others, from which pieces are taken.
    """
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        data = rng.choice((_change_bytes, _change_words, _change_words, _change_lines, _change_json))(rng, data, others)
    return data


def _change_bytes(rng, data, others):
    start = rng.randrange(len(data) + 1)
    end = min(len(data), start + rng.choice((0, 1, 1, 4, 40, 4000)))
    before, cut, after, other = data[:start], data[start:end], data[end:], rng.choice(others)
    encoding = rng.choice(("utf-16", "utf-16-le", "utf-8-sig", "latin-1", "utf-7", "utf-32"))
    return rng.choice(
        (
            before + bytes([cut[0] ^ 1 << rng.randrange(8)]) + cut[1:] + after if cut else before,
            before + after,
            before + cut + cut * rng.choice((1, 1, 2, 50)) + after,
            before + other[rng.randrange(len(other) + 1) :],
            before,
            data.decode("utf-8", "replace").encode(encoding, "replace"),
            before + rng.choice(PIECES) + after,
            before + rng.choice(PIECES) + cut + after,
        )
    )


def _change_words(rng, data, others):
    """Put another word of the same file, or one that is none, in the place of a word."""
    words = list(WORD.finditer(data))
    if not words:
        return data
    one, other = rng.choice(words), rng.choice(words)
    new = rng.choice((other.group(), other.group(), rng.choice(PIECES), _change_number(rng, one.group()), b""))
    return data[: one.start()] + new + data[one.end() :]


def _change_number(rng, word):
    digits = re.search(rb"[0-9]+", word)
    if digits is None or len(digits.group()) > 30:
        return word + rng.choice(PIECES)
    new = int(digits.group()) + rng.choice((-1, 1, 1, 10, 2**31, 2**63))
    return word[: digits.start()] + str(new).encode() + word[digits.end() :]


def _change_lines(rng, data, others):
    lines = data.splitlines(keepends=True) or [b""]
    place, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    kind = rng.randrange(5)
    if kind == 0:
        lines[place], lines[other] = lines[other], lines[place]
    elif kind == 1:
        lines.insert(place, lines[other])
    elif kind == 2:
        del lines[place]
    elif kind == 3:
        separator = rng.choice((b"\t", b",", b" ", b"|", b";"))
        cells = lines[place].split(separator)
        rng.shuffle(cells)
        lines[place] = separator.join(cells)
    else:
        found = rng.choice(others).splitlines(keepends=True) or [b""]
        lines.insert(place, rng.choice(found))
    return b"".join(lines)


def _change_json(rng, data, others):
    """Change a value, a key or the length of an array in one line of JSON; words of what is none."""
    lines = data.splitlines()
    place = rng.randrange(len(lines)) if lines else 0
    try:
        value = json.loads(lines[place])
    except (ValueError, IndexError, RecursionError):
        return _change_words(rng, data, others)
    nodes = list(_walk(value, [], None))
    holder, key = rng.choice(nodes)
    if holder is None:
        value = rng.choice((value, [value], *VALUES))
    else:
        _change_node(rng, holder, key, nodes)
    text = json.dumps(value, ensure_ascii=rng.random() < 0.5)
    for stand_in, raw in RAW.items():
        text = text.replace(f'"{stand_in}"', raw)
    lines[place] = text.encode("utf-8", "surrogatepass")
    return b"\n".join(lines) + b"\n"


def _walk(value, path, holder):
    """Yield the places of all values: what holds them, and their key or number there."""
    yield holder, path[-1] if path else None
    if len(path) < 20 and isinstance(value, (dict, list)):
        for key, one in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _walk(one, [*path, key], value)


def _change_node(rng, holder, key, nodes):
    kind = rng.randrange(6)
    other = rng.choice(nodes)
    strange = rng.choice((*VALUES, *RAW))
    if kind == 0:
        del holder[key]
    elif kind == 1 and isinstance(holder, dict):
        holder[rng.choice(("x", "", "id", "é", key.upper()))] = rng.choice((holder[key], strange))
    elif kind == 1:
        holder.insert(key, holder[key])
    elif kind == 2 and other[0] is not None and other[1] in (other[0] if isinstance(other[0], dict) else ()):
        holder[key] = json.loads(json.dumps(other[0][other[1]]))
    elif kind == 3 and isinstance(holder[key], int):
        holder[key] += rng.choice((-1, 1, 10, 2**31))
    elif kind == 3 and isinstance(holder[key], str):
        holder[key] += rng.choice((" ", "x", "\u00a0", "\u0301", "1"))
    elif kind == 4 and isinstance(holder[key], list) and holder[key]:
        rng.shuffle(holder[key])
        holder[key] *= rng.choice((1, 2))
    else:
        holder[key] = strange
