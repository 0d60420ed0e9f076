"""A score is proposed to a model's repository once, however often it is sent."""

import pytest
from shared.hub_client import run_client
from shared.stand_in_hub import CUT_AFTER, Fault

from closeread.hub.eval_results import make_entry, results_file, results_path

GIVEN = {
    "dataset": "lab/rain",
    "task": "rain_test",
    "value": 0.5,
    "signature": "mctaco|version:1",
    "source": "https://a.example/r.json",
}
CODE = """
from closeread.hub.eval_results import make_entry, propose_results
from closeread.hub.repository import Hub
commit = propose_results(Hub(), {model!r}, make_entry(**{given!r}))
print(commit.changed, commit.pull_request, commit.pull_request_url)
"""


@pytest.fixture
def propose(hub):
    """Proposes a score of ann's model as a user, and returns what the function prints."""
    hub.add_repository("ann/model", "model", {"README.md": b"# Model"})

    def call(user="bob", model="ann/model", **change):
        return run_client(hub, user, CODE.format(model=model, given=GIVEN | change), check=False)

    return call


def pull_requests(hub):
    return [discussion for discussion in hub.discussions("ann/model", "model") if discussion.is_pull_request]


def test_a_pull_request_with_one_file(hub, propose):
    done = propose(date="2026-11-22")
    assert done.stdout == f"True 1 {hub.url}/ann/model/discussions/1\n", done.stderr
    entry = make_entry(**GIVEN, date="2026-11-22")
    assert hub.files("ann/model", "model") == {"README.md": b"# Model"}
    proposed = hub.files("ann/model", "model", "refs/pr/1")
    assert proposed == {"README.md": b"# Model", results_path(entry): results_file(entry)}


def test_once_while_it_is_open_and_after_it_is_merged(hub, propose):
    assert propose(date="2026-11-22").stdout.startswith("True 1 ")
    assert propose(date="2026-11-23").stdout.startswith("False 1 ")
    run_client(hub, "ann", "import huggingface_hub as h; h.HfApi().merge_pull_request('ann/model', 1)")
    assert propose(user="olga").stdout == "False None None\n"
    # Merged, and deleted since: its owner does not want it.
    hub.commit("ann/model", "model", {results_path(make_entry(**GIVEN)): None})
    assert propose().stdout.startswith("False 1 ")
    assert len(pull_requests(hub)) == 1


def test_other_scores_and_other_pull_requests(hub, propose):
    run_client(
        hub,
        "bob",
        "import huggingface_hub as h; h.HfApi().create_pull_request('ann/model', title='Add the score of x')",
    )
    assert propose().stdout.startswith("True 2 ")
    assert propose(value=0.75).stdout.startswith("True 3 ")
    assert propose(task="rain_dev").stdout.startswith("True 4 ")
    assert propose(signature="mctaco|version:2").stdout.startswith("True 5 ")
    assert propose(value=0.75).stdout.startswith("False 3 ")


def test_a_pull_request_that_was_closed_may_be_proposed_again(hub, propose):
    assert propose().stdout.startswith("True 1 ")
    run_client(hub, "ann", "import huggingface_hub as h; h.HfApi().change_discussion_status('ann/model', 1, 'closed')")
    assert propose().stdout.startswith("True 2 ")


def test_a_cut_connection_leaves_one_pull_request(hub, propose):
    hub.faults.append(Fault("/api/models/ann/model/commit/", "POST", CUT_AFTER))
    assert propose().returncode == 0
    assert len(pull_requests(hub)) == 1


def test_no_such_model(propose):
    done = propose(model="ann/nothing")
    assert done.returncode != 0
    assert "NoSuchRepositoryError: no such model ann/nothing" in done.stderr
