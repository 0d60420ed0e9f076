"""Downloads from servers that lie, send without end or too slowly, break off, and redirect to anywhere."""

import gc
import gzip
import hashlib
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from shared.file_faults import Killed, file_faults
from shared.file_server import CONTENT, SHA256, files_below
from shared.file_sizes import small_files
from shared.hostile_server import answer, hostile_server, reset

from closeread.corpus import downloads, sources
from closeread.corpus.declaration import SourceFile
from closeread.corpus.names import corpus_names, load_corpus
from closeread.corpus.sources import CACHE_VARIABLE, cache_folder, locate
from closeread.exceptions import ChecksumError, UnavailableError
from closeread.progress import showing_progress

SIZE = len(CONTENT)
CHUNKED = {"Content_Length": None, "Transfer_Encoding": "chunked"}


@pytest.fixture
def hostile(loopback):
    with hostile_server() as server:
        yield server


@pytest.fixture
def fetch(hostile):
    """Downloads a small file, of which the server sends these answers; nothing else is left in the cache."""

    def call(*answers, size=SIZE, content=CONTENT):
        hostile.answers = list(answers)
        file = SourceFile("rain.tsv", hashlib.sha256(content).hexdigest(), hostile.url, size=size)
        try:
            found = locate(load_corpus("mctaco"), file)
        except (ChecksumError, UnavailableError) as error:
            assert files_below(cache_folder("mctaco")) == []
            return str(error)
        assert files_below(cache_folder("mctaco")) == ["rain.tsv"]
        return found.path.read_bytes()

    return call


def reason(hostile, message):
    """Why a file can't be downloaded; the message says what to do as well."""
    head = f"mctaco/rain.tsv: not found in CLOSEREAD_DATA or the cache, and {hostile.url} can't be downloaded ("
    tail = "); put rain.tsv into a folder and pass that folder with data_dir=, or try the config 'sample'"
    assert message.startswith(head)
    assert message.endswith(tail)
    return message[len(head) : -len(tail)]


def too_large(hostile, n_bytes=SIZE, which="those of the released file"):
    found = f"it has more than {n_bytes:,} bytes, {which}"
    return f"{hostile.url}: the downloaded file is not the released file: {found}"


def chunks(content, size):
    parts = (content[start : start + size] for start in range(0, len(content), size))
    return b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"


def test_the_file_in_every_way_to_send_it(fetch):
    assert fetch(answer(CONTENT)) == CONTENT
    for sent in (
        answer(CONTENT, Content_Length=None),
        answer(CONTENT, Content_Length="many"),
        answer(chunks(CONTENT, 1), **CHUNKED),
        answer(gzip.compress(CONTENT), Content_Encoding="gzip"),
        answer(chunks(gzip.compress(CONTENT), 3), Content_Encoding="GZIP", **CHUNKED),
        b"HTTP/1.1 100 Continue\r\n\r\n" + answer(CONTENT),
    ):
        (cache_folder("mctaco") / "rain.tsv").unlink()
        assert fetch(sent) == CONTENT


def test_progress(fetch):
    shown = []
    with showing_progress(lambda *progress: shown.append(progress)):
        assert fetch(answer(CONTENT)) == CONTENT
    assert shown[-1] == ("downloading rain.tsv, byte", SIZE, SIZE)


def test_no_encoding_is_asked_for(fetch, hostile):
    fetch(answer(CONTENT))
    assert "Accept-Encoding: identity\r\n" in hostile.asked[0]


def test_a_byte_too_many(fetch, hostile):
    more = CONTENT + b"\n"
    assert fetch(answer(more)) == too_large(hostile)
    assert fetch(answer(chunks(more, 10), **CHUNKED)) == too_large(hostile)
    assert fetch(answer(gzip.compress(more), Content_Encoding="gzip")) == too_large(hostile)
    assert len(hostile.asked) == 3


