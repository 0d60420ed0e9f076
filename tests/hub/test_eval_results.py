"""Scores in a model's repository: the file, what is refused before anything is sent, and proposing it once."""

import json

import pytest
import yaml
from huggingface_hub import parse_eval_result_entries
from shared.boards import sample_answers, write_rows
from shared.fake_hub import CUT, Fault
from shared.hub_boards import STORE, closeread

from closeread.exceptions import FormatError, RequestError
from closeread.hub.client import Hub, NoSuchRepositoryError
from closeread.hub.eval_results import make_entry, propose_results, results_path

GIVEN = {
    "dataset": "lab/rain",
    "task": "rain_test",
    "value": 2 / 3,
    "signature": "mctaco|version:1|missing:error|gold:0123456789ab",
    "source": "https://huggingface.co/datasets/lab/rain-results/resolve/0a1b/results/r.json",
}


def test_the_name_of_the_file_depends_on_what_is_scored():
    path = results_path(make_entry(**GIVEN))
    assert path.startswith(".eval_results/closeread-")
    assert path == results_path(
        make_entry(**GIVEN | {"value": 0.1, "source": "https://a.example/x"})
    )
    for name, value in (
        ("dataset", "lab/snow"),
        ("task", "rain_dev"),
        ("signature", "mctaco|version:2"),
    ):
        assert path != results_path(make_entry(**GIVEN | {name: value}))


def test_all_problems_at_once():
    with pytest.raises(FormatError) as refused:
        make_entry(
            dataset="rain", task="rain test", value=1.01, signature="a\nb", source="javascript:x"
        )
    assert [problem.path for problem in refused.value.problems] == [
        (0, "dataset", "id"),
        (0, "dataset", "task_id"),
        (0, "notes"),
        (0, "source", "url"),
        (0, "value"),
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
    ],
)
def test_what_the_schema_refuses(name, value):
    with pytest.raises(FormatError, match="the evaluation result"):
        make_entry(**GIVEN | {name: value})


@pytest.fixture
def propose(hub, log_in):
    """Proposes a score of ann's model as a user; returns whether it was new, and the pull request."""
    hub.add_repository("ann/model", "model", {"README.md": b"# Model"})

    def call(user="bob", model="ann/model", **change):
        log_in(user)
        commit = propose_results(Hub(), model, make_entry(**GIVEN | change))
        return commit.changed, commit.pull_request, commit.pull_request_url

    return call


def test_a_pull_request_with_one_file(hub, propose):
    assert propose() == (True, 1, f"{hub.url}/ann/model/discussions/1")
    path = results_path(make_entry(**GIVEN))
    assert hub.files("ann/model", "model") == {"README.md": b"# Model"}
    proposed = hub.files("ann/model", "model", "refs/pr/1")
    assert proposed.keys() == {"README.md", path}
    assert proposed[path].decode() == (
        "- dataset:\n"
        "    id: lab/rain\n"
        "    task_id: rain_test\n"
        "  value: 66.67\n"
        "  source:\n"
        "    url: https://huggingface.co/datasets/lab/rain-results/resolve/0a1b/results/r.json\n"
        "    name: closeread\n"
        "  notes: mctaco|version:1|missing:error|gold:0123456789ab\n"
    )
    [entry] = parse_eval_result_entries(yaml.safe_load(proposed[path]))
    assert (entry.dataset_id, entry.task_id, entry.value) == ("lab/rain", "rain_test", 66.67)
    assert (entry.notes, entry.verify_token) == (GIVEN["signature"], None)


def test_once_while_it_is_open_and_after_it_is_merged(hub, propose):
    assert propose()[:2] == (True, 1)
    assert propose()[:2] == (False, 1)
    [merged] = hub.discussions("ann/model", "model")
    merged.status = "merged"
    hub.commit("ann/model", "model", hub.files("ann/model", "model", "refs/pr/1"))
    assert propose(user="olga") == (False, None, None)
    # Merged, and deleted since: its owner does not want it.
    hub.commit("ann/model", "model", {results_path(make_entry(**GIVEN)): None})
    assert propose()[:2] == (False, 1)
    assert len(hub.discussions("ann/model", "model")) == 1


def test_other_scores_and_other_pull_requests(hub, propose):
    hub.open_pull_request("ann/model", "model", "bob", {}, title="Add the score of x")
    assert propose()[:2] == (True, 2)
    assert propose(value=0.75)[:2] == (True, 3)
    assert propose(task="rain_dev")[:2] == (True, 4)
    assert propose(signature="mctaco|version:2")[:2] == (True, 5)
    assert propose(value=0.75)[:2] == (False, 3)
    hub.discussions("ann/model", "model")[1].status = "closed"
    assert propose()[:2] == (True, 6)  # one that was closed may be proposed again


def test_after_a_cut_connection_the_same_again_leaves_one_pull_request(hub, propose):
    hub.faults = [Fault("create_commit", CUT, is_late=True)]
    with pytest.raises(RequestError, match="could not reach the Hugging Face Hub"):
        propose()
    propose()
    assert len(hub.discussions("ann/model", "model")) == 1


def test_no_such_model(propose):
    with pytest.raises(NoSuchRepositoryError, match="no such model ann/nothing"):
        propose(model="ann/nothing")


def test_a_model_gets_its_result_proposed(hub, tmp_path):
    hub.add_repository("ann/reader", "model", author="ann")
    init = f"leaderboard init {STORE} --corpus mctaco --config sample --dataset lab/mctaco"
    closeread(hub, "olga", *init.split(), cwd=tmp_path)
    write_rows(tmp_path / "half.jsonl", sample_answers(right=50))
    submit = f"submit mctaco half.jsonl --system Reader --model ann/reader --to {STORE}".split()
    first = closeread(hub, "ann", *submit, cwd=tmp_path)
    (request,) = hub.discussions("ann/reader", "model")
    assert f"Result proposed to ann/reader: {hub.url}/ann/reader/discussions/{request.num}" in first
    files = hub.files("ann/reader", "model", request.git_reference)
    (path,) = [path for path in files if path.startswith(".eval_results/")]
    [entry] = yaml.safe_load(files[path])
    score = ["score", "mctaco", "half.jsonl", "--config", "sample", "--json"]
    scored = json.loads(closeread(hub, None, *score, cwd=tmp_path))
    assert entry["value"] == round(100 * scored["scores"]["f1"]["value"], 2)
    assert entry["dataset"] == {"id": "lab/mctaco", "task_id": "mctaco_sample_test"}
    assert entry["notes"] == scored["signature"]
    again = closeread(hub, "ann", *submit, cwd=tmp_path)
    assert "had been" in again
    assert len(hub.discussions("ann/reader", "model")) == 1
