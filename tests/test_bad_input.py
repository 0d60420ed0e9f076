"""Bad submissions and gold files, and the whole message about each.

Each case checks all of standard error and the exit code, and that nothing is printed or written.
"""

import os
from pathlib import Path

import pytest
from shared.bad_input import (
    GOOD,
    ROWS,
    SAMPLE,
    lines,
    put,
    refuses,
    third,
    tsv,
)

import closeread
from closeread import limits
from closeread.exceptions import SubmissionError
from closeread.files import package_folder

pytestmark = pytest.mark.usefixtures("here")

NO_LABEL = "'Yes' is not one of 'no', 'yes'; did you mean 'yes'?"


@pytest.mark.filterwarnings("ignore:gold and predictions have no link:closeread.CloseReadWarning")
def test_unknown_fields_give_notes_or_are_refused(run, ran):
    put("right", lines(*ROWS))
    put("system", third('{"id": "test-00002", "label": "yes", "score": 0.9}'))
    done = run("score", "mctaco", "system", *SAMPLE)
    assert done.stdout == ran("score", "mctaco", "right", *SAMPLE)
    notes = done.stderr.splitlines()
    assert notes[0] == "note: system:3: id 'test-00002': unknown field 'score' is ignored"
    assert all("every predicted label is 'yes'" in note for note in notes[1:])
    for command in ("score", "compare", "table", "validate"):
        files = ["system", "right"] if command in ("compare", "table") else ["system"]
        refused = run(command, "mctaco", *files, *SAMPLE, "--extra", "error")
        refuses(refused, "system:3: id 'test-00002': unknown field 'score' (fields: 'id', 'label')")
    rows = [
        {
            "id": "s1",
            "relations": [{"anchor": "np1", "preposition": "of", "complement": "np0", "score": 1}],
        }
    ]
    with pytest.warns(
        closeread.CloseReadWarning, match=r"relations\[0\]: unknown field 'score' is ignored"
    ):
        assert closeread.validate("tne", rows, config="sample", missing="skip")
    rows[0]["relations"][0]["head"] = rows[0]["relations"][0].pop("anchor")
    [problem] = closeread.validate("tne", rows, config="sample", missing="skip").problems[:1]
    assert "relations[0]: unknown field 'score' (fields" in problem


@pytest.mark.filterwarnings("ignore::closeread.CloseReadWarning")
def test_gold_and_predictions_for_another_part_are_recognized(here):
    for corpus, file in (
        ("mctaco", "sample.tsv"),
        ("tne", "sample.jsonl"),
        ("wikipossessions", "sample.csv"),
    ):
        path = package_folder(f"closeread.loaders.{corpus}") / file
        for gold in (path, list(closeread.load_dataset(corpus, name="sample", split="test"))):
            problem = closeread.validate(corpus, gold, config="sample").problems[0]
            assert "these are gold records, not predictions (expected only '" in problem
    # Gold of TimeLine has the form of predictions, so that a wrong name is a wrong name.
    timelines = list(closeread.load_dataset("semeval2015_timeline", name="sample", split="test"))
    wrong = f"{timelines[0]['id']}s"
    renamed = [{**timelines[0], "id": wrong}, *timelines[1:]]
    [problem] = closeread.validate("semeval2015_timeline", renamed, config="sample").problems
    assert f"id '{wrong}' is not in the gold; did you mean '{timelines[0]['id']}'?" in problem
    put("system", lines(*ROWS))
    put("test_9442.tsv", tsv(*[GOOD] * 3))
    [problem] = closeread.validate("mctaco", "system", data_dir=".").problems
    assert problem == "system: all 103 ids are those of config='sample', not of test (default)"
    put("system", third('{"id": "Test-00002", "label": "yes"}'))
    problem = closeread.validate("mctaco", "system", config="sample").problems[-1]
    assert problem == "system:3: id 'Test-00002' is not in the gold; did you mean 'test-00002'?"