def test_a_byte_too_few_is_another_file(fetch, hostile):
    # Whether it broke off is not to be seen if its length is that of the answer.
    assert "its sha256 is " in fetch(answer(CONTENT[:-1]))
    assert "its sha256 is " in fetch(answer(CONTENT, Content_Length=SIZE - 1))


def test_content_without_end(fetch, hostile):
    part = b"a" * 2**16
    for first, each in (
        (answer(b"", Content_Length=None), part),
        (answer(b"", Content_Length=10**18), part),
        (answer(b"", **CHUNKED), b"10000\r\n" + part + b"\r\n"),
    ):
        hostile.n_bytes = 0
        assert fetch(hostile.repeat(each, first)) == too_large(hostile)
        which = "the limit for a file whose size is not declared"
        assert fetch(hostile.repeat(each, first), size=None) == too_large(hostile, 2**20, which)
        # What the kernel holds for both sides was sent as well.
        assert hostile.n_bytes < 2**25


@pytest.fixture(autouse=True)
def smaller_limit(monkeypatch):
    monkeypatch.setattr(sources, "UNDECLARED_SIZE", 2**20)


def test_a_drip_ends(fetch, hostile, monkeypatch):
    monkeypatch.setattr(downloads, "SECONDS", 0.0)
    # Another try must not use a connection of which the client has not heard yet that the server closed it.
    whole = answer(CONTENT, Connection="close")
    assert reason(hostile, fetch(whole)) == "no complete answer within 0 seconds, 4 tries"


def test_silence_ends(fetch, hostile, monkeypatch):
    monkeypatch.setattr(downloads, "READ_SECONDS", 0.01)

    def wait(connection):
        connection.recv(1)

    assert reason(hostile, fetch(wait)) == "ReadTimeout, 4 tries"
    hostile.asked.clear()
    assert fetch(wait, answer(CONTENT)) == CONTENT
    gc.collect()  # closes the connection, which the error of the first try refers to
    assert len(hostile.asked) == 2


def redirect(target, status="302 Found"):
    return answer(b"", status, Location=target)


def test_redirects_to_other_places(fetch, hostile):
    for target in (
        "http://example.org/a",
        "file:///etc/passwd",
        "ftp://example.org/a",
        "data:text/plain,a",
        "https:///",
    ):
        hostile.asked.clear()
        assert reason(hostile, fetch(redirect(target))) in ("InvalidSchema", "InvalidURL")
        assert len(hostile.asked) == 1


def test_what_comes_with_a_redirect_is_not_read(fetch, hostile):
    endless = hostile.repeat(
        b"a" * 2**16, answer(b"", "302 Found", Location=hostile.url, Content_Length=None)
    )
    assert fetch(endless, answer(CONTENT)) == CONTENT
    assert hostile.n_bytes < 2**25


def test_redirects_are_followed_but_not_for_ever(fetch, hostile):
    assert (
        fetch(
            redirect("/elsewhere", "307 Temporary Redirect"), redirect(hostile.url), answer(CONTENT)
        )
        == CONTENT
    )
    assert [request.split(" ")[1] for request in hostile.asked] == [
        "/rain.tsv",
        "/elsewhere",
        "/rain.tsv",
    ]
    (cache_folder("mctaco") / "rain.tsv").unlink()
    hostile.asked.clear()
    assert reason(hostile, fetch(redirect("/rain.tsv"))) == "TooManyRedirects"
    assert len(hostile.asked) == 6


def test_what_is_tried_again(fetch, hostile, loopback):
    passing = ("429 Too Many Requests", "408 Request Timeout", "500 Oh", "503 Busy")
    lasting = ("404 Not Found", "403 Forbidden", "410 Gone", "204 Empty", "206 Part", "304 No")
    for status in (*passing, *lasting):
        waits = 3 if status in passing else 0
        tries = ", 4 tries" if waits else ""
        hostile.asked.clear()
        loopback.clear()
        assert reason(hostile, fetch(answer(b"", status))) == f"HTTP status {status[:3]}{tries}"
        assert loopback == [1.0, 2.0, 4.0][:waits]
        assert len(hostile.asked) == waits + 1


