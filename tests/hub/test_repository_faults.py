"""What our module makes of a Hub that is busy, out of reach, or cut off after it has done what was asked.

Every request is counted at the stand-in, so that nothing may happen twice or be lost without being seen.
"""

import sys
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from shared.hub_client import run_client, start_client
from shared.stand_in_hub import CUT, CUT_AFTER, KILL_AFTER, Fault

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


CARD = b"---\nlicense: mit\n---\n"


def publish_and_propose(us):
    us.create(RAIN)
    us.commit(RAIN, {"README.md": CARD, "a.txt": b"a", "t.parquet": b"PAR1"}, message="One")
    us.commit(RAIN, {"b.txt": b"b"}, message="Please", pull_request=True)


PLACES = [
    ("POST", "/repos/create"),
    ("GET", "/revision/main"),
    ("POST", "/paths-info/"),
    ("POST", "/validate-yaml"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch"),
    ("PUT", "/lfs/"),
    ("POST", "/commit/main$"),
    ("POST", r"/commit/main\?create_pr"),
    ("GET", r"/discussions\?"),
]


@pytest.mark.parametrize("answer", [404, 429, 500, 503, CUT, CUT_AFTER])
def test_every_request_may_fail_once(hub, us, answer):
    """Who runs the same again after each failure finds what has arrived, and sends nothing twice."""
    hub.faults = [Fault(path, method, answer) for method, path in PLACES]
    for _ in range(len(PLACES) + 1):
        try:
            publish_and_propose(us)
        except RequestError:
            continue
        break
    assert [fault.path for fault in hub.faults if fault.times] == []
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "One"]
    assert hub.files("lab/rain") == {"README.md": CARD, "a.txt": b"a", "t.parquet": b"PAR1"}
    [request] = hub.discussions("lab/rain")
    assert [event["type"] for event in request.events] == ["comment", "commit"]


def count_commits(hub):
    return sum(method == "POST" and "/commit/main" in path for method, path, _ in hub.requests)


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (
            400,
            "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 400): on demand",
        ),
        (
            401,
            "RequestError: dataset lab/rain: the Hugging Face Hub does not accept your token: run `hf auth login`",
        ),
        (
            402,
            "RequestError: dataset lab/rain: the Hugging Face Hub asks for a paid plan: on demand",
        ),
        (
            403,
            "RequestError: dataset lab/rain: no permission; ask its owners, or use a token with write access: on",
        ),
        (
            404,
            "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 404): on demand",
        ),
        (
            503,
            "RequestError: dataset lab/rain: the Hugging Face Hub has a problem (status 503); try again later: on",
        ),
        (
            429,
            "RequestError: dataset lab/rain: too many requests to the Hugging Face Hub; try again later",
        ),
        (
            413,
            "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 413): on demand",
        ),
    ],
)
def test_refusals(hub, us, status, says):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", status, error="on demand")]
    assert refused(us.commit, RAIN, A, message="Mine").startswith(says)
    assert count_commits(hub) == 1
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
    hub.faults = [
        Fault("/commit/", "POST", before=lambda: hub.commit("lab/rain", "dataset", {"o.txt": b"o"}))
    ]
    found = refused(us.commit, RAIN, A, message="Mine", parent=us.head(RAIN))
    assert (
        found
        == "ConflictError: dataset lab/rain: somebody else has committed in the meantime; try again"
    )
    assert hub.files("lab/rain") == {"o.txt": b"o"}


def test_nothing_is_committed_by_halves(hub, us, monkeypatch):
    """An upload that fails again and again, and a Hub that can't be reached."""
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/lfs/dataset", "PUT", 500, times=999)]
    found = refused(us.commit, RAIN, {"a.txt": b"a", "t.parquet": b"PAR1"}, message="Mine")
    assert found.startswith("RequestError: dataset lab/rain: ")
    assert hub.files("lab/rain") == {}
    assert count_commits(hub) == 0
    monkeypatch.setattr(constants, "ENDPOINT", "http://127.0.0.1:9")
    found = refused(Hub().head, RAIN)
    assert found.startswith(
        "RequestError: dataset lab/rain: could not reach the Hugging Face Hub ("
    )


START = """
from closeread.hub.client import ConflictError, Hub, Repository
RAIN = Repository("lab/rain", "dataset")
"""


@pytest.mark.gate
def test_killed_after_the_commit(hub):
    """Whoever is killed and starts again finds everything done."""
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", KILL_AFTER)]
    code = f"{START}print(Hub().commit(RAIN, {A}, message='Mine').changed)"
    with start_client(hub, "olga", code) as process:
        assert process.wait(60) == -9
    assert run_client(hub, "olga", code).stdout == "False\n"
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "Mine"]


CONCURRENT = """
import random, sys, time
from concurrent.futures import ThreadPoolExecutor
hub = Hub()
def add(name):
    while True:
        head = hub.head(RAIN)
        names = hub.read(RAIN, "names.txt", head).decode().split()
        text = "".join(f"{n}\\n" for n in [*names, name])
        try:
            return hub.commit(RAIN, {"names.txt": text.encode()}, message=name, parent=head)
        except ConflictError:
            time.sleep(random.uniform(0, 0.05))
with ThreadPoolExecutor(10) as pool:
    made = list(pool.map(add, [f"{sys.argv[1]}{i}" for i in range(10)]))
assert len({one.sha for one in made}) == 10
"""


@pytest.mark.gate
def test_twenty_writers_of_one_file(hub):
    """Two processes with ten writers each read, change and write a file."""
    hub.add_repository("lab/rain", files={"names.txt": b""})
    argv = [sys.executable, "-c", START + CONCURRENT]
    with (
        start_client(hub, "olga", [*argv, "a"]) as first,
        start_client(hub, "otto", [*argv, "b"]) as second,
    ):
        for process in (first, second):
            out, err = process.communicate(timeout=600)
            assert process.returncode == 0, out + err
    names = hub.files("lab/rain")["names.txt"].decode().split()
    assert sorted(names) == sorted(f"{who}{i}" for who in "ab" for i in range(10))
    assert [c.title for c in hub.commits("lab/rain")[2:]] == names
