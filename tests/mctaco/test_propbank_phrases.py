"""Event phrases from PropBank's frames: invented frames, and bad input with its messages."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from closeread.exceptions import RequestError
from closeread.tasks.mctaco.phrases import make_pool, read_frames

HEAD = """<?xml version="1.0"?>
<!DOCTYPE frameset SYSTEM "frameset.dtd">
<frameset><predicate lemma="x"><roleset id="x.01">"""


def frameset(*examples):
    return f"{HEAD}{''.join(examples)}</roleset></predicate></frameset>"


def example(text, relloc, *arguments, name="x-v: an example"):
    """An example with arguments as (type, start, end)."""
    words = text.split()
    rel = " ".join(
        words[int(place)] for place in relloc.split() if place.isdigit() and int(place) < len(words)
    )
    spans = "".join(
        f'<arg type="{kind}" start="{start}" end="{end}">-</arg>' for kind, start, end in arguments
    )
    inside = f'<text>{text}</text><propbank><rel relloc="{relloc}">{rel}</rel>{spans}</propbank>'
    return f'<example name="{name}">{inside}</example>'


EXAMPLES = [
    (example("Ann sold the old boat .", "1", ("ARG0", 0, 0), ("ARG1", 2, 4)), "Ann sold the old boat", "arguments"),
    (example("Ann sold it in May", "1", ("ARG0", 0, 0), ("ARG1", 2, 2), ("ARGM-TMP", 3, 4)), "Ann sold it", "no time"),
    (example("She can now sell it", "3", ("ARG0", 0, 0), ("ARGM-MOD", 1, 1), ("ARG1", 4, 4)), "She can sell it", "can"),
    (example("It was not sold", "3", ("ARG1", 0, 0)), "It was not sold", "auxiliaries right before the predicate"),
    (example("It was n't sold", "3", ("ARG1", 0, 0)), "It wasn't sold", "attached"),
    (example("She put it away", "1 3", ("ARG0", 0, 0), ("ARG1", 2, 2)), "She put it away", "a predicate of two parts"),
    (example("Ann 's boat sank", "3", ("ARG1", 0, 2)), "Ann's boat sank", "a genitive"),
    (example("boats sank for $ 5", "1", ("ARG1", 0, 0), ("ARG3", 2, 4)), "boats sank for $5", "a currency"),
    (example("*PRO* sold the boat", "1", ("ARG0", 0, 0), ("ARG1", 2, 3)), "", "only a trace before it"),
    (example("sold the boat", "0", ("ARG1", 1, 2)), "", "nothing before the predicate"),
    (example("was sold", "1"), "", "only an auxiliary before it"),
    (example("the sale of boats", "1", ("ARG1", 2, 3), name="sale-n"), "", "a noun"),
    (example("the sale of boats", "1", ("ARG1", 2, 3), name="sale-n: with of"), "", "a noun"),
    (example("his sale of boats", "1", ("ARG0", 0, 0), ("ARG1", 2, 3), name="all"), "", "a noun after a possessive"),
    (example("His boat sank", "2", ("ARG1", 0, 1)), "His boat sank", "a possessive elsewhere"),
    (example("they clear - cut it", "1 2 3", ("ARG0", 0, 0), ("ARG1", 4, 4)), "they clear-cut it", "a hyphen"),
    (example("Ann bade him leave", "1", ("ARG0", 0, 0), ("ARG1", 2, 3), name="leave-l"), "Ann bade him leave", "verb"),
    (example("boats which sank", "2", ("R-ARG1", 1, 1)), "", "a reference only"),
    (example("[ He ] sank", "3", ("ARG1", 0, 2)), "", "brackets of annotators"),
    (example("Ann sold it", "?", ("ARG0", 0, 0)), None, "no place"),
    (example("Ann sold it", "1", ("ARG0", "?", 0)), None, "no place"),
    (example("Ann sold it", "9", ("ARG0", 0, 0)), None, "a place outside the sentence"),
    (example("Ann sold it", "1", ("ARG0", 0, 9)), None, "a place outside the sentence"),
    (example("Ann sold it", "1", ("ARG0", 2, 0)), None, "the end before the start"),
    (example("Ann sold it", "1", ("ARG0", 10**9, 10**9)), None, "far outside the sentence"),
    ("<example name='old'><text>Ann sold it.</text><arg n='0'>Ann</arg><rel>sold</rel><arg n='1'>it</arg></example>",
     None, "a file without places"),
    ("<example name='empty'/>", None, "an empty example"),
]  # fmt: skip


@pytest.mark.parametrize(("given_example", "expected", "why"), EXAMPLES)
def test_examples(tmp_path, given_example, expected, why):
    (tmp_path / "x.xml").write_text(frameset(given_example), "utf-8")
    found = read_frames([tmp_path / "x.xml"])
    assert (found.phrases, found.n_unplaced) == (
        [expected] if expected else [],
        int(expected is None),
    ), why
    assert (found.n_files, found.n_examples) == (1, 1)


@pytest.mark.parametrize(
    ("kinds", "name", "is_kept"),
    [
        ("v", "all arguments", True),
        ("nv", "all arguments", True),
        ("nl", "all arguments", True),
        ("", "all arguments", True),
        ("n", "all arguments", False),
        ("jn", "all arguments", False),
        ("n", "sink-v: all arguments", True),
        ("v", "sink-n: all arguments", False),
    ],
)
def test_words_of_a_roleset_tell_what_its_examples_are_of(tmp_path, kinds, name, is_kept):
    aliases = "".join(f'<alias pos="{kind}">sink</alias>' for kind in kinds)
    one = example("the boat sank", "2", ("ARG1", 0, 1), name=name)
    (tmp_path / "x.xml").write_text(frameset(f"<aliases>{aliases}</aliases>", one), "utf-8")
    found = read_frames([tmp_path / "x.xml"])
    assert (found.phrases, found.n_examples) == (["the boat sank"] if is_kept else [], 1)


def test_a_pool_has_each_phrase_once_and_none_too_long():
    assert make_pool(["Ann  left", "ann left", "one two three", "…", "Bob left"], max_words=2) == [
        "Ann left",
        "Bob left",
    ]
    with pytest.raises(
        RequestError,
        match=r"no event phrase of at most 2 words was found \(expected at least one\)",
    ):
        make_pool(["one two three"], max_words=2)


@given(st.text(alphabet="ab '.$n\u2019t[]*-", max_size=20), st.tuples(*[st.integers(-1, 8)] * 3))
def test_any_places_in_any_sentence_give_one_phrase_or_none(tmp_path_factory, text, places):
    path = tmp_path_factory.mktemp("frames") / "x.xml"
    relloc, start, end = places
    path.write_text(frameset(example(text, str(relloc), ("ARG1", start, end))), "utf-8")
    found = read_frames([path])
    assert len(found.phrases) + found.n_unplaced <= 1
    assert set("".join(found.phrases)) <= set(text) | {" "}


def write_release(folder):
    folder.mkdir()
    boats = [example("Ann sold the boat", "1", ("ARG0", 0, 0), ("ARG1", 2, 3)), example("x", "?")]
    (folder / "sell.xml").write_text(frameset(*boats, boats[0]), "utf-8")
    (folder / "leave.xml").write_text(
        frameset(example("they left the house", "1", ("ARG0", 0, 0), ("ARG1", 2, 3))), "utf-8"
    )
    (folder / "README.txt").write_text("about the frames", "utf-8")
    (folder / "frameset.dtd").write_text("", "utf-8")


def test_a_folder_of_frames(run, here):
    write_release(here / "frames")
    done = run("prepare", "mctaco", "phrases", "frames", "-o", "events.txt")
    assert (done.exit_code, done.stdout) == (
        0,
        "events.txt: 2 phrases from 4 examples in 2 files\n",
    )
    assert (
        "note: 1 example left out: the places of predicate or arguments are unknown or not in the text."
        in done.stderr
    )
    assert Path("events.txt").read_text("utf-8") == "they left the house\nAnn sold the boat\n"
    command = [
        "prepare",
        "mctaco",
        "candidates",
        "--config",
        "sample",
        "--phrases",
        "events.txt",
        "-o",
        "c.jsonl",
    ]
    assert "retrieval)" in run(*command).stdout


def test_files_that_are_no_frames(run, here):
    write_release(here / "frames")
    Path("frames/broken.xml").write_text("<frameset>\n<predicate>", "utf-8")
    Path("frames/frames.zip").write_bytes(b"PK")
    Path("other.xml").write_text("<corpus/>", "utf-8")
    command = [
        "prepare",
        "mctaco",
        "phrases",
        "frames",
        "other.xml",
        "nowhere.xml",
        "-o",
        "events.txt",
    ]
    done = run(*command)
    assert (done.exit_code, Path("events.txt").exists()) == (1, False)
    for message in (
        "frames/broken.xml:2: is not well-formed XML: no element found at column 12",
        "other.xml:1: the root element is <corpus> (expected <frameset>, as in PropBank's frame files)",
        "nowhere.xml: can't be read: No such file or directory",
    ):
        assert message in done.stderr


def test_problems_of_absolute_and_relative_paths(run, here):
    Path("empty").mkdir()
    missing = here / "nowhere.xml"
    assert run("prepare", "mctaco", "phrases", "empty", str(missing), "-o", "no.txt").stderr == (
        "Error: 2 problems:\n"
        "empty: contains no frame file (expected files ending in .xml)\n"
        f"{missing.as_posix()}: can't be read: No such file or directory\n"
    )


def test_broken_files_are_skipped_with_a_note(run, here):
    write_release(here / "frames")
    Path("frames/broken.xml").write_text("<frameset>\n<predicate>", "utf-8")
    done = run("prepare", "mctaco", "phrases", "frames", "-o", "events.txt")
    assert done.stdout == "events.txt: 2 phrases from 4 examples in 2 files\n"
    assert (
        "note: skipped frames/broken.xml:2: is not well-formed XML: no element found at column 12\n"
        in done.stderr
    )
    assert run("prepare", "mctaco", "phrases", "frames/broken.xml", "-o", "no.txt").exit_code == 1
    Path("empty").mkdir()
    assert run("prepare", "mctaco", "phrases", "empty", "-o", "no.txt").stderr == (
        "Error: empty: contains no frame file (expected files ending in .xml)\n"
    )
