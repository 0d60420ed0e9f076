"""Where files are looked for, and what a download leaves behind, tried on a server of our own."""

import hashlib
import socket
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from closeread import sources
from closeread.corpora import load_corpus, read_gold
from closeread.declarations import Config, SourceFile
from closeread.errors import ChecksumError, FormatError, UnavailableError
from closeread.sources import CACHE_VARIABLE, DATA_VARIABLE, cache_folder, data_folder, locate

CONTENT = b"It rained.\tHow long?\tan hour\tyes\tEvent Duration\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = CONTENT.replace(b"an hour", b"a year ")
OTHER_SHA256 = hashlib.sha256(OTHER).hexdigest()


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch):
    """Requests to this machine go to this machine."""
    for name in ("http_proxy", "https_proxy", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("NO_PROXY", "*")
    monkeypatch.setenv("no_proxy", "*")


class Server(ThreadingHTTPServer):
    """Answers every request with `content`, once `wait` returns."""

    content = CONTENT
    status = 200

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.asked = []

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_port}/rain.tsv"

    def wait(self):
        pass


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.asked.append(self.path)
        self.server.wait()
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(self.server.content)))
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, *arguments):
        pass


@contextmanager
def serving():
    with Server() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


@pytest.fixture
def server():
    with serving() as server:
        yield server


def corpus_at(url, name="rain.tsv"):
    """McTaco, but for its files: one, to be had from `url`."""
    file = SourceFile(name, SHA256, url)
    return replace(load_corpus("mctaco"), configs={"default": Config("", {"test": file})}), file


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def test_search_order(server, tmp_path, monkeypatch):
    corpus, file = corpus_at(server.url)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    # From the last place to the first: each wins over those before.
    assert locate(corpus, file).path == cache_folder("mctaco") / "rain.tsv"
    assert len(server.asked) == 1
    put(tmp_path / "data" / "mctaco" / "rain.tsv", CONTENT)
    assert locate(corpus, file).path == tmp_path / "data" / "mctaco" / "rain.tsv"
    put(tmp_path / "named" / "rain.tsv", CONTENT)
    assert locate(corpus, file, tmp_path / "named").path == tmp_path / "named" / "rain.tsv"
    assert len(server.asked) == 1


def test_data_dir_is_the_only_place_when_it_is_named(server, tmp_path, monkeypatch):
    corpus, file = corpus_at(server.url)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    put(tmp_path / "data" / "mctaco" / "rain.tsv", CONTENT)
    put(cache_folder("mctaco") / "rain.tsv", CONTENT)
    with pytest.raises(UnavailableError) as caught:
        locate(corpus, file, tmp_path)
    assert str(caught.value) == f"{tmp_path}: has no file rain.tsv, which McTaco needs"
    assert server.asked == []


def test_data_dir_takes_any_content_and_says_so(tmp_path):
    corpus, file = corpus_at("http://127.0.0.1:1/")
    put(tmp_path / "rain.tsv", OTHER)
    assert locate(corpus, file, tmp_path) == sources.Located(tmp_path / "rain.tsv", OTHER_SHA256, released=False)
    gold = read_gold(corpus, data_dir=tmp_path)
    note = f"{tmp_path / 'rain.tsv'} is not the released file (sha256 {OTHER_SHA256[:12]}…); it is used as it is."
    assert gold.notices == (note,)
    put(tmp_path / "rain.tsv", CONTENT)
    assert locate(corpus, file, tmp_path).released
    assert read_gold(corpus, data_dir=tmp_path).notices == ()


@pytest.mark.parametrize("place", ["data", "cache"])
def test_a_wrong_file_is_refused_where_it_is_found(server, tmp_path, monkeypatch, place):
    """It isn't passed over in silence for a right one further down."""
    corpus, file = corpus_at(server.url)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    put(cache_folder("mctaco") / "rain.tsv", CONTENT)
    path = put({"data": tmp_path / "data" / "mctaco", "cache": cache_folder("mctaco")}[place] / "rain.tsv", OTHER)
    with pytest.raises(ChecksumError) as caught:
        locate(corpus, file)
    assert str(caught.value) == (
        f"{path}: is not the released file: its sha256 is {OTHER_SHA256}; needed: {SHA256} (remove it to have it "
        "downloaded again, or name its folder with --data-dir to use it as it is)"
    )
    assert path.read_bytes() == OTHER
    assert server.asked == []


def test_a_download_is_kept():
    with serving() as server:
        corpus, file = corpus_at(server.url)
        found = locate(corpus, file)
    assert found == sources.Located(cache_folder("mctaco") / "rain.tsv", SHA256, released=True)
    assert found.path.read_bytes() == CONTENT
    assert files_below(cache_folder("mctaco")) == ["rain.tsv"]
    # The server is gone: the cache alone answers, and it is the same for every way in.
    assert locate(corpus, file) == found
    assert [record["answer"] for record in read_gold(corpus).records] == ["an hour"]
    assert server.asked == ["/rain.tsv"]


