"""Coreference files: every error and every note, and the way back to XML."""

import pytest
from shared.marmara_xml import CHAINS, MENTIONS, messages, put, write_coreference

from closeread.tasks.marmara.coreference import Annotations, normalize_text, read_annotations

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


def chain(*ids):
    return "<chain>" + "\n".join(f'<mention mentionId="{one}"/>' for one in ids) + "</chain>"


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


@pytest.mark.parametrize(
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
