"""`closeread perturb mctaco` and `closeread adjudicate mctaco`, from files to files."""

import json
from collections import Counter
from pathlib import Path

from shared.for_each import for_each

from closeread.corpus.gold import read_gold, read_own_gold, read_rows
from closeread.corpus.names import load_corpus

ANNOTATORS = ("anna.jsonl", "ben.jsonl", "cleo.jsonl", "dan.jsonl")


def rows(name):
    return [json.loads(line) for line in Path(name).read_text("utf-8").splitlines()]


def annotate(name, labels):
    Path(name).write_text("".join(json.dumps({"id": i, "label": label}) + "\n" for i, label in labels.items()), "utf-8")


def test_units_changes_only_answers(ran):
    assert ran("perturb", "mctaco", "units", "--config", "sample", "-o", "n.jsonl").startswith("n.jsonl: 103 rows, ")
    before, after = read_gold(load_corpus("mctaco"), "sample").records, rows("n.jsonl")
    changed = {old["answer"]: new["answer"] for old, new in zip(before, after, strict=True) if old != new}
    assert changed["30 months"] == "2.5 years"
    assert changed["18 months"] == "1.5 years"
    assert all({**old, "answer": ""} == {**new, "answer": ""} for old, new in zip(before, after, strict=True))


def test_candidates_fit_their_schema_and_the_limit(ran):
    Path("phrases.txt").write_text("she sold the boat\nthe bridge was closed\nhe went to the museum\n", "utf-8")
    options = ["--number-rule", "times_ten", "--phrases", "phrases.txt", "--limit", "12", "--changes", "2"]
    ran("perturb", "mctaco", "candidates", "--config", "sample", *options, "-o", "c.jsonl")
    made = read_rows(Path("c.jsonl"), "mctaco", "candidate")
    assert max(Counter(row["question_id"] for row in made).values()) == 12
    assert {row["technique"] for row in made} == {"original", "rules", "retrieval"}
    ran("perturb", "mctaco", "candidates", "--config", "sample", *options, "-o", "again.jsonl")
    assert Path("again.jsonl").read_bytes() == Path("c.jsonl").read_bytes()
    ran("perturb", "mctaco", "candidates", "--config", "sample", *options, "--seed", "1", "-o", "again.jsonl")
    assert Path("again.jsonl").read_bytes() != Path("c.jsonl").read_bytes()


def test_events_without_phrases_are_told(run, here):
    command = ["perturb", "mctaco", "candidates", "--config", "sample", "-o", "c.jsonl"]
    assert (
        "note: 5 questions of Event Ordering will get no new candidates: their answers are events, for which phrases "
        "are retrieved (see --phrases, or use --events none).\n"
    ) in run(*command).stderr
    assert "will get no new candidates" not in run(*command, "--events", "none").stderr


def test_phrases_without_events_are_told(run, here):
    Path("own.tsv").write_text("She paints.\tWhen?\tnow\tyes\tTypical Time\n", "utf-8")
    Path("phrases.txt").write_text("she paints now\n", "utf-8")
    command = ["perturb", "mctaco", "candidates", "--gold", "own.tsv", "--phrases", "phrases.txt", "-o", "c.jsonl"]
    note = "note: no phrases are retrieved: there is no question of Event Ordering (see --events).\n"
    assert run(*command).stderr.endswith(note)
    assert "retrieval" not in Path("c.jsonl").read_text("utf-8")
    assert note not in run(*command, "--events", "none").stderr
    assert "retrieval" in Path("c.jsonl").read_text("utf-8")


@for_each(
    ("events", "message"),
    [
        (["event ordering"], "no such category of events: 'event ordering'."),
        (["event ordering"], "Did you mean 'Event Ordering'?"),
        (["none", "Frequency"], "events: 'none' excludes other categories"),
    ],
)
def test_unknown_categories_of_events(run, here, events, message):
    flags = [part for category in events for part in ("--events", category)]
    result = run("perturb", "mctaco", "candidates", "--config", "sample", *flags, "-o", "c.jsonl")
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())
    assert not Path("c.jsonl").exists()