def test_predictions_of_another_corpus_are_named_in_one_line(run):
    put("labels", lines(*ROWS))
    like = "labels: the rows look like those of mctaco: 'id', 'label'"
    unknown = (
        "labels: no id of this file is in the gold: 'test-00000', 'test-00001', 'test-00002', …"
    )
    assert run("score", "tne", "labels", *SAMPLE).stderr == (
        "Error: labels: 2 problems:\n"
        f"{like} (expected 'id', 'relations', 'fallback')\n"
        f"{unknown} (expected such as 's1', 's2', 's3', …)\n"
    )
    put("key", '{"document": "d", "clusters": [], "n_tokens": 1}\n')
    expected = "(expected 'document', 'clusters', 'n_tokens')"
    assert run("score", "coref", "key", "labels").stderr == f"Error: {like} {expected}\n"
    # The fields are right, and the gold is another.
    put("labels", lines(*(row.replace("test-", "xtest-") for row in ROWS)))
    assert run("score", "mctaco", "labels", *SAMPLE).stderr == (
        "Error: labels: no id of this file is in the gold: 'xtest-00000', 'xtest-00001', "
        "'xtest-00002', … (expected such as 'test-00000', 'test-00001', 'test-00002', …)\n"
    )


def test_all_rows_wrong_are_all_counted(run):
    """Beyond a hundred rejected rows, problems are counted and no longer worded."""
    put("system", "Yes\n" * 103)
    result = run("score", "mctaco", "system", *SAMPLE)
    assert result.stderr == (
        "Error: system: 103 problems of 2 kinds:\n"
        f"system:1: id 'test-00000': label: {NO_LABEL} (100 times; also lines 2, 3, 4, …)\n"
        "system:101: id 'test-00100': is invalid, too (only 100 rows are explained) (3 times; also lines 102, 103)\n"
    )


def test_problems_that_are_only_counted_are_all_counted(run):
    put("key.jsonl", '{"doc": 1}\n' * 310)
    lines = run("score", "coref", "key.jsonl", "key.jsonl").stderr.splitlines()
    assert lines[0] == "Error: key.jsonl: 510 problems of 4 kinds:"
    assert lines[1].endswith("(100 times; also lines 2, 3, 4, …)")
    assert lines[4].startswith(
        "key.jsonl:101: is invalid, too (only 100 rows are explained) (210 times"
    )


@pytest.mark.parametrize("where", ["system", "gold.tsv", "gold.jsonl"])
class TestNoFileToRead:
    def refused(self, run, where, what):
        put("right", lines(*ROWS))
        asked = ["system", *SAMPLE] if where == "system" else ["right", "--gold", where]
        refuses(run("score", "mctaco", *asked, "--counts", "kept"), f"{where}: {what}")
        assert not Path("kept").exists()

    def test_missing(self, run, where):
        self.refused(run, where, "can't be read: No such file or directory")

    def test_directory(self, run, where):
        Path(where).mkdir()
        self.refused(run, where, "is a directory (expected a file)")

    def test_pipe(self, run, where):
        os.mkfifo(where)
        self.refused(run, where, "is not a regular file")

    def test_line_of_two_gigabytes(self, run, where, monkeypatch):
        put(where, b"{")
        os.truncate(where, 2**31)
        read = Path.read_bytes

        def read_bytes(path):
            assert path.name != where, "a file of that size must not be read"
            return read(path)

        monkeypatch.setattr(Path, "read_bytes", read_bytes)
        self.refused(run, where, "is too large: 2,147,483,648 bytes (limit: 1,073,741,824)")

    def test_long_lines(self, run, where, monkeypatch):
        monkeypatch.setattr(limits, "MAX_LINE_BYTES", 1000)
        put(where, "x" * 1000 + "\n" + "ä" * 501)
        put("right", lines(*ROWS))
        asked = ["system", *SAMPLE] if where == "system" else ["right", "--gold", where]
        refuses(
            run("score", "mctaco", *asked),
            f"{where}:2: line is too long: 1,002 bytes (limit: 1,000)",
        )


def test_the_name_of_a_file_comes_out_escaped(run):
    name = "a\x1b[31m\u202e"
    message = r"a\x1b[31m\u202e: can't be read: No such file or directory"
    refuses(run("score", "mctaco", name, *SAMPLE), message)
    with pytest.raises(SubmissionError) as caught:
        closeread.score("mctaco", name, config="sample")
    assert (str(caught.value), caught.value.source) == (message, name)
