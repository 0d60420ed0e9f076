"""What our module makes of a Hub that is busy, out of reach, or cut off after it has done what was asked.

Every request is counted at the stand-in, so that nothing may happen twice or be lost without being seen.
"""

import sys
import time
from types import SimpleNamespace

import pytest
from huggingface_hub import constants
from huggingface_hub.errors import HfHubHTTPError
from shared.hub_client import run_client, start_client
from shared.stand_in_hub import CUT, CUT_AFTER, KILL_AFTER, Fault

from closeread.exceptions import RequestError
from closeread.hub.client import Hub, Repository, explain, repeat

RAIN = Repository("lab/rain", "dataset")
A = {"a.txt": b"a"}


@pytest.fixture
def waits(monkeypatch):
    """The seconds that would have been waited: no test waits."""
    found = []
    monkeypatch.setattr(time, "sleep", found.append)
    return found


@pytest.fixture
def us(log_in, waits):
    """Our module, as olga."""
    log_in("olga")
    return Hub()


def refused(call, *arguments, **more):
    """What a request is refused with: the error and its words."""
    with pytest.raises(RequestError) as caught:
        call(*arguments, **more)
    return f"{type(caught.value).__name__}: {caught.value}"


def do_everything(us):
    us.create(RAIN)
    assert us.user == "olga"
    card = b"---\nlicense: mit\n---\n"
    one = us.commit(RAIN, {"README.md": card, "a.txt": b"a", "t.parquet": b"PAR1"}, message="One")
    assert one.changed
    assert one.pull_request is None
    assert us.commit(
        RAIN, {"a.txt": b"A"}, message="Two", parent=us.head(RAIN), delete=["README.md"]
    ).changed
    please = us.commit(RAIN, {"b.txt": b"b"}, message="Please", pull_request=True)
    assert (please.pull_request, please.changed) == (1, True)
    assert us.list_files(RAIN) == {".gitattributes": 46, "a.txt": 1, "t.parquet": 4}
    assert us.read(RAIN, "t.parquet", limit=4) == b"PAR1"
    assert [p.num for p in us.pull_requests(RAIN)] == [1]
    assert us.read_pull_request(RAIN, 1).paths == ("b.txt",)
    us.comment(RAIN, 1, "Thanks.")
    us.close(RAIN, 1)


PLACES = [
    ("POST", "/repos/create"),
    ("GET", "/whoami-v2"),
    ("GET", "/revision/main"),
    ("POST", "/paths-info/"),
    ("POST", "/validate-yaml"),
    ("POST", "/preupload/"),
    ("POST", "/objects/batch"),
    ("PUT", "/lfs/"),
    ("POST", "/commit/main$"),
    ("POST", "/commit/main$"),
    ("POST", r"/commit/main\?create_pr"),
    ("GET", "/tree/"),
    ("HEAD", "/resolve/"),
    ("GET", "/resolve/"),
    ("GET", r"/discussions\?"),
    ("GET", "/discussions/1"),
    ("POST", "/discussions/1/comment"),
    ("POST", "/discussions/1/status"),
]


@pytest.mark.parametrize("answer", [408, 429, 500, 502, 503, 504, CUT, CUT_AFTER])
def test_every_request_may_fail_once(hub, us, answer):
    hub.faults = [Fault(path, method, answer) for method, path in PLACES]
    do_everything(us)
    assert [fault.path for fault in hub.faults if fault.times] == []
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "One", "Two"]
    assert hub.files("lab/rain") == {"a.txt": b"A", "t.parquet": b"PAR1"}
    [request] = hub.discussions("lab/rain")
    assert request.comments == [("olga", ""), ("olga", "Thanks.")]
    assert [event["type"] for event in request.events] == [
        "comment",
        "commit",
        "comment",
        "status-change",
    ]


def count_commits(hub):
    return sum(method == "POST" and "/commit/main" in path for method, path, _ in hub.requests)


@pytest.mark.parametrize("parent", [False, True])
def test_cut_after_the_commit_while_others_commit(hub, us, parent):
    """What arrived is not sent again, although it is no longer on top, and others have changed the same file."""
    hub.add_repository("lab/rain")
    others = {"a.txt": b"of others"}
    hub.faults = [
        Fault(
            "/commit/", "POST", CUT_AFTER, after=lambda: hub.commit("lab/rain", "dataset", others)
        )
    ]
    made = us.commit(RAIN, A, message="Mine", parent=us.head(RAIN) if parent else None)
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "Mine", "Add files"]
    assert (made.changed, made.sha) == (True, hub.commits("lab/rain")[1].sha)
    assert hub.files("lab/rain") == others
    assert count_commits(hub) == 1


