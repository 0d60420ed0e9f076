"""`closeread score|compare|validate tlinks` on invented files, and every word that is said of bad ones."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from shared.count_tables import sum_counts

from closeread.exceptions import FormatError, SubmissionError
from closeread.operations.score import score
from closeread.scoring import find_gold, open_scorer
from closeread.tasks.tlinks.documents import find_extents, read_key
from closeread.tasks.tlinks.procedure import PROCEDURE

TEXT = "Marta waited and slept until Thursday ."


def timeml(links, *, ids=("ei1", "ei2", "ei3", "t1"), text=TEXT):
    """A file with four events and times (waited, slept, the fall of the title, Thursday) and these links."""
    waited, slept, fall, thursday = ids
    marked = (
        text.replace("waited", '<EVENT eid="e1">waited</EVENT>')
        .replace("slept", '<EVENT eid="e2">slept</EVENT>')
        .replace("Thursday", f'<TIMEX3 tid="{thursday}" type="DATE">Thursday</TIMEX3>')
    )
    lines = [
        "<TimeML>",
        '<DCT><TIMEX3 tid="t0" type="DATE" functionInDocument="CREATION_TIME">May 4</TIMEX3></DCT>',
        '<TITLE>The <EVENT eid="e3">fall</EVENT></TITLE>',
        f"<TEXT>{marked}</TEXT>",
    ]
    lines += [
        f'<MAKEINSTANCE eiid="{eiid}" eventID="e{i}"/>'
        for i, eiid in enumerate((waited, slept, fall), start=1)
    ]
    for number, (source, relation, target) in enumerate(links, start=1):
        begin = "timeID" if source[0] == "t" else "eventInstanceID"
        end = "relatedToTime" if target[0] == "t" else "relatedToEventInstance"
        lines.append(
            f'<TLINK lid="l{number}" {begin}="{source}" {end}="{target}" relType="{relation}"/>'
        )
    return "\n".join([*lines, "</TimeML>\n"])


KEY = {
    "a.tml": timeml(
        [("ei1", "BEFORE", "ei2"), ("ei2", "IS_INCLUDED", "t1"), ("ei1", "BEFORE", "t0")]
    ),
    "b/c.tml": timeml([("ei3", "SIMULTANEOUS", "t0"), ("t1", "BEFORE", "t0")]),
}
# A shortcut that follows, a link that is wrong, and of the second document one link of two.
RESPONSE = {
    "a.tml": timeml([("ei2", "AFTER", "ei1"), ("ei2", "BEFORE", "t1"), ("ei1", "BEFORE", "t0")]),
    "b/c.tml": timeml([("t1", "BEFORE", "ei3")]),
}


def written(folder, files):
    for name, text in files.items():
        (Path(folder) / name).parent.mkdir(parents=True, exist_ok=True)
        (Path(folder) / name).write_text(text, "utf-8")
    return folder


@pytest.fixture
def pair(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return written("key", KEY), written("response", RESPONSE)


def refused(key, response, error=SubmissionError):
    """The message about a key and a response that don't fit or can't be read."""
    with pytest.raises(error) as caught:
        open_scorer(find_gold("tlinks", gold=Path(key))[0]).read(Path(response))
    return str(caught.value)


def gold_digests(key, matching):
    """The digest of every document of a key."""
    scorer = open_scorer(find_gold("tlinks", gold=Path(key))[0], {"matching": matching})
    return scorer.gold.digests(scorer.options)


def test_a_table_with_precision_recall_and_f1(ran, pair):
    printed = ran("score", "tlinks", *pair, "--no-ci").splitlines()
    assert printed[2].split() == ["metric", "precision", "recall", "F1", "documents"]
    # Of the system 2 of 3 and, as t1 is before what is simultaneous with t0, 1 of 1; of gold 2 of 3 and 0 of 2.
    assert printed[4].split() == ["Awareness", "75.00", "40.00", "52.17", "2"]
    assert printed[-1].startswith(
        "Signature: tlinks|version:1|missing:empty|matching:id|reduction:sequential|during:simultaneous|gold:"
    )


def test_files_that_are_no_documents_are_named(run, pair):
    Path("response/read.me").write_text("ours")
    stderr = run("score", "tlinks", *pair, "--no-ci").stderr
    assert "note: response: 1 file not ending in .tml, .timeml, .xml ignored: 'read.me'\n" in stderr


def test_two_files_whatever_they_are_called(ran, pair):
    found = json.loads(ran("score", "tlinks", "key/a.tml", "response/a.tml", "--json"))
    assert found["scores"]["awareness/recall"]["value"] == 2 / 3
    found = json.loads(
        ran("score", "tlinks", "key/b/c.tml", "response/a.tml", "--json", "--no-ci", "--per-unit")
    )
    assert [unit["document"] for unit in found["units"]] == ["c"]


def test_compressed_files_are_the_same_documents(ran, pair):
    key, response = pair
    expected = [
        json.loads(ran("score", "tlinks", *sides, "--json"))
        for sides in (pair, (f"{key}/a.tml",) * 2)
    ]
    for side in pair:
        for file in sorted(Path(side).rglob("*.tml")):
            packed = (
                file.with_name(f"{file.name}.gz") if side == key else file.with_suffix(".TML.GZ")
            )
            packed.write_bytes(gzip.compress(file.read_bytes()))
            file.unlink()
    assert json.loads(ran("score", "tlinks", key, response, "--json")) == expected[0]
    assert json.loads(ran("score", "tlinks", *[f"{key}/a.tml.gz"] * 2, "--json")) == expected[1]
    assert list(read_key(Path(key)).by_name) == ["a", "b/c"]
    assert list(read_key(Path(response, "b/c.TML.GZ")).by_name) == ["c"]
    written(key, {"a.tml": KEY["a.tml"]})
    assert (
        refused(key, response, error=FormatError)
        == "key/a.tml.gz: document 'a' already has another file"
    )


def test_missing_documents(ran, run, pair):
    written("other", {"b/c.tml": RESPONSE["b/c.tml"]})
    Path("response/b/c.tml").unlink()
    values = {
        missing: json.loads(ran("score", "tlinks", *pair, "--json", "--missing", missing))["scores"]
        for missing in ("empty", "skip")
    }
    assert values["empty"]["awareness/recall"]["value"] == 2 / 5
    assert values["skip"]["awareness/recall"]["value"] == 2 / 3
    done = run("compare", "tlinks", "key", "response", "other", "--missing", "skip")
    assert done.exit_code == 2
    assert "With --missing skip, all systems must cover the same units." in done.stderr


def test_a_response_without_the_key(pair):
    def problems(names, response):
        try:
            PROCEDURE.reader.check_form(None, names, Path(response), {"missing": "error"})
        except SubmissionError as error:
            return [problem.text for problem in error.problems]
        return []

    assert problems(["a", "b/c"], "response") == []
    assert problems(["z"], "response/a.tml") == []  # two single documents, whatever they are called
    written("one", {"a.tml": RESPONSE["a.tml"]})
    for response in ("response/a.tml", "one"):
        [lacking] = problems(["a", "z"], response)
        assert lacking.startswith("lacks 1 of 2 documents of the key: 'z'.")
    assert len(problems(["z"], "one")) == 2


def test_contradictions_are_told_with_their_lines(run, pair):
    links = [
        ("ei1", "BEFORE", "ei2"),
        ("ei2", "BEFORE", "ei3"),
        ("ei3", "BEFORE", "ei1"),
        ("ei3", "IAFTER", "ei2"),
    ]
    Path("key/a.tml").write_text(timeml(links))
    done = run("score", "tlinks", *pair, "--no-ci")
    assert done.exit_code == 0
    what = "contradicts earlier links; still counted, but ignored for inference"
    assert done.stderr == (
        f"note: key/a.tml:10: ei3 BEFORE ei1 {what}\nnote: key/a.tml:11: ei3 IAFTER ei2 {what}\n"
    )
    many = [("ei1", "BEFORE", "ei2")] + [
        ("ei1", relation, "ei2") for relation in ("AFTER", "IBEFORE", "INCLUDES", "BEGINS", "ENDS")
    ]
    Path("response/a.tml").write_text(timeml(many))
    for command in ("score", "validate"):
        notes = run(command, "tlinks", "key", "response").stderr.splitlines()
        assert len(notes) == 2 + 3 + 1
        assert notes[-1] == "note: response: 5 links are contradictory (the first 3 are shown)"
    assert len(run("compare", "tlinks", "key", "response", "response").stderr.splitlines()) == 6
    scorer = open_scorer(find_gold("tlinks", gold=Path("key"))[0])
    totals = sum_counts(scorer.count(scorer.read(Path("response"))).table)
    assert (totals["contradictory/gold"], totals["contradictory/system"]) == (2, 5)


def test_links_of_an_interval_with_itself_are_told_with_their_lines(run, ran, pair):
    links = [("ei1", "BEFORE", "ei2"), ("ei2", "IS_INCLUDED", "t1"), ("ei1", "BEFORE", "t0")]
    key = json.loads(ran("score", "tlinks", "key/a.tml", "response/a.tml", "--json"))["scores"]
    Path("key/a.tml").write_text(
        timeml([*links, ("ei1", "SIMULTANEOUS", "ei1"), ("t1", "DURING", "t1")])
    )
    done = run("score", "tlinks", "key/a.tml", "response/a.tml", "--json")
    assert (done.exit_code, json.loads(done.stdout)["scores"]) == (0, key)
    nothing = "links an interval with itself; not counted"
    assert done.stderr == (
        f"note: key/a.tml:11: ei1 SIMULTANEOUS ei1 {nothing}\nnote: key/a.tml:12: t1 DURING t1 {nothing}\n"
    )
    Path("response/a.tml").write_text(
        timeml([("ei1", "BEFORE", "ei1")] + [("t1", "IDENTITY", "t1")] * 5)
    )
    for command in ("score", "validate"):
        notes = run(command, "tlinks", *pair).stderr.splitlines()
        assert notes[2:] == [
            "note: response/a.tml:8: ei1 BEFORE ei1 links an interval with itself; still counted, but ignored for "
            "inference",
            *(f"note: response/a.tml:{line}: t1 IDENTITY t1 {nothing}" for line in (9, 10, 11)),
            "note: response: 5 links of an interval with itself are not counted (the first 3 are shown)",
        ]
    done = run("validate", "tlinks", *pair, "--during", "overlaps")
    assert "key/a.tml:12: t1 DURING t1 links an interval with itself; still counted" in done.stderr


def test_links_without_a_relation_are_not_counted(run, ran, pair):
    links = [("ei1", "BEFORE", "ei2"), ("ei2", "IS_INCLUDED", "t1"), ("ei1", "BEFORE", "t0")]
    key = json.loads(ran("score", "tlinks", "key/a.tml", "response/a.tml", "--json"))["scores"]
    Path("key/a.tml").write_text(timeml([("ei2", "NONE", "t0"), *links, ("ei3", "VAGUE", "ei1")]))
    done = run("score", "tlinks", "key/a.tml", "response/a.tml", "--json")
    assert (done.exit_code, json.loads(done.stdout)["scores"]) == (0, key)
    assert (
        done.stderr == "note: key/a.tml: 2 links without a relation (VAGUE or NONE); not counted\n"
    )


def test_ids_of_the_system_s_own(ran, run, pair):
    """The same links by other ids: refused by id, right by extent."""
    swapped = [("ei2", "BEFORE", "ei1"), ("ei1", "IS_INCLUDED", "t7"), ("ei2", "BEFORE", "t0")]
    Path("own.tml").write_text(timeml(swapped, ids=("ei2", "ei1", "ei3", "t7")))
    done = run("score", "tlinks", "key/a.tml", "own.tml")
    assert done.exit_code == 1
    assert done.stderr == (
        "Error: own.tml: 2 problems:\n"
        "own.tml:4: id 'ei2' is 'waited' here but 'slept' in the key; use the ids of the key, or --matching strict or "
        "--matching relaxed\n"
        "own.tml:4: id 'ei1' is 'slept' here but 'waited' in the key; use the ids of the key, or --matching strict or "
        "--matching relaxed\n"
    )
    for matching in ("strict", "relaxed"):
        found = json.loads(
            ran("score", "tlinks", "key/a.tml", "own.tml", "--matching", matching, "--json")
        )
        assert found["scores"]["awareness/f1"]["value"] == 1


def test_strict_and_relaxed_extents(ran, pair):
    wider = KEY["a.tml"].replace("until <TIMEX3", "<TIMEX3").replace(">Thursday", ">until Thursday")
    Path("wider.tml").write_text(wider)
    values = {
        matching: json.loads(
            ran("score", "tlinks", "key/a.tml", "wider.tml", "--matching", matching, "--json")
        )
        for matching in ("id", "strict", "relaxed")
    }
    assert {name: found["scores"]["awareness/f1"]["value"] for name, found in values.items()} == {
        "id": 1,
        "strict": pytest.approx(2 / 3),  # one link of three is of another time
        "relaxed": 1,
    }
    assert len({found["signature"] for found in values.values()}) == 3


def test_white_space_is_no_difference(pair):
    Path("spaced.tml").write_text(KEY["a.tml"].replace("and", "\n   and  "))
    for matching in ("id", "strict"):
        report = score("tlinks", "spaced.tml", gold="key/a.tml", matching=matching)
        assert report.total.scores["awareness/f1"].value == 1
    documents = [next(read_key(Path(name)).read())[2] for name in ("key/a.tml", "spaced.tml")]
    assert find_extents(documents[0]) == find_extents(documents[1])
    assert find_extents(documents[0]) == {
        "ei1": ("EVENT in TEXT", 5, 11),
        "ei2": ("EVENT in TEXT", 14, 19),
        "ei3": ("EVENT in title", 3, 7),
        "t0": ("creation time", 0, 0),
        "t1": ("TIMEX3 in TEXT", 24, 32),
    }


def test_the_digest_is_of_what_is_scored(pair):
    digests = gold_digests("key", "id")
    assert digests != gold_digests("key", "strict")
    written("same", {"b/c.xml": KEY["b/c.tml"].replace("May 4", "4 May"), "a.TML": KEY["a.tml"]})
    assert gold_digests("same", "id") == digests
    written("other", {**KEY, "a.tml": KEY["a.tml"].replace("IS_INCLUDED", "INCLUDES")})
    assert gold_digests("other", "id") != digests


def test_names_that_begin_with_a_dot_are_passed_over(pair):
    written("key", {".DS_Store": "\0", "._a.tml": "\0", ".git/a.tml": "\0", "README": "none"})
    assert list(read_key(Path("key")).by_name) == ["a", "b/c"]


def test_another_text(pair):
    Path("response/a.tml").write_text(RESPONSE["a.tml"].replace("and", "or"))
    assert refused(*pair) == (
        "response/a.tml: the text after 'Martawaited' is 'orsleptuntilThursday' "
        "(expected 'andsleptuntilThursda', as in the key)"
    )


def test_all_files_of_a_response_are_checked_at_once(run, pair):
    written(
        "response",
        {
            "a.tml": RESPONSE["a.tml"].replace("BEFORE", "before"),
            "b/c.tml": RESPONSE["b/c.tml"].replace('"t1" related', '"t9" related'),
            "d.tml": "<TimeML>",
        },
    )
    done = run("score", "tlinks", *pair)
    assert done.exit_code == 1
    found = done.stderr.splitlines()
    assert found[0] == "Error: response: 4 problems:"
    assert found[1].startswith(
        "response/a.tml:9: TLINK 'l2': relType 'before' is not one of BEFORE, AFTER, "
    )
    assert found[2].startswith(
        "response/a.tml:10: TLINK 'l3': relType 'before' is not one of BEFORE, AFTER, "
    )
    assert found[3:] == [
        "response/b/c.tml:8: TLINK 'l1': no TIMEX3 has the timeID 't9'",
        "response/d.tml:1: is not well-formed XML: no element found at column 9",
    ]


def test_documents_that_are_not_in_the_key(pair):
    written("response", {"b/d.tml": RESPONSE["a.tml"]})
    found = "response/b/d.tml: document 'b/d' is not in the key"
    swapped = " (or are key and response swapped? The key comes first)"
    assert refused(*pair) == f"{found}; extra='skip' leaves out what the key lacks{swapped}"


def test_a_folder_and_a_file(pair):
    expected = "(expected two files or two folders, or files of pairs)"
    assert (
        refused("key", "response/a.tml")
        == f"response/a.tml: is a file but the key is a folder {expected}"
    )
    assert (
        refused("key/a.tml", "response")
        == f"response: is a folder but the key is a file {expected}"
    )


def test_nothing_there(pair):
    Path("empty").mkdir()
    message = "empty: contains no TimeML files (expected names that end in .tml, .timeml, .xml)"
    assert refused("key", "empty") == message
    assert refused("empty", "key", error=FormatError) == message
    Path("empty/notes.txt").write_text("nothing\n", "utf-8")
    assert refused("key", "empty") == message
    assert refused("key/a.tml", "none.tml") == "none.tml: can't be read: No such file or directory"


def test_events_are_called_by_the_event_or_by_its_only_instance(run, pair):
    links = [("ei1", "BEFORE", "ei2"), ("ei2", "IS_INCLUDED", "t1")]
    by_instance = timeml(links)
    by_event = by_instance.replace('eventInstanceID="ei', 'eventID="e')
    by_event = by_event.replace('relatedToEventInstance="ei', 'relatedToEvent="e')
    without = "\n".join(line for line in by_event.splitlines() if "MAKEINSTANCE" not in line)
    written(".", {"instance.tml": by_instance, "event.tml": without})
    for sides in (("instance.tml", "event.tml"), ("event.tml", "instance.tml")):
        done = run("score", "tlinks", *sides, "--no-ci")
        assert done.stdout.count("100.00") == 3
        assert done.stderr == ""
    # Another event of the same name is still refused.
    other = without.replace('eid="e1"', 'eid="e9"').replace('eid="e2"', 'eid="e1"')
    other = other.replace('eid="e9"', 'eid="e2"')
    written(".", {"other.tml": other})
    assert "id 'e1' is 'slept' here but 'waited' in the key" in refused("instance.tml", "other.tml")


def test_no_shared_event_is_told(run, pair):
    ids = ("ei10", "ei20", "ei30", "t1")
    response = timeml([("ei10", "BEFORE", "ei20"), ("ei20", "IS_INCLUDED", "t1")], ids=ids)
    written(".", {"r.tml": response})
    stderr = run("score", "tlinks", "key/a.tml", "r.tml", "--no-ci").stderr
    assert stderr == (
        "note: r.tml: no event of its links, such as 'ei10', has the id of one of the key, such as 'ei1'; "
        "if only the ids differ, use --matching strict\n"
    )
    done = run("score", "tlinks", "key/a.tml", "r.tml", "--no-ci", "--matching", "strict")
    assert done.stderr == ""


def test_a_side_without_links_is_told(run, pair):
    written(".", {"r.tml": timeml([])})
    stderr = run("score", "tlinks", "key/a.tml", "r.tml", "--no-ci").stderr
    assert stderr == "note: r.tml: no link states a relation (expected TLINK elements)\n"


def test_relations_that_timeml_lacks_are_left_out_and_counted(run, pair):
    links = [("ei1", "BEFORE", "ei2"), ("ei2", "IS_INCLUDED", "t1"), ("ei1", "BEFORE", "t0")]
    written(".", {"r.tml": timeml([*links, ("ei3", "OVERLAP", "t1"), ("ei3", "SOON", "t0")])})
    done = run("score", "tlinks", "key/a.tml", "r.tml", "--no-ci")
    assert done.stdout.count("100.00") == 3
    assert done.stderr == (
        "note: r.tml: 2 links with a relation that TimeML does not have ('OVERLAP' 1, 'SOON' 1); not counted\n"
    )
