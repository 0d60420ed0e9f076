"""What our module makes of a Hub that is busy, out of reach, or cut off after it has done what was asked.

Every request is counted at the stand-in, so that nothing may happen twice or be lost without being seen.
"""

import sys

import pytest
from shared.hub_client import run_client, start_client
from shared.stand_in_hub import CUT, CUT_AFTER, KILL_AFTER, Fault

START = """
import time
waits = []
time.sleep = waits.append  # no test waits
from closeread.errors import RequestError
from closeread.hub.repository import *
hub, rain = Hub(), Repository("lab/rain", "dataset")
def refused(call, *arguments, **more):
    try:
        call(*arguments, **more)
    except RequestError as error:
        return f"{type(error).__name__}: {error}"
    raise SystemExit("not refused")
"""

EVERYTHING = """
hub.create(rain)
assert hub.user() == "olga"
card = b"---\\nlicense: mit\\n---\\n"
one = hub.commit(rain, {"README.md": card, "a.txt": b"a", "t.parquet": b"PAR1"}, message="One")
assert one.changed and one.pull_request is None
two = hub.commit(rain, {"a.txt": b"A"}, message="Two", parent=hub.head(rain), delete=["README.md"])
assert two.changed
please = hub.commit(rain, {"b.txt": b"b"}, message="Please", pull_request=True)
assert (please.pull_request, please.changed) == (1, True), please
assert hub.list_files(rain) == {".gitattributes": 46, "a.txt": 1, "t.parquet": 4}
assert hub.read(rain, "t.parquet") == b"PAR1"
assert [p.number for p in hub.pull_requests(rain)] == [1]
assert hub.read_pull_request(rain, 1).paths == ("b.txt",)
hub.comment(rain, 1, "Thanks.")
hub.close(rain, 1)
"""

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
def test_every_request_may_fail_once(hub, answer):
    hub.faults = [Fault(path, method, answer) for method, path in PLACES]
    run_client(hub, "olga", START + EVERYTHING)
    assert [fault.path for fault in hub.faults if fault.times] == []
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "One", "Two"]
    assert hub.files("lab/rain") == {"a.txt": b"A", "t.parquet": b"PAR1"}
    [request] = hub.discussions("lab/rain")
    assert request.comments == [("olga", ""), ("olga", "Thanks.")]
    assert [event["type"] for event in request.events] == ["comment", "commit", "comment", "status-change"]


def count_commits(hub):
    return sum(method == "POST" and "/commit/main" in path for method, path, _ in hub.requests)


COMMIT = """
head = hub.head(rain)
made = hub.commit(rain, {"a.txt": b"a"}, message="Mine", parent=head if PARENT else None)
print(made.changed, made.sha)
"""


@pytest.mark.parametrize("parent", [False, True])
def test_cut_after_the_commit_while_others_commit(hub, parent):
    """What arrived is not sent again, although it is no longer on top, and others have changed the same file."""
    hub.add_repository("lab/rain")
    others = {"a.txt": b"of others"}
    hub.faults = [Fault("/commit/", "POST", CUT_AFTER, after=lambda: hub.commit("lab/rain", "dataset", others))]
    out = run_client(hub, "olga", f"{START}PARENT = {parent}\n{COMMIT}").stdout
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "Mine", "Add files"]
    assert out == f"True {hub.commits('lab/rain')[1].sha}\n"
    assert hub.files("lab/rain") == others
    assert count_commits(hub) == 1


def test_cut_before_the_commit_while_others_commit(hub):
    """What did not arrive is sent again; not if it was made for a head that is no longer one."""
    for parent, titles in ((False, ["Add files", "Mine"]), (True, ["Add files"])):
        hub.add_repository("lab/rain")
        others = Fault("/commit/", "POST", CUT, before=lambda: hub.commit("lab/rain", "dataset", {"o.txt": b"o"}))
        hub.faults = [others]
        done = run_client(hub, "olga", f"{START}PARENT = {parent}\n{COMMIT}", check=False)
        assert [c.title for c in hub.commits("lab/rain")][1:] == titles
        assert ("ConflictError: dataset lab/rain: somebody else has committed" in done.stderr) is parent


def test_a_commit_that_arrives_late_does_not_arrive_twice(hub):
    """The connection is cut, the look finds nothing, and what was sent first arrives before what is sent again."""
    hub.add_repository("lab/rain")

    def arrive():
        hub.commit("lab/rain", "dataset", {"a.txt": b"a"}, title="Mine", author="olga")

    hub.faults = [Fault("/commit/", "POST", CUT), Fault("/commit/", "POST", before=arrive)]
    out = run_client(hub, "olga", f"{START}PARENT = False\n{COMMIT}").stdout
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "Mine"]
    assert out == f"True {hub.commits('lab/rain')[1].sha}\n"


REFUSED = "print(refused(hub.commit, rain, {'a.txt': b'a'}, message='Mine'), waits)"


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (400, "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 400): on demand"),
        (401, "RequestError: dataset lab/rain: the Hugging Face Hub does not accept your token: run `hf auth login`"),
        (402, "RequestError: dataset lab/rain: the Hugging Face Hub asks for a paid plan: on demand"),
        (403, "RequestError: dataset lab/rain: no permission; ask its owners, or use a token with write access: on"),
        (404, "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 404): on demand"),
        (413, "RequestError: dataset lab/rain: the Hugging Face Hub refused the request (status 413): on demand"),
    ],
)
def test_refusals_are_final(hub, status, says):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", status, error="on demand")]
    out = run_client(hub, "olga", START + REFUSED).stdout
    assert out.startswith(says)
    assert out.endswith(" []\n")
    assert count_commits(hub) == 1
    assert hub.files("lab/rain") == {}


