"""Folders of a submission: no way out of them, nothing that is passed over in silence, nothing that waits."""

import os
from pathlib import Path

import pytest
from shared.marmara_xml import put

from closeread.exceptions import SubmissionError
from closeread.files import package_folder
from closeread.formats.folders import list_folders
from closeread.leaderboard.submission import pack_folder

NO_WAITING = pytest.mark.timeout(100)
"""What is read by mistake never ends, or fills the memory."""

COREF = "#begin document (d); part 000\nd\t0\t0\ta\t(0)\nd\t0\t1\tb\t(0)\n\n#end document\n"
TML = """<?xml version="1.0"?>
<TimeML><DOCID>a</DOCID><DCT><TIMEX3 tid="t0" type="DATE" value="2013-01-01" temporalFunction="false"
functionInDocument="CREATION_TIME">2013</TIMEX3></DCT><TEXT>She <EVENT eid="e1" class="OCCURRENCE">left</EVENT>.</TEXT>
<MAKEINSTANCE eventID="e1" eiid="ei1" tense="PAST" aspect="NONE" polarity="POS" pos="VERB"/>
<TLINK lid="l1" relType="BEFORE" eventInstanceID="ei1" relatedToTime="t0"/></TimeML>
"""
TIMELINE = "Ann\n1\t2007\t7-2-a\n"
SIDES = {"tlinks": ("a.tml", TML), "coref": ("a.conll", COREF), "timeline": ("ann.txt", TIMELINE)}
COMMANDS = {
    "score": lambda procedure: ("score", procedure, *gold(procedure), "--no-ci"),
    "validate": lambda procedure: ("validate", procedure, *gold(procedure)),
    "compare": lambda procedure: ("compare", procedure, *gold(procedure), "other"),
}


def gold(procedure):
    """The words of a command that name the gold, in whose place responses come after it."""
    return ("--gold", "key") if procedure == "timeline" else ("key",)


@pytest.fixture(params=SIDES)
def sides(request, here):
    """A procedure, with the same file in the folders `key`, `response` and `other`, each a copy of its own."""
    name, text = SIDES[request.param]
    put(here, {f"{side}/{name}": text for side in ("key", "response", "other")})
    return request.param


def refuse(done, *lines):
    assert done.exit_code == 1
    assert [line for line in done.stderr.splitlines() if "problems:" not in line] == list(lines)


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_links_to_the_other_side(run, sides, command):
    name, _ = SIDES[sides]
    (Path("response") / name).unlink()
    (Path("response") / name).symlink_to(Path("../key") / name)
    done = run(*command(sides), "response")
    assert done.exit_code == 1
    assert f"response/{name}: is a symbolic link (expected a file)" in done.stdout + done.stderr


@pytest.mark.parametrize("target", ["../key", ".", "..", "nowhere"])
def test_linked_folders(run, sides, target):
    Path("response/linked").symlink_to(target)
    done = run("score", sides, *gold(sides), "response", "--no-ci")
    refuse(done, "Error: response/linked: is a symbolic link (expected a file)")


@NO_WAITING
def test_what_is_not_a_file_in_a_folder(run, sides):
    suffix = Path(SIDES[sides][0]).suffix
    os.mkfifo(f"response/pipe{suffix}")
    refuse(
        run("score", sides, *gold(sides), "response"),
        f"Error: response/pipe{suffix}: is not a regular file",
    )


@NO_WAITING
@pytest.mark.parametrize(
    "command",
    [
        ("score", "coref", "key.conll"),
        ("score", "coref", "key.conll", "key.conll", "--fields"),
        ("validate", "coref", "key.conll"),
        ("compare", "coref", "key.conll", "key.conll"),
        ("agreement", "coref", "key.conll"),
        ("score", "tlinks", "key.tml"),
        ("score", "mctaco", "--config", "sample"),
        ("score", "mctaco", "key.conll", "--gold"),
        ("score", "timeline", "--config", "sample"),
        ("prepare", "mctaco", "candidates", "--config", "sample", "-o", "out", "--phrases"),
        ("convert", "timeline", "-o", "out"),
        ("score", "--from-counts"),
    ],
)
def test_what_is_not_a_file(run, here, command):
    put(here, {"key.conll": COREF, "key.tml": TML})
    os.mkfifo("pipe.csv")
    Path("zero.csv").symlink_to("/dev/zero")
    for special in ("pipe.csv", "zero.csv"):
        done = run(*command, special)
        assert (done.exit_code, done.stdout.count("valid;")) == (1, 0)
        assert "is not a regular file" in done.stdout + done.stderr or "--from-counts" in command
    assert not Path("out").exists()