def test_a_phrase_file_without_phrases(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("phrases.txt").write_text("…\n", "utf-8")
    command = ["perturb", "mctaco", "candidates", "--config", "sample", "--phrases", "phrases.txt", "-o", "c.jsonl"]
    result = run(*command)
    assert result.exit_code == 1
    assert "phrases.txt: no phrase contains a word (expected at least one)" in result.stderr
    assert not Path("c.jsonl").exists()


def test_unanimous_annotators_make_gold(ran):
    ran("perturb", "mctaco", "candidates", "--config", "sample", "-o", "c.jsonl")
    ids = [row["id"] for row in rows("c.jsonl")]
    # One annotator disagrees on the first candidate; all label the second invalid and the third unlikely.
    for number, name in enumerate(ANNOTATORS):
        labels = dict.fromkeys(ids, "likely") | {ids[1]: "invalid", ids[2]: "unlikely"}
        annotate(name, labels | ({ids[0]: "unlikely"} if number == 3 else {}))
    printed = ran(
        "adjudicate", "mctaco", *ANNOTATORS, "--candidates", "c.jsonl", "--dropped", "d.jsonl", "-o", "gold.jsonl"
    )
    assert printed.startswith(f"gold.jsonl: {len(ids) - 2} kept ({len(ids) - 3} yes, 1 no), 2 dropped")
    assert rows("d.jsonl") == [
        {"id": ids[0], "labels": ["likely", "likely", "likely", "unlikely"]},
        {"id": ids[1], "labels": ["invalid"] * 4},
    ]
    gold = read_own_gold(load_corpus("mctaco"), Path("gold.jsonl")).records
    assert [(record["id"], record["label"]) for record in gold[:2]] == [(ids[2], "no"), (ids[3], "yes")]
    ran("adjudicate", "mctaco", *ANNOTATORS, "-o", "labels.jsonl")
    assert rows("labels.jsonl")[0] == {"id": ids[2], "label": "no"}


@for_each(
    ("second", "message"),
    [
        ({"a": "likely"}, "annotations: ben.jsonl: 'b' has no label, but another annotator labelled it"),
        (
            {"a": "likely", "b": "Likely"},
            "ben.jsonl:2: id 'b': label: 'Likely' is not one of 'likely', 'unlikely', 'invalid'",
        ),
    ],
    ids=["a missing id", "an unknown label"],
)
def test_annotators_with_different_ids_or_unknown_labels(run, tmp_path, monkeypatch, second, message):
    monkeypatch.chdir(tmp_path)
    annotate("anna.jsonl", {"a": "likely", "b": "likely"})
    annotate("ben.jsonl", second)
    result = run("adjudicate", "mctaco", "anna.jsonl", "ben.jsonl", "-o", "gold.jsonl")
    assert (result.exit_code, result.stderr) == (1, f"Error: {message}\n")
    assert not Path("gold.jsonl").exists()


def test_a_label_for_an_unknown_candidate(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run("perturb", "mctaco", "candidates", "--config", "sample", "-o", "c.jsonl")
    for name in ANNOTATORS:
        annotate(name, {"elsewhere": "likely"})
    result = run("adjudicate", "mctaco", *ANNOTATORS, "--candidates", "c.jsonl", "-o", "gold.jsonl")
    assert (result.exit_code, result.stderr) == (
        1,
        "Error: c.jsonl: candidate 'elsewhere' was annotated but is not in this file\n",
    )
    assert not Path("gold.jsonl").exists()


def test_a_library_that_is_not_installed(run, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(__import__("sys").modules, "text_to_num", None)
    result = run("perturb", "mctaco", "units", "--config", "sample", "-o", "n.jsonl")
    assert result.exit_code == 1
    assert result.stderr == "Error: parsing number words needs text2num: pip install 'closeread[perturb]'\n"
    assert not Path("n.jsonl").exists()