def test_cut_before_the_commit_while_others_commit(hub, us):
    """What did not arrive is sent again; not if it was made for a head that is no longer one."""

    def cut():
        hub.add_repository("lab/rain")
        change = {"o.txt": b"o"}
        hub.faults = [
            Fault("/commit/", "POST", CUT, before=lambda: hub.commit("lab/rain", "dataset", change))
        ]

    cut()
    us.commit(RAIN, A, message="Mine")
    assert [c.title for c in hub.commits("lab/rain")][1:] == ["Add files", "Mine"]
    cut()
    found = refused(us.commit, RAIN, A, message="Mine", parent=us.head(RAIN))
    assert [c.title for c in hub.commits("lab/rain")][1:] == ["Add files"]
    assert "ConflictError: dataset lab/rain: somebody else has committed" in found


def test_a_commit_that_arrives_late_does_not_arrive_twice(hub, us):
    """The connection is cut, the look finds nothing, and what was sent first arrives before what is sent again."""
    hub.add_repository("lab/rain")

    def arrive():
        hub.commit("lab/rain", "dataset", {"a.txt": b"a"}, title="Mine", author="olga")

    hub.faults = [Fault("/commit/", "POST", CUT), Fault("/commit/", "POST", before=arrive)]
    made = us.commit(RAIN, A, message="Mine")
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "Mine"]
    assert (made.changed, made.sha) == (True, hub.commits("lab/rain")[1].sha)


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
            413,
            "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 413): on demand",
        ),
    ],
)
def test_refusals_are_final(hub, us, waits, status, says):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", status, error="on demand")]
    assert refused(us.commit, RAIN, A, message="Mine").startswith(says)
    assert waits == []
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


def test_a_conflict_with_the_lost_first_try_is_a_success(waits):
    """The first request arrives late, after it was looked for; the second is refused because of it."""
    answers, looks = [503, 412], []

    def send():
        error = HfHubHTTPError.__new__(HfHubHTTPError)
        error.response, error.server_message = (
            SimpleNamespace(status_code=answers.pop(0), headers={}),
            None,
        )
        raise error

    def look(is_retry):
        looks.append(is_retry)
        return "done" if looks.count(True) == 2 else None

    assert repeat(send, "x", look=look) == "done"


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


@pytest.mark.parametrize(
    ("headers", "wait"), [({"Retry-After": "7"}, 7), ({"RateLimit": '"api";r=0;t=9'}, 9), ({}, 0.5)]
)
def test_waits_as_long_as_the_hub_asks(hub, us, waits, headers, wait):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", 429, headers=headers)]
    us.commit(RAIN, A, message="Mine")
    [waited] = waits
    assert wait <= waited <= wait + 0.5
    assert hub.files("lab/rain") == {"a.txt": b"a"}


def test_a_long_wait_is_left_to_the_user(hub, us, waits):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", 429, headers={"Retry-After": "3600"})]
    says = "RequestError: dataset lab/rain: too many requests to the Hugging Face Hub; try again in 3600 seconds"
    assert refused(us.commit, RAIN, A, message="Mine") == says
    assert waits == []


def test_gives_up(hub, us, waits):
    """Five attempts, each wait up to twice as long as the one before; the last look may still find it."""
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", 503, times=99, error="on demand")]
    says = "RequestError: dataset lab/rain: the Hugging Face Hub has a problem (status 503); try again later: on demand"
    assert refused(us.commit, RAIN, A, message="Mine") == says
    for wait, longest in zip(waits, (1, 2, 4, 8), strict=True):
        assert longest / 2 <= wait <= longest
    assert count_commits(hub) == 5
    hub.faults = [Fault("/commit/", "POST", CUT, times=4), Fault("/commit/", "POST", CUT_AFTER)]
    us.commit(RAIN, A, message="Mine")
    assert hub.files("lab/rain") == A


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
    """Two processes with ten writers each read, change and write a file; every answer may be lost on its way."""
    hub.add_repository("lab/rain", files={"names.txt": b""})
    hub.faults = [Fault("/commit/", "POST", CUT_AFTER, skip=skip) for skip in (3, 9, 20)]
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
