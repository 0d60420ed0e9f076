"""The CoNLL-U reader on random text, at once and in parts."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from closeread import limits
from closeread.exceptions import FormatError
from closeread.tasks.coref.formats import lines
from closeread.tasks.coref.formats.conllu import read_conllu, read_records

NUMBERS = ["1", "2", "3", "4", "0.1", "1.1", "1.2", "2.1", "1-2", "2-3", "1-1", "01", "x", "", "3.0", "1234567890"]
PIECES = [
    *("(a", "a)", "(a)", "(b", "b)", "(a-x-2-", "(a-x-1-)", "(b--2", "(a-x-0)", "(a-x-y", "(-x", "a", "((", "é)", "(é"),
    *("(a[1/2]", "a[1/2])", "(a[2/2]", "a[2/2])", "(a[1/2])", "(a[2/2])", "(a[1/2]-x-2-)", "(a[2/2]-x-3", "(b[1/3])"),
    *("(b[2/3])", "(b[3/3])", "(a[0/2])", "(a[1/1]", "(a[02/2]", "(a[x]", "(a[1/2][1/2]"),
]
ENTITY = st.lists(st.sampled_from(PIECES), max_size=3).map("".join).map("Entity={}".format)
OTHER = st.sampled_from(
    [
        *("_", "SpaceAfter=No", "Bridge=a<b", "Bridge=a<b:x,c<d", "Bridge=a", "Bridge=", "Bridge=a<a", "SplitAnte=a<b"),
        *("SplitAnte=a<b,c<b", "SplitAnte=a<b<c", "XEntity=(a)", "Entity", "Entit=(a)", "entity=(a", "|"),
    ]
)
MISC = st.lists(ENTITY | ENTITY | OTHER, min_size=1, max_size=2).map("|".join)
DEPENDENCIES = st.sampled_from(["_", "1:x", "0:root", "2:nsubj:pass|1:y", "1.1:z", "0.1:z", "9:x", "x", "1:", "3.0:x"])
HEADERS = [
    *("# newdoc id = a", "# newdoc id = b", "# newdoc", "# newdoc", "#newdoc id=2", "# newdoc id = ", "# newdoc a"),
    *("# newdoc id", "# newdocs", "#\tnewdoc = c \t", "# newdoc id = a\x85", "# newpar", "#", "# text = |Entity=(a)"),
    *(
        "# global.Entity = eid-etype-head-other",
        "# global.Entity = GRP",
        "# global.Entity=eid-head",
        "#  global.Entity",
    ),
    *("# global.Entity = head-eid-entity", "# global.Entity = etype", "# global.Entity = eid-GRP", "# global.Entity x"),
]
BLANKS = ["", "", "\t", " ", "\r"]
DEFAULT = "# newdoc id = a\n# global.Entity = eid-etype-head-other\n"


def row(number, form="w", pos="NOUN", dependencies="_", misc="_"):
    return "\t".join([number, form, "l", pos, "_", "_", "0", "_", dependencies, misc])


ROW = st.builds(
    row,
    st.sampled_from(NUMBERS),
    st.sampled_from(["w", "é", "_", "", "a b", "\u2028"]),
    st.sampled_from(["_", "X"]),
    DEPENDENCIES,
    MISC,
)
ODD = st.sampled_from(
    ["a\tb", row("1", "a\x01"), row("1", "\x85"), row("1") + "\t", "\t" * 9, " x", row("1\x7f"), "\r"]
)
LINE = st.sampled_from(HEADERS) | st.sampled_from(BLANKS) | ROW | ROW | ODD
MESS = st.lists(LINE, max_size=14).map("\n".join)


@st.composite
def likely(draw):
    """Draw a file whose ids are right, and whose brackets are often."""
    lines = []
    for _ in range(draw(st.integers(1, 3))):
        lines += [draw(st.sampled_from(HEADERS[:4])), draw(st.sampled_from([*HEADERS[14:19], "# x"]))]
        for _ in range(draw(st.integers(1, 2))):
            ids = draw(st.sampled_from([["1"], ["1", "2", "2.1", "3"], ["0.1", "1-2", "1", "2"], ["1", "1.1", "1.2"]]))
            lines += [row(i, "w", "X", draw(DEPENDENCIES) if "." in i else "_", draw(MISC)) for i in ids]
            lines.append("")
    return "\n".join(lines)


def brackets(draw, n):
    """Draw the Entity of n tokens, with mentions of two entities, and a third in parts, that nest."""
    opened, cells = [], []
    for i in range(n):
        cell = ""
        while opened and (i == n - 1 or draw(st.booleans())):
            cell += opened.pop() + ")"
        for name in draw(st.lists(st.sampled_from(["a", "b", "a"]), max_size=2)) if i < n - 1 else ():
            is_single = draw(st.booleans())
            cell += f"({name}-x-{draw(st.sampled_from(['', '1']))}-" + (")" if is_single else "")
            if not is_single:
                opened.append(name)
                break
        cells.append(cell)
    if n > draw(st.integers(1, 3)):
        head = draw(st.sampled_from(["", "1", "2"]))
        cells[0] = f"(c[1/2]-y-{head}-)" + cells[0]
        cells[-1] = f"(c[2/2]--{draw(st.sampled_from(['', head]))}-)" + cells[-1]
    return cells


@st.composite
def valid(draw):
    """Draw a valid file, of one or several documents."""
    lines = []
    for i in range(draw(st.integers(1, 3))):
        lines += draw(st.sampled_from([[f"# newdoc id = d{i}"], ["# newdoc"]])) if i or draw(st.booleans()) else []
        id_field = draw(st.sampled_from(["eid", "GRP"]))
        lines.append(f"# global.Entity = {id_field}-etype-head-other")
        cells = brackets(draw, draw(st.integers(1, 12)))
        while cells:
            here = [cells.pop(0) for _ in range(draw(st.integers(1, len(cells))))]
            kinds = [draw(st.sampled_from(["word", "word", "word", "empty"])) for _ in here]
            lines += sentence(draw, here, kinds)
    text = "\n".join([*lines, ""])
    for _ in range(draw(st.sampled_from([0, 0, 0, 1, 2]))):
        at = draw(st.integers(0, len(text)))
        text = text[:at] + draw(st.sampled_from(["", "1", "\n", "(", ")", "\t", "|", "a", "-"])) + text[at + 1 :]
    return text


def sentence(draw, cells, kinds):
    """List the rows of a sentence, and a line after them."""
    rows, word, second, last_range = [], 0, 0, 0
    n_words = kinds.count("word")
    for cell, kind in zip(cells, kinds, strict=True):
        word, second = (word, second + 1) if kind == "empty" else (word + 1, 0)
        if kind == "word" and last_range < word < n_words and draw(st.booleans()):
            last_range = draw(st.integers(word + 1, n_words))
            rows.append(row(f"{word}-{last_range}"))
        parents = [f"{word}:x", f"{n_words}:y:z|{word}.{second}:z", f"{n_words + 1}:y"]
        dependencies = draw(st.sampled_from(["_", "0:root", *parents])) if second else "_"
        number = f"{word}.{second}" if second else str(word)
        entity = [f"Entity={cell}"] if cell else []
        misc = "|".join(draw(st.permutations([*entity, *draw(st.sampled_from([[], ["A=b"], ["Bridge=a<b"]]))])))
        form, pos = draw(st.sampled_from(["w", "é", "_"])), draw(st.sampled_from(["_", "X", "NOUN"]))
        rows.append(row(number, form, pos, dependencies, misc or "_"))
    return [*rows, draw(st.sampled_from(["", "", "", " "]))]


def document(*cells):
    return DEFAULT + "\n".join(row(str(i), misc=cell) for i, cell in enumerate(cells, start=1)) + "\n\n"


@given(
    text=valid() | likely() | MESS.map(DEFAULT.__add__),
    many=st.integers(1, 3),
    mark=st.sampled_from(["", "\ufeff"]),
    part=st.integers(1, 200),
)
@example(text=document("Entity=(a", "Entity=(a[1/2]--1)", "Entity=a)(a[2/2])"), many=3, mark="\ufeff", part=60)
@example(text=document("Entity=(a", "Entity=b)"), many=2, mark="", part=60)
@example(text=document("Entity=(a[1/2])", "_"), many=2, mark="", part=60)
@example(text=document("Entity=(((", "_"), many=2, mark="", part=60)
@example(text=document("_", "Bridge=a"), many=2, mark="", part=60)
@example(text=DEFAULT + row("0.1", dependencies="2:x|0.2:y") + "\n" + row("0.2") + "\n", many=2, mark="", part=9)
def test_a_file_read_in_parts_is_that_read_at_once(file, text, many, mark, part):
    texts = (text.replace("# newdoc id = ", f"# newdoc id = {i}") for i in range(many))
    file.write_bytes((mark + "\n".join(texts)).encode("utf-8"))
    expected = outcome(file)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lines, "PART", part)
        assert outcome(file) == expected


def outcome(file):
    """Return the table of a file as plain values, or its error message."""
    try:
        table, lines = read_conllu(file), read_records(file, "").lines
    except FormatError as error:
        return str(error)
    columns = (table.n_tokens, table.document, table.start, table.end, table.entity, table.head)
    words = [[table.words(i), table.words.digest(i)] for i in range(len(table))]
    fields = {name: list(values) for name, values in table.mention_fields.items()}
    return (
        *(list(table.names), [column.tolist() for column in columns], list(table.labels), table.parts, words, lines),
        *(fields, table.empty, table.notices, table.unnamed, table.document_fields),
    )


def test_reading_stops_soon_after_many_problems(file):
    cells = ["Entity=(a", "Entity=b)"] * 1000
    file.write_text(document(*cells), "utf-8")
    with pytest.raises(FormatError) as caught:
        read_conllu(file)
    assert len(caught.value.problems) == limits.MAX_PROBLEMS