def test_all_unreadable_files_at_once(run, sides, monkeypatch):
    name, text = SIDES[sides]
    put(Path(), {f"response/{number}{name}": text for number in range(3)})
    read = Path.read_bytes

    def refuse_reading(path):
        if path.name[0].isdigit():
            raise PermissionError(13, "Permission denied", str(path))
        return read(path)

    monkeypatch.setattr(Path, "read_bytes", refuse_reading)  # root may read everything
    done = run("score", sides, *gold(sides), "response")
    refuse(
        done,
        f"Error: response/0{name}: can't be read: Permission denied (3 times; also 1{name}, 2{name})",
    )


def test_predictions_that_are_the_gold_are_told(run, sides):
    for command in ("score", "validate"):
        done = run(command, sides, *gold(sides), "key")
        assert done.exit_code == 0
        assert "note: key is the same folder as the gold, key\n" in done.stderr
    Path("linked").symlink_to("key")
    done = run("score", sides, *gold(sides), "linked", "--no-ci")
    assert "note: linked is the same folder as the gold, key\n" in done.stderr
    assert "as the gold" not in run("score", sides, *gold(sides), "other", "--no-ci").stderr


def test_files_of_a_corpus_are_told_to_be_the_gold(run, here):
    """Those of the package, and those in `--data-dir`; copies are not."""
    sample = (
        package_folder("closeread.loaders.semeval2015_timeline")
        / "sample"
        / "TimeLines_Gold_Standard"
    )
    done = run("score", "timeline", sample, "--config", "sample", "--no-ci")
    said = "is the same folder as the gold, semeval2015_timeline test (sample)\n"
    assert f"note: {sample} {said}" in done.stderr
    own = "data/SemEval_Task4_data/corpus_1/TimeLines_Gold_Standard"
    put(
        here,
        {
            f"{own}/ann.txt": TIMELINE,
            f"{own}/bea.txt": TIMELINE.replace("Ann", "Bea"),
            "copy/ann.txt": TIMELINE,
            "copy/bea.txt": TIMELINE.replace("Ann", "Bea"),
        },
    )
    done = run("validate", "timeline", own, "--data-dir", "data")
    assert (
        f"note: {own} is the same folder as the gold, semeval2015_timeline corpus_1 (default)\n"
        in done.stderr
    )
    assert "as the gold" not in run("validate", "timeline", "copy", "--data-dir", "data").stderr


def test_what_is_passed_over_is_named(run, sides):
    put(Path(), {f"response/{name}": "x" for name in (".hidden", ".DS_Store", "._a.tml")})
    if sides == "tlinks":
        put(
            Path(), {f"response/{name}": "x" for name in ("e.tml.txt", "a.tml~", "below/a.tml.bak")}
        )
    done = run("score", sides, *gold(sides), "response", "--no-ci")
    assert done.exit_code == 0
    notes = [line.removeprefix("note: ") for line in done.stderr.splitlines()]
    expected = set()
    if sides == "tlinks":
        named = "'a.tml~', 'below/a.tml.bak', 'e.tml.txt'"
        expected.add(f"response: 3 files not ending in .tml, .timeml, .xml ignored: {named}")
    assert {note for note in notes if "ignored" in note} == expected


@NO_WAITING
def test_links_are_not_packed(here):
    put(here, {"key.txt": TIMELINE, "response/ann.txt": TIMELINE})
    Path("response/bea.txt").symlink_to("../key.txt")
    os.mkfifo("response/pipe.txt")
    with pytest.raises(SubmissionError) as caught:
        pack_folder(Path("response"), 1000)
    assert str(caught.value).splitlines()[1:] == [
        "response/bea.txt: is a symbolic link (expected a file)",
        "response/pipe.txt: is not a regular file",
    ]


def test_folders_of_splits_are_no_links(tmp_path):
    (tmp_path / "one").mkdir()
    (tmp_path / "two").symlink_to("one")
    folders, problems = list_folders(tmp_path, ["one", "two"])
    assert list(folders) == ["one"]
    assert [(one.file, one.message) for one in problems] == [
        ("two", "is a symbolic link (expected a folder)")
    ]