def test_conflict(hub):
    """A commit between our look and ours."""
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", before=lambda: hub.commit("lab/rain", "dataset", {"o.txt": b"o"}))]
    call = "refused(hub.commit, rain, {'a.txt': b'a'}, message='Mine', parent=hub.head(rain))"
    out = run_client(hub, "olga", f"{START}print({call})").stdout
    assert out == "ConflictError: dataset lab/rain: somebody else has committed in the meantime; try again\n"
    assert hub.files("lab/rain") == {"o.txt": b"o"}


@pytest.mark.parametrize(
    ("headers", "wait"), [({"Retry-After": "7"}, 7), ({"RateLimit": '"api";r=0;t=9'}, 9), ({}, 0.5)]
)
def test_waits_as_long_as_the_hub_asks(hub, headers, wait):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", 429, headers=headers)]
    out = run_client(hub, "olga", f"{START}hub.commit(rain, {{'a.txt': b'a'}}, message='Mine')\nprint(*waits)").stdout
    assert wait <= float(out) <= wait + 0.5
    assert hub.files("lab/rain") == {"a.txt": b"a"}


def test_a_long_wait_is_left_to_the_user(hub):
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", 429, headers={"Retry-After": "3600"})]
    out = run_client(hub, "olga", START + REFUSED).stdout
    says = "RequestError: dataset lab/rain: too many requests to the Hugging Face Hub; try again in 3600 seconds"
    assert out == f"{says} []\n"


def test_gives_up(hub):
    """Five attempts, each wait up to twice as long as the one before; the last look may still find it."""
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", 503, times=99, error="on demand")]
    out = run_client(hub, "olga", START + REFUSED).stdout
    told, waits = out[:-2].split(" [")
    says = "RequestError: dataset lab/rain: the Hugging Face Hub has a problem (status 503); try again later: on demand"
    assert told == says
    for wait, longest in zip(map(float, waits.split(", ")), (1, 2, 4, 8), strict=True):
        assert longest / 2 <= wait <= longest
    assert count_commits(hub) == 5
    hub.faults = [Fault("/commit/", "POST", CUT, times=4), Fault("/commit/", "POST", CUT_AFTER)]
    run_client(hub, "olga", START + "hub.commit(rain, {'a.txt': b'a'}, message='Mine')")
    assert hub.files("lab/rain") == {"a.txt": b"a"}


def test_nothing_is_committed_by_halves(hub):
    """An upload that fails again and again, and a Hub that can't be reached."""
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/lfs/dataset", "PUT", 500, times=999)]
    call = "refused(hub.commit, rain, {'a.txt': b'a', 't.parquet': b'PAR1'}, message='Mine')"
    out = run_client(hub, "olga", f"{START}print({call})").stdout
    assert out.startswith("RequestError: dataset lab/rain: ")
    assert hub.files("lab/rain") == {}
    assert count_commits(hub) == 0
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9"}
    out = run_client(hub, "olga", f"{START}print(refused(hub.head, rain))", **nowhere, cwd=None).stdout
    assert out.startswith("RequestError: dataset lab/rain: could not reach the Hugging Face Hub (")


def test_killed_after_the_commit(hub):
    """Whoever is killed and starts again finds everything done."""
    hub.add_repository("lab/rain")
    hub.faults = [Fault("/commit/", "POST", KILL_AFTER)]
    code = f"{START}print(hub.commit(rain, {{'a.txt': b'a'}}, message='Mine').changed)"
    with start_client(hub, "olga", code) as process:
        assert process.wait(60) == -9
    assert run_client(hub, "olga", code).stdout == "False\n"
    assert [c.title for c in hub.commits("lab/rain")] == ["initial commit", "Mine"]


CONCURRENT = """
time.sleep = slept
from concurrent.futures import ThreadPoolExecutor
import random, sys
def add(name):
    while True:
        head = hub.head(rain)
        names = hub.read(rain, "names.txt", head).decode().split()
        text = "".join(f"{n}\\n" for n in [*names, name])
        try:
            return hub.commit(rain, {"names.txt": text.encode()}, message=name, parent=head)
        except ConflictError:
            time.sleep(random.uniform(0, 0.05))
with ThreadPoolExecutor(10) as pool:
    made = list(pool.map(add, [f"{sys.argv[1]}{i}" for i in range(10)]))
assert len({one.sha for one in made}) == 10
"""


def test_twenty_writers_of_one_file(hub):
    """Two processes with ten writers each read, change and write a file; every answer may be lost on its way."""
    hub.add_repository("lab/rain", files={"names.txt": b""})
    hub.faults = [Fault("/commit/", "POST", CUT_AFTER, skip=skip) for skip in (3, 9, 20)]
    code = START.replace("import time\n", "import time\nslept = time.sleep\n") + CONCURRENT
    argv = [sys.executable, "-c", code]
    with start_client(hub, "olga", [*argv, "a"]) as first, start_client(hub, "otto", [*argv, "b"]) as second:
        for process in (first, second):
            out, err = process.communicate(timeout=120)
            assert process.returncode == 0, out + err
    names = hub.files("lab/rain")["names.txt"].decode().split()
    assert sorted(names) == sorted(f"{who}{i}" for who in "ab" for i in range(10))
    assert [c.title for c in hub.commits("lab/rain")[2:]] == names
