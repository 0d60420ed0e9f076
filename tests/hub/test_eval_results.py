"""Scores in a model's repository: the file, and what is refused before anything is sent."""

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries

from closeread.exceptions import FormatError
from closeread.hub.eval_results import make_entry, results_file, results_path
from closeread.hub.schemas import check

GIVEN = {
    "dataset": "lab/rain",
    "task": "rain_test",
    "value": 2 / 3,
    "signature": "mctaco|version:1|missing:error|gold:0123456789ab",
    "source": "https://huggingface.co/datasets/lab/rain-results/resolve/0a1b/results/r.json",
}


def test_the_file_as_the_hub_documents_it():
    entry = make_entry(**GIVEN, date="2026-11-22", user="ann", revision="a" * 40)
    assert results_file(entry).decode() == (
        "- dataset:\n"
        "    id: lab/rain\n"
        "    task_id: rain_test\n"
        f"    revision: {'a' * 40}\n"
        "  value: 66.67\n"
        "  date: '2026-11-22'\n"
        "  source:\n"
        "    url: https://huggingface.co/datasets/lab/rain-results/resolve/0a1b/results/r.json\n"
        "    name: closeread\n"
        "    user: ann\n"
        "  notes: mctaco|version:1|missing:error|gold:0123456789ab\n"
    )


@pytest.mark.parametrize("date", ["2026-11-22", "2026-11-22T10:00:00Z"])
def test_the_client_reads_it_back(date):
    found = yaml.safe_load(results_file(make_entry(**GIVEN, date=date, user="ann")))
    [entry] = parse_eval_result_entries(found)
    assert (entry.dataset_id, entry.task_id, entry.value) == ("lab/rain", "rain_test", 66.67)
    assert (entry.date, entry.source_user, entry.notes) == (date, "ann", GIVEN["signature"])
    assert entry.verify_token is None
    assert isinstance(entry.date, str)


def test_the_name_of_the_file_depends_on_what_is_scored():
    path = results_path(make_entry(**GIVEN))
    assert path.startswith(".eval_results/closeread-")
    assert path == results_path(
        make_entry(**GIVEN | {"value": 0.1, "source": "https://a.example/x"}, date="2026-11-23")
    )
    for name, value in (("dataset", "lab/snow"), ("task", "rain_dev"), ("signature", "mctaco|version:2")):
        assert path != results_path(make_entry(**GIVEN | {name: value}))


def test_all_problems_at_once():
    with pytest.raises(FormatError) as refused:
        make_entry(
            dataset="rain", task="rain test", value=1.01, signature="a\nb", source="javascript:x", date="22.11.2026"
        )
    assert str(refused.value).splitlines() == [
        "the evaluation result: 6 problems:",
        "the evaluation result: [0].dataset.id: 'rain' is not valid (expected a dataset of the Hub, ORG/NAME)",
        "the evaluation result: [0].dataset.task_id: 'rain test' is not valid (expected 1 to 100 ASCII letters, digits,"
        " '_', '.' and '-')",
        "the evaluation result: [0].date: '22.11.2026' is not valid (expected 2026-11-22 or 2026-11-22T10:00:00Z)",
        r"the evaluation result: [0].notes: 'a\nb' is not valid (expected the signature of the score, 1 to 1000"
        " printable ASCII characters)",
        "the evaluation result: [0].source.url: 'javascript:x' is not valid (expected an https address of at most 500"
        " characters)",
        "the evaluation result: [0].value: 101.0 is not valid (expected a number from 0 to 100)",
    ]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("value", float("nan")),
        ("value", -0.01),
        ("source", "https://a.example/x y"),
        ("source", "https://a.example/<x>"),
        ("source", "http://a.example/x"),
        ("signature", ""),
        ("signature", "x" * 1001),
        ("dataset", "lab/rain\n"),
        ("dataset", "lab/../rain"),
        ("user", "ann\n"),
        ("revision", "main"),
    ],
)
def test_what_the_schema_refuses(name, value):
    with pytest.raises(FormatError, match="the evaluation result"):
        make_entry(**GIVEN | {name: value})


def test_a_token_of_verification_is_never_sent():
    entry = make_entry(**GIVEN)
    with pytest.raises(FormatError, match="verifyToken"):
        results_file({**entry, "verifyToken": "x"})
    with pytest.raises(FormatError, match=r"results: \[\] should be non-empty"):
        check([], "eval_results", "results")
