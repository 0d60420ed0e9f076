"""A score is proposed to a model's repository once, however often it is sent."""

import time

import pytest
from huggingface_hub import HfApi
from shared.stand_in_hub import CUT_AFTER, Fault

from closeread.hub.client import Hub, NoSuchRepositoryError
from closeread.hub.eval_results import make_entry, propose_results, results_file, results_path

GIVEN = {
    "dataset": "lab/rain",
    "task": "rain_test",
    "value": 0.5,
    "signature": "mctaco|version:1",
    "source": "https://a.example/r.json",
}


@pytest.fixture
def propose(hub, log_in):
    """Proposes a score of ann's model as a user; returns whether it was new, and the pull request."""
    hub.add_repository("ann/model", "model", {"README.md": b"# Model"})

    def call(user="bob", model="ann/model", **change):
        log_in(user)
        commit = propose_results(Hub(), model, make_entry(**GIVEN | change))
        return commit.changed, commit.pull_request, commit.pull_request_url

    return call


def pull_requests(hub):
    return [discussion for discussion in hub.discussions("ann/model", "model") if discussion.is_pull_request]


def test_a_pull_request_with_one_file(hub, propose):
    assert propose(date="2026-11-22") == (True, 1, f"{hub.url}/ann/model/discussions/1")
    entry = make_entry(**GIVEN, date="2026-11-22")
    assert hub.files("ann/model", "model") == {"README.md": b"# Model"}
    proposed = hub.files("ann/model", "model", "refs/pr/1")
    assert proposed == {"README.md": b"# Model", results_path(entry): results_file(entry)}


def test_once_while_it_is_open_and_after_it_is_merged(hub, propose, log_in):
    assert propose(date="2026-11-22")[:2] == (True, 1)
    assert propose(date="2026-11-23")[:2] == (False, 1)
    log_in("ann")
    HfApi().merge_pull_request("ann/model", 1)
    assert propose(user="olga") == (False, None, None)
    # Merged, and deleted since: its owner does not want it.
    hub.commit("ann/model", "model", {results_path(make_entry(**GIVEN)): None})
    assert propose()[:2] == (False, 1)
    assert len(pull_requests(hub)) == 1


def test_other_scores_and_other_pull_requests(propose, log_in):
    log_in("bob")
    HfApi().create_pull_request("ann/model", title="Add the score of x")
    assert propose()[:2] == (True, 2)
    assert propose(value=0.75)[:2] == (True, 3)
    assert propose(task="rain_dev")[:2] == (True, 4)
    assert propose(signature="mctaco|version:2")[:2] == (True, 5)
    assert propose(value=0.75)[:2] == (False, 3)


def test_a_pull_request_that_was_closed_may_be_proposed_again(propose, log_in):
    assert propose()[:2] == (True, 1)
    log_in("ann")
    HfApi().change_discussion_status("ann/model", 1, "closed")
    assert propose()[:2] == (True, 2)


def test_a_cut_connection_leaves_one_pull_request(hub, propose, monkeypatch):
    monkeypatch.setattr(time, "sleep", lambda seconds: None)
    hub.faults.append(Fault("/api/models/ann/model/commit/", "POST", CUT_AFTER))
    propose()
    assert len(pull_requests(hub)) == 1


def test_no_such_model(propose):
    with pytest.raises(NoSuchRepositoryError, match="no such model ann/nothing"):
        propose(model="ann/nothing")
