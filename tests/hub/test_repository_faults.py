"""What our module makes of a Hub that is busy, out of reach, or cut off after it has done what was asked.

Every call is counted at the fake, so that nothing may happen twice or be lost without being seen.
"""

import json
from types import SimpleNamespace

import pytest
from shared.fake_hub import CUT, Fault

from closeread.exceptions import RequestError
from closeread.hub.client import Hub, Repository, explain

RAIN = Repository("lab/rain", "dataset")
A = {"a.txt": b"a"}


@pytest.fixture
def us(log_in):
    """Our module, as olga."""
    log_in("olga")
    return Hub()


def refused(call, *arguments, **more):
    """What a request is refused with: the error and its words."""
    with pytest.raises(RequestError) as caught:
        call(*arguments, **more)
    return f"{type(caught.value).__name__}: {caught.value}"


def publish_and_propose(us):
    us.create(RAIN)
    us.commit(RAIN, {"a.txt": b"a", "t.parquet": b"PAR1"}, message="One")
    us.commit(RAIN, {"b.txt": b"b"}, message="Please", pull_request=True)


CALLS = ["create_repo", "repo_info", "get_paths_info", "create_commit", "get_repo_discussions"]
NO_JSON = json.JSONDecodeError("Expecting value", "<html>", 0)  # the page of a proxy


@pytest.mark.parametrize("is_late", [False, True])
@pytest.mark.parametrize("error", [404, 429, 500, 503, CUT, NO_JSON], ids=str)
def test_every_request_may_fail_once(hub, us, error, is_late):
    """Who runs the same again after each failure finds what has arrived, and sends nothing twice."""
    hub.faults = [Fault(call, error, is_late) for call in CALLS * 2]
    for _ in [*hub.faults, None]:
        try:
            publish_and_propose(us)
        except RequestError:
            continue
        break
    unused = [fault.call for fault in hub.faults if fault.times]
    assert set(unused) <= {"create_repo"}  # it is there after one that took effect
    assert [commit.title for commit in hub.commits("lab/rain")] == ["initial commit", "One"]
    assert hub.files("lab/rain") == {"a.txt": b"a", "t.parquet": b"PAR1"}
    [pull_request] = hub.discussions("lab/rain")
    assert [event.type for event in pull_request.events] == ["comment", "commit"]


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (
            400,
            "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 400): a fault on demand",
        ),
        (
            401,
            "RequestError: dataset lab/rain: the Hugging Face Hub does not accept your token: run `hf auth login`",
        ),
        (
            402,
            "RequestError: dataset lab/rain: the Hugging Face Hub asks for a paid plan: a fault on demand",
        ),
        (
            403,
            "RequestError: dataset lab/rain: no permission; ask its owners, or use a token with write access: a",
        ),
        (
            404,
            "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 404): a fault on demand",
        ),
        (
            503,
            "RequestError: dataset lab/rain: the Hugging Face Hub has a problem (status 503); try again later: a",
        ),
        (
            429,
            "RequestError: dataset lab/rain: too many requests to the Hugging Face Hub; try again later",
        ),
        (
            413,
            "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 413): a fault on demand",
        ),
    ],
)
def test_refusals(hub, us, status, says):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("create_commit", status)]
    assert refused(us.commit, RAIN, A, message="Mine").startswith(says)
    assert hub.count_calls("create_commit") == 1
    assert hub.files("lab/rain") == {}


def test_a_gated_repository_is_there():
    from huggingface_hub.errors import GatedRepoError

    error = GatedRepoError.__new__(GatedRepoError)
    error.response, error.server_message = SimpleNamespace(status_code=403, headers={}), None
    assert (
        str(explain(error, "dataset lab/rain"))
        == "dataset lab/rain: access must be requested on its page on the Hub"
    )


def test_conflict(hub, us):
    """A commit between our look and ours."""
    hub.add_repository("lab/rain")
    files = {"o.txt": b"o"}
    hub.faults = [Fault("create_commit", hook=lambda: hub.commit("lab/rain", "dataset", files))]
    found = refused(us.commit, RAIN, A, message="Mine", parent=us.head(RAIN))
    assert (
        found
        == "ConflictError: dataset lab/rain: somebody else has committed in the meantime; try again"
    )
    assert hub.files("lab/rain") == files


@pytest.mark.parametrize("error", [CUT, NO_JSON, ConnectionError("refused")], ids=str)
def test_out_of_reach(hub, us, error):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("repo_info", error)]
    found = refused(us.head, RAIN)
    assert found.startswith(
        "RequestError: dataset lab/rain: could not reach the Hugging Face Hub ("
    )
