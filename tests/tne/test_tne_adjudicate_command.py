"""`closeread adjudicate tne`: from annotators' files to gold, with files of conflicts as people edit them."""

from pathlib import Path

import pytest
from shared.json_lines import read, write
from shared.tne_annotated import ANNA, BEN, annotate, consolidate

from closeread.tasks.tne.adjudication import conflicts


def test_from_two_files_to_gold(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    told = ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    assert told == "agreed.jsonl: 1 document, 4 links; 0 conflicts decided, 3 open (in conflicts.jsonl)\n"
    rows = read("conflicts.jsonl")
    assert [row["decision"] for row in rows] == [None] * 3

    refused = run(*start, "--decisions", "conflicts.jsonl", "-o", "gold.jsonl")
    assert refused.exit_code == 1
    assert refused.stderr.startswith(
        "Error: conflicts.jsonl: 3 problems:\nconflicts.jsonl:1: np1 and np0 in 'd': decision"
    )
    assert not Path("gold.jsonl").exists()

    write("some.jsonl", [rows[0] | {"decision": ["on"]}, rows[1]])
    told = ran(*start, "--decisions", "some.jsonl", "--conflicts", "rest.jsonl", "-o", "more.jsonl")
    assert told == "more.jsonl: 1 document, 4 links; 1 conflict decided, 2 open (in rest.jsonl)\n"
    assert read("rest.jsonl") == rows[1:]

    write("all.jsonl", [row | {"decision": row["A"]} for row in rows])
    told = ran(*start, "--decisions", "all.jsonl", "-o", "gold.jsonl")
    assert told == "gold.jsonl: 1 document, 7 links; 3 conflicts decided, 0 open\n"
    (gold,) = read("gold.jsonl")
    assert gold == ANNA[0]
    ran("agreement", "tne", "gold.jsonl", "anna.jsonl")  # reads it with all rules of the corpus


def test_all_that_is_wrong_with_a_file_of_decisions(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    rows = conflicts(consolidate(ANNA, BEN))
    write(
        "bad.jsonl", [rows[0] | {"decision": ["of"]}, rows[0] | {"decision": ["on"]}, rows[1], rows[2] | {"B": ["on"]}]
    )
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "--decisions", "bad.jsonl", "-o", "gold.jsonl")
    assert result.exit_code == 1
    assert [line.split(": ")[0] for line in result.stderr.splitlines()[1:]] == [
        "bad.jsonl:2", "bad.jsonl:3", "bad.jsonl:4", "bad.jsonl:4",
    ]  # fmt: skip
    assert not Path("gold.jsonl").exists()


def test_rows_that_are_no_decisions_hide_no_others(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    rows = conflicts(consolidate(ANNA, BEN))
    bad = [rows[0] | {"decision": ["off"]}, {"id": "d", "decision": []}, rows[1], rows[2] | {"id": "e"}]
    write("bad.jsonl", bad)
    with Path("bad.jsonl").open("a", encoding="utf-8") as file:
        file.write("x\n")
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl", "--decisions", "bad.jsonl", "-o", "gold.jsonl"]
    lines = run(*start).stderr.splitlines()
    assert lines[0] == "Error: bad.jsonl: 6 problems:"
    assert lines[1].startswith("bad.jsonl:1: id 'd': decision[0]: 'off' is not one of ")
    assert lines[2:4] == [f"bad.jsonl:2: id 'd': field '{end}' is missing" for end in ("anchor", "complement")]
    # Conflicts may seem to lack a row that could not be read.
    assert lines[4:] == [
        "bad.jsonl:3: np1 and np3 in 'd': decision is null (expected prepositions, or [] for no link)",
        "bad.jsonl:4: id 'e' is not a document of the annotators' files",
        "bad.jsonl:5: is not valid JSON: Expecting value at column 1",
    ]
    told = run(*start, "--conflicts", "open.jsonl").stderr
    assert "bad.jsonl:3" not in told
    assert "bad.jsonl: 5 problems:" in told
    assert not Path("gold.jsonl").exists()


def test_decisions_where_nothing_is_contested(ran, run):
    write("anna.jsonl", ANNA)
    write("ben.jsonl", BEN)
    ran("adjudicate", "tne", "anna.jsonl", "anna.jsonl", "--conflicts", "none.jsonl", "-o", "agreed.jsonl")
    assert Path("none.jsonl").read_bytes() == b""
    told = ran("adjudicate", "tne", "anna.jsonl", "anna.jsonl", "--decisions", "none.jsonl", "-o", "gold.jsonl")
    assert told == "gold.jsonl: 1 document, 7 links; 0 conflicts decided, 0 open\n"
    assert read("gold.jsonl") == ANNA
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "--decisions", "none.jsonl", "-o", "other.jsonl")
    assert result.stderr == (
        "Error: none.jsonl: no row for 3 of 3 conflicts: np1 and np0 in 'd'; np1 and np3 in 'd'; np0 and np3 in 'd' "
        "(expected one for each)\n"
    )


def test_all_that_is_wrong_with_two_files(ran, run):
    open_link = ANNA[0]["np_relations"][:1]
    write("anna.jsonl", [ANNA[0] | {"np_relations": open_link}])
    write("ben.jsonl", [BEN[0] | {"text": "x"}])
    result = run("adjudicate", "tne", "anna.jsonl", "ben.jsonl", "-o", "gold.jsonl")
    assert result.exit_code == 1
    assert [line.split(" (expected")[0] for line in result.stderr.splitlines()] == [
        "Error: anna.jsonl:1: id 'd': np_relations[0] (np3 around np0): there is no such link to np2",
        "ben.jsonl: 4 problems:",
        *(
            f"ben.jsonl:1: id 'd': np{number}: characters {start} to {end} of the text are {found}"
            for number, start, end, found in [(0, 0, 5, "'x'"), (1, 6, 10, "''"), (2, 11, 13, "''"), (3, 14, 18, "''")]
        ),
    ]
    assert not Path("gold.jsonl").exists()


def test_words_with_control_characters_come_back(ran):
    words = "a\x85b roof"  # as the released texts have them
    write("anna.jsonl", annotate([(1, "of", 0)], words=words, clusters=[]))
    write("ben.jsonl", annotate([], words=words, clusters=[]))
    start = ["adjudicate", "tne", "anna.jsonl", "ben.jsonl"]
    ran(*start, "--conflicts", "conflicts.jsonl", "-o", "agreed.jsonl")
    write("decided.jsonl", [row | {"decision": ["of"], "anchor_text": "a\x91"} for row in read("conflicts.jsonl")])
    ran(*start, "--decisions", "decided.jsonl", "-o", "gold.jsonl")
    assert read("gold.jsonl") == read("anna.jsonl")


@pytest.mark.extended
def test_the_release_with_itself_is_itself(corpora, ran):
    files = [corpora / "tne" / name for name in ("dev.jsonl.gz", "dev-v1.1.jsonl.gz")]
    told = ran("adjudicate", "tne", *files, "--conflicts", "conflicts.jsonl", "-o", "gold.jsonl")
    # 103,668 links, of which 9 stand twice
    assert told == "gold.jsonl: 500 documents, 103,659 links; 0 conflicts decided, 0 open (in conflicts.jsonl)\n"
    assert read("conflicts.jsonl") == []