def test_a_file_in_a_subfolder(server):
    corpus, file = corpus_at(server.url, "dataset/rain.tsv")
    assert locate(corpus, file).path.read_bytes() == CONTENT
    assert files_below(cache_folder("mctaco")) == ["dataset", "dataset/rain.tsv"]


def test_a_wrong_download_leaves_nothing_behind(server):
    server.content = OTHER
    corpus, file = corpus_at(server.url)
    with pytest.raises(ChecksumError) as caught:
        locate(corpus, file)
    message = f"the download is not the released file: its sha256 is {OTHER_SHA256}; needed: {SHA256}"
    assert str(caught.value) == f"{server.url}: {message}"
    assert files_below(cache_folder("mctaco")) == []
    server.content = CONTENT
    assert locate(corpus, file).released


def test_a_download_that_breaks_off_leaves_nothing_behind(server):
    corpus, file = corpus_at(server.url)
    server.wait = lambda: (_ for _ in ()).throw(ConnectionAbortedError)
    server.handle_error = lambda *arguments: None
    with pytest.raises(UnavailableError):
        locate(corpus, file)
    assert files_below(cache_folder("mctaco")) == []


def remedies(url, reason):
    return (
        f"mctaco/rain.tsv: not in CLOSEREAD_DATA or the cache, and {url} can't be had ({reason}); put rain.tsv into "
        "a folder and name it with --data-dir, or try --config sample"
    )


def test_no_server():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}/rain.tsv"  # bound, but nobody listens
        with pytest.raises(UnavailableError) as caught:
            locate(*corpus_at(url))
    assert str(caught.value) == remedies(url, "ConnectionError")
    assert files_below(cache_folder("mctaco")) == []


def test_no_such_file_on_the_server(server):
    server.status = 404
    with pytest.raises(UnavailableError) as caught:
        locate(*corpus_at(server.url))
    assert str(caught.value) == remedies(server.url, "HTTP status 404")
    assert files_below(cache_folder("mctaco")) == []


def test_a_cache_that_can_not_be_written(server, tmp_path, monkeypatch):
    put(tmp_path / "taken", b"")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "taken"))
    with pytest.raises(UnavailableError) as caught:
        locate(*corpus_at(server.url))
    assert str(caught.value) == (
        f"{tmp_path / 'taken' / 'mctaco'}: the cache can't be written to: Not a directory; "
        "name another folder in CLOSEREAD_CACHE"
    )


def test_two_downloads_at_once(server):
    corpus, file = corpus_at(server.url)
    server.wait = threading.Barrier(2, timeout=20).wait  # nobody gets an answer before both have asked
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda _: (located := locate(corpus, file), located.path.read_bytes()), range(2)))
    assert {(located.path.name, located.released, content) for located, content in found} == {
        ("rain.tsv", True, CONTENT)
    }
    assert len(server.asked) == 2
    assert files_below(cache_folder("mctaco")) == ["rain.tsv"]


def test_files_of_the_package_need_no_place(tmp_path):
    corpus = load_corpus("mctaco")
    file = corpus.configs["sample"].splits["test"]
    assert locate(corpus, file).released
    changed = replace(file, sha256=SHA256)
    with pytest.raises(ChecksumError) as caught:
        locate(corpus, changed)
    path = locate(corpus, file).path
    assert str(caught.value) == (
        f"{path}: is not the released file: its sha256 is {file.sha256}; needed: {SHA256} (install closeread again)"
    )


def test_a_file_that_is_no_file(tmp_path):
    corpus, file = corpus_at("http://127.0.0.1:1/")
    (tmp_path / "rain.tsv").mkdir()
    with pytest.raises(FormatError) as caught:
        locate(corpus, file, tmp_path)
    assert str(caught.value) == f"{tmp_path / 'rain.tsv'}: is no regular file; needed: one"


def test_folders(monkeypatch, tmp_path):
    assert data_folder("mctaco") is None
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert data_folder("mctaco") == tmp_path / "mctaco"
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "c"))
    assert cache_folder("mctaco") == tmp_path / "c" / "mctaco"
    monkeypatch.delenv(CACHE_VARIABLE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_folder("mctaco").name == "mctaco"
    assert cache_folder("mctaco").parent != tmp_path / "c"


def test_the_released_files_are_the_declared_ones(corpora):
    corpus = load_corpus("mctaco")
    for file in corpus.configs["default"].splits.values():
        assert locate(corpus, file).path == corpora / "mctaco" / file.name