def test_what_passes_is_waited_for(fetch, hostile, loopback):
    busy = answer(b"", "503 Busy", Retry_After="7")
    broken = answer(CONTENT[:9], Content_Length=SIZE)
    assert (
        fetch(busy, broken, reset(answer(CONTENT[:20], Content_Length=SIZE)), answer(CONTENT))
        == CONTENT
    )
    assert loopback == [7.0, 2.0, 4.0]


def test_how_long_servers_ask_to_wait(fetch, hostile, loopback):
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=50), usegmt=True)
    for after, wait in (
        ("soon", 1.0),
        ("-5", 1.0),
        ("0", 0.0),
        ("9" * 5000, None),
        ("61", None),
        (soon, 50),
    ):
        loopback.clear()
        (cache_folder("mctaco") / "rain.tsv").unlink(missing_ok=True)
        found = fetch(answer(b"", "429 No", Retry_After=after), answer(CONTENT))
        if wait is None:
            assert reason(hostile, found).startswith(
                "HTTP status 429, and the server asks to wait for "
            )
            assert loopback == []
        else:
            assert found == CONTENT
            assert 0.6 * wait <= loopback[0] <= wait


def test_only_https():
    for url in ("http://127.0.0.1:1/a", "http://example.org/a", "file:///etc/passwd"):
        with pytest.raises(UnavailableError, match=r"can't be downloaded \(InvalidSchema\)"):
            locate(load_corpus("mctaco"), SourceFile("a", SHA256, url))
    for name in corpus_names():
        splits = (config.splits.values() for config in load_corpus(name).configs.values())
        declared = [source.url for group in splits for source in group if source.url]
        assert all(url.startswith("https://") or name == "marmara_coref" for url in declared)


def test_a_full_disk(fetch, hostile):
    content = bytes(2**20)
    with small_files(2**18):
        message = fetch(answer(content), content=content, size=2**20)
    path = cache_folder("mctaco") / "rain.tsv"
    assert (
        message
        == f"{path}: can't be written: File too large; set {CACHE_VARIABLE} to another folder"
    )
    assert len(hostile.asked) == 1


def test_killed_at_every_change(hostile):
    hostile.answers = [answer(CONTENT)]
    file = SourceFile("sub/rain.tsv", SHA256, hostile.url, size=SIZE)
    corpus, folder = load_corpus("mctaco"), cache_folder("mctaco")
    with file_faults(folder) as whole:
        locate(corpus, file)
    for number in range(len(whole.events)):
        (folder / "sub" / "rain.tsv").unlink(missing_ok=True)
        with suppress(Killed), file_faults(folder, number):
            locate(corpus, file)
        assert locate(corpus, file).path.read_bytes() == CONTENT
        # of those killed
        kept = [name for name in files_below(folder) if not name.startswith("sub/.closeread-")]
        assert kept == ["sub", "sub/rain.tsv"]
    assert number > 3


def test_declared_sizes(corpora):
    """Those of the files that are here; some have a digest only: TNE's training file, and the many of a folder."""
    unknown = set()
    folders = {
        "litbank",
        "gum",
        "ontogum",
        "matres",
        "tddman",
        "tddauto",
        "timebank_dense",
        "narrativetime",
    }
    for name in set(corpus_names()) - folders:
        for config in load_corpus(name).configs.values():
            for source in config.splits.values():
                for file in getattr(source, "files", None) or [source]:
                    if not isinstance(file, SourceFile) or file.url is None:
                        continue
                    path = corpora / name / file.name
                    assert not path.exists() or path.stat().st_size == file.size
                    unknown |= {file.name} if file.size is None else set()
    assert unknown == {"train-v1.1.jsonl.gz"}
