"""Coreference files: every error and every note, and the way back to XML."""

from shared.for_each import for_each
from shared.marmara_xml import CHAINS, MENTIONS, messages, put, write_coreference

from closeread.tasks.coref.marmara.coreference import Annotations, normalize_text, read_annotations

S = "77000112003.1"
OTHER = "77000112003.2"


def read(folder, text, name="a.xml"):
    return read_annotations(put(folder, {name: text}))


def mention(line, m_id, what, sentence=S):
    """The message about a mention."""
    return f"DIR/a.xml:{line}: mention {m_id!r}, sentence {sentence!r}: {what}"


def with_mentions(*elements):
    """A file with these mentions, from line 3 on, and no chains."""
    return "\n".join(["<coref>", "<mentions>", *elements, "</mentions>", "<chains/>", "</coref>"])


def element(first, last, m_id="0", sentence=S):
    return f'<mention fromWordIX="{first}" id="{m_id}" sentenceNo="{sentence}" toWordIX="{last}">x</mention>'


def with_chains(mentions, *lines):
    """A file with mentions of id, first and last word, on line 2, and chains, from line 4 on."""
    elements = "".join(element(first, last, m_id) for m_id, first, last in mentions)
    return "\n".join(
        ["<coref><mentions>", elements, "</mentions><chains>", *lines, "</chains></coref>"]
    )


def chain(*ids):
    return "<chain>" + "\n".join(f'<mention mentionId="{one}"/>' for one in ids) + "</chain>"


ERRORS = {
    "not XML": (
        "<coref>\n<mentions>",
        ["DIR/a.xml:2: is not well-formed XML: no element found at column 11"],
    ),
    "empty": ("", ["DIR/a.xml: is empty"]),
    "another root": ("<Set/>", ["DIR/a.xml:1: the root element is 'Set' (expected coref)"]),
    "entity bomb": (
        '<!DOCTYPE coref [<!ENTITY a "ha"><!ENTITY b "&a;&a;">]>\n<coref>&b;</coref>',
        ["DIR/a.xml:1: the document type declares 'a' (expected XML without declarations)"],
    ),
    "external entity": (
        '<!DOCTYPE coref [<!ENTITY a SYSTEM "file:///etc/passwd">]>\n<coref>&a;</coref>',
        ["DIR/a.xml:1: the document type declares 'a' (expected XML without declarations)"],
    ),
    "no number": (
        with_mentions(element("x", "1"), element("", "2.5", "1")),
        [
            mention(3, "0", "fromWordIX 'x' is not a number"),
            mention(4, "1", "fromWordIX '' is not a number"),
            mention(4, "1", "toWordIX '2.5' is not a number"),
        ],
    ),
    "missing attributes": (
        with_mentions(
            f'<mention fromWordIX="1" id="0" sentenceNo="{S}"/>',
            f'<mention id="1" sentenceNo="{S}" toWordIX="1"/>',
            f'<mention fromWordIX="1" sentenceNo="{S}" toWordIX="1"/>',
            '<mention fromWordIX="1" id="2" toWordIX="1"/>',
            "<mention/>",
        ),
        [
            mention(3, "0", "has no toWordIX"),
            mention(4, "1", "has no fromWordIX"),
            f"DIR/a.xml:5: mention, sentence '{S}': has no id",
            "DIR/a.xml:6: mention '2': has no sentenceNo",
            *(
                f"DIR/a.xml:7: mention: has no {name}"
                for name in ("id", "sentenceNo", "fromWordIX", "toWordIX")
            ),
        ],
    ),
    "from above to": (
        with_mentions(element(3, 2)),
        [mention(3, "0", "fromWordIX is 3, after toWordIX 2")],
    ),
    "from below 1": (
        with_mentions(element(0, 1), element(-2, -1, "1")),
        [
            mention(3, "0", "fromWordIX is 0 (expected 1 or more)"),
            mention(4, "1", "fromWordIX is -2 (expected 1 or more)"),
            mention(4, "1", "toWordIX is -1 (expected 1 or more)"),
        ],
    ),
    "id twice": (
        with_mentions(element(1, 1), element(2, 2), element(3, 3)),
        [mention(line, "0", "its id is already used on line 3") for line in (4, 5)],
    ),
    "span twice": (
        with_mentions(element(1, 2), element(1, 2, "b"), element(1, 2, "c", OTHER)),
        [mention(4, "b", "has the same words as mention '0' on line 3")],
    ),
    "unknown mention": (
        with_chains(
            [("0", 1, 1), ("1", 2, 2)],
            chain("0", "1", "9"),
            "<chain><mention/><mention mentionId='8'/></chain>",
        ),
        [
            "DIR/a.xml:6: mention '9' of a chain: no mention has this id",
            "DIR/a.xml:7: mention of a chain: has no mentionId",
            "DIR/a.xml:7: mention '8' of a chain: no mention has this id",
        ],
    ),
    "twice in chains": (
        with_chains([("0", 1, 1), ("1", 2, 2), ("2", 3, 3)], chain("0", "1", "0"), chain("2", "1")),
        [
            mention(6, "0", "is already in a chain on line 4"),
            mention(8, "1", "is already in a chain on line 5"),
        ],
    ),
    "short chains": (
        with_chains([("0", 1, 1)], chain("0"), "\n<chain></chain>"),
        [
            "DIR/a.xml:4: the chain has 1 mention, '0' (expected two or more)",
            "DIR/a.xml:6: the chain has 0 mentions (expected two or more)",
        ],
    ),
    # 1-3 and 3-4 share a word, 5-9 holds 6-6, and 1-3 and 10-10 share none; b is the later reference though it begins
    # before a.
    "overlaps": (
        with_chains(
            [("a", 3, 4), ("b", 1, 3), ("c", 5, 9), ("d", 6, 6), ("e", 10, 10)],
            chain("a", "c", "b", "d", "e"),
        ),
        [
            mention(6, "b", "overlaps mention 'a' of the same chain (line 4)"),
            mention(7, "d", "overlaps mention 'c' of the same chain (line 5)"),
        ],
    ),
}


@for_each("name", ERRORS)
def test_errors(tmp_path, name):
    text, expected = ERRORS[name]
    assert messages(read(tmp_path, text).problems) == expected


def test_mentions_and_chains(tmp_path):
    found = read(tmp_path, write_coreference(MENTIONS, CHAINS))
    assert (found.problems, found.notices) == ([], [])
    (annotation,) = found.annotations
    assert [tuple(one)[:5] for one in annotation.mentions] == list(MENTIONS)
    assert [one.line for one in annotation.mentions] == [3, 4, 5, 6, 7]
    assert annotation.chains == [["0", "7"], ["3", "1"]]


def test_mentions_that_touch_or_stand_in_other_sentences_do_not_overlap(tmp_path):
    mentions = [("0", S, 1, 2, "x"), ("1", S, 3, 3, "y"), ("2", OTHER, 1, 3, "z")]
    assert read(tmp_path, write_coreference(mentions, [["0", "1", "2"]])).problems == []


def test_mentions_of_other_chains_may_overlap(tmp_path):
    mentions = [
        ("0", S, 1, 2, "x"),
        ("1", S, 2, 3, "y"),
        ("2", OTHER, 1, 1, "z"),
        ("3", OTHER, 1, 2, "z"),
    ]
    assert read(tmp_path, write_coreference(mentions, [["0", "2"], ["1", "3"]])).problems == []


def test_other_elements_and_texts_are_noted(tmp_path):
    text = write_coreference(MENTIONS, CHAINS).replace("<chains>", "<note/><chains><link/>")
    text = text.replace('mentionId="7">Orası', 'mentionId="7">Burası').replace(
        "<mentions>", "<mentions><m/>"
    )
    text = text.replace("<chain>", "<chain><word/>stray", 1)
    found = read(tmp_path, text)
    assert found.problems == []
    assert messages(found.notices) == [
        "DIR/a.xml:9: the element 'note' is ignored (expected mentions and chains)",
        "DIR/a.xml:2: the element 'm' is ignored (expected mention)",
        "DIR/a.xml:9: the element 'link' is ignored (expected chain)",
        "DIR/a.xml:10: the element 'word' is ignored (expected mention)",
        "DIR/a.xml:10: the text 'stray' outside a mention is ignored",
        "DIR/a.xml:12: mention '7', sentence '77000112010.1': "
        "the text in the chain is 'Burası', that of the mention 'Orası'",
    ]


def test_files_of_other_names(tmp_path):
    files = {"a.xml": write_coreference(MENTIONS, CHAINS), "LICENSE": "text"}
    note = "DIR/LICENSE: is ignored (expected a name ending in .xml)"
    found = read_annotations(put(tmp_path, files))
    assert (found.problems, messages(found.notices), len(found.annotations)) == ([], [note], 1)
    found = read_annotations({"LICENSE": tmp_path / "LICENSE"})
    assert messages(found.problems) == [
        "DIR: contains no coreference files (expected files ending in .xml)"
    ]
    assert read_annotations({}) == Annotations([], found.problems, [])


def test_the_errors_of_all_files_are_found_at_once(tmp_path):
    files = {
        "a.xml": "<coref>",
        "b.xml": with_mentions(element(2, 1)),
        "c.xml": write_coreference(MENTIONS, CHAINS),
    }
    found = read_annotations(put(tmp_path, files))
    assert [problem.file for problem in found.problems] == ["a.xml", "b.xml"]
    assert [one.file for one in found.annotations] == ["b.xml", "c.xml"]


@for_each(
    ("one", "other", "equal"),
    [
        ("Ayşe'nin  evi", "Ayşe’nin_evi", True),
        ("Mu\u0308ge`nin", "M\u00fcge´nin", True),  # decomposed and composed
        ("evi", "Evi", False),
        ("evi .", "evi.", False),
    ],
)
def test_texts_that_are_alike(one, other, equal):
    assert (normalize_text(one) == normalize_text(other)) is equal
