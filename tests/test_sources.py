"""Where files are looked for, and what a download leaves behind, tried on a server of our own."""

import hashlib
import shutil
import socket
import subprocess
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

import pytest

from closeread.corpora import sources
from closeread.corpora.declaration import Config, SourceFile, SourceFolder, read_manifest
from closeread.corpora.gold import left_out, load_corpus, read_gold, splits_at_hand
from closeread.corpora.sources import (
    CACHE_VARIABLE,
    DATA_VARIABLE,
    cache_folder,
    data_folder,
    files_in,
    git_blob,
    is_in,
    locate,
)
from closeread.errors import ChecksumError, FormatError, UnavailableError

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
    """Answers every request with `content`, or the file that is asked for, once `wait` returns."""

    content = CONTENT
    status = 200
    files = None

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
        files = self.server.files
        content = self.server.content if files is None else files.get(unquote(self.path), b"")
        self.send_response(self.server.status if content else 404)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

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
    assert str(caught.value) == f"{tmp_path}: contains no file rain.tsv (required by McTaco)"
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
        f"{path}: is not the released file: its sha256 is {OTHER_SHA256} (expected {SHA256}); delete it to "
        "download it again, or pass its folder with --data-dir to use it as it is"
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
    message = f"the downloaded file is not the released file: its sha256 is {OTHER_SHA256} (expected {SHA256})"
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
        f"mctaco/rain.tsv: not found in CLOSEREAD_DATA or the cache, and {url} can't be downloaded ({reason}); put "
        "rain.tsv into a folder and pass that folder with --data-dir, or try --config sample"
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
        f"{tmp_path / 'taken' / 'mctaco'}: the cache is not writable: Not a directory; "
        "set CLOSEREAD_CACHE to another folder"
    )


def test_a_file_known_by_its_git_object_id(server, tmp_path, monkeypatch):
    # `git hash-object` gives these ids.
    assert git_blob(put(tmp_path / "hello", b"hello\n")) == "ce013625030ba8dba906f756967f9e9ca394464a"
    assert git_blob(put(tmp_path / "empty", b"")) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    right, wrong = (git_blob(put(tmp_path / "rain", content)) for content in (CONTENT, OTHER))
    corpus, file = corpus_at(server.url)
    file = replace(file, sha256=None, git_blob=right)
    assert locate(corpus, file) == sources.Located(cache_folder("mctaco") / "rain.tsv", SHA256, released=True)
    put(cache_folder("mctaco") / "rain.tsv", OTHER)
    with pytest.raises(
        ChecksumError, match=rf"is not the released file: its git object id is {wrong} \(expected {right}\)"
    ):
        locate(corpus, file)
    assert locate(corpus, file, cache_folder("mctaco")).released is False
    (cache_folder("mctaco") / "rain.tsv").unlink()
    server.content = OTHER
    with pytest.raises(
        ChecksumError, match=f"the downloaded file is not the released file: its git object id is {wrong} "
    ):
        locate(corpus, file)
    assert files_below(cache_folder("mctaco")) == []


def test_a_file_without_a_digest_can_not_be_declared():
    with pytest.raises(ValueError, match=r"rain\.tsv: no digest"):
        SourceFile("rain.tsv", None, "http://127.0.0.1:1/")


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
        f"{path}: is not the released file: its sha256 is {file.sha256} (expected {SHA256}); reinstall closeread"
    )


def test_a_file_that_is_no_file(tmp_path):
    corpus, file = corpus_at("http://127.0.0.1:1/")
    (tmp_path / "rain.tsv").mkdir()
    with pytest.raises(FormatError) as caught:
        locate(corpus, file, tmp_path)
    assert str(caught.value) == f"{tmp_path / 'rain.tsv'}: is not a regular file"


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


# Folders of files.

FILES = {"part 1/a.txt": b"a", "part 1/b&c.txt": b"bc", "part 1/deep/x.xml": b"x", "part 1/README": b"r", "d.txt": b"d"}
MANIFEST = {name: hashlib.sha256(content).hexdigest() for name, content in FILES.items()}


def folder_at(url, name="part 1", patterns=("*.txt", "deep/*.xml")):
    return load_corpus("mctaco"), SourceFolder(name, patterns, MANIFEST, url)


def put_all(folder, *names):
    for name in names or FILES:
        put(folder / name, FILES[name])
    return folder


@pytest.fixture
def folder_server(server):
    server.files = {f"/{name}": content for name, content in FILES.items()}
    return server


def url_of(server):
    return server.url.removesuffix("/rain.tsv")


def test_the_files_of_a_folder():
    _, folder = folder_at("http://127.0.0.1")
    assert [(file.name, file.sha256, file.url) for file in folder.files] == [
        ("part 1/a.txt", MANIFEST["part 1/a.txt"], "http://127.0.0.1/part%201/a.txt"),
        ("part 1/b&c.txt", MANIFEST["part 1/b&c.txt"], "http://127.0.0.1/part%201/b%26c.txt"),
        ("part 1/deep/x.xml", MANIFEST["part 1/deep/x.xml"], "http://127.0.0.1/part%201/deep/x.xml"),
    ]
    assert folder.expected == "part 1/*.txt"
    _, whole = folder_at("http://127.0.0.1", ".", ("*.txt",))
    assert [file.name for file in whole.files] == ["d.txt"]
    assert whole.expected == "*.txt"


def test_a_manifest_is_what_sha256sum_writes(tmp_path):
    text = "".join(f"{digest}  {name}\n" for name, digest in MANIFEST.items())
    (tmp_path / "released.sha256").write_text(text)
    assert read_manifest(tmp_path / "released.sha256") == MANIFEST
    if shutil.which("sha256sum"):
        put_all(tmp_path / "data")
        command = ["sha256sum", "--check", "--quiet", tmp_path / "released.sha256"]
        assert subprocess.run(command, cwd=tmp_path / "data", capture_output=True).returncode == 0


def test_a_folder_is_downloaded_file_by_file(folder_server, tmp_path, monkeypatch):
    corpus, folder = folder_at(url_of(folder_server))
    found = locate(corpus, folder)
    assert found.released
    assert found.path == cache_folder("mctaco") / "part 1"
    assert {name: path.read_bytes() for name, path in found.files.items()} == {
        name.removeprefix("part 1/"): FILES[name] for name in ("part 1/a.txt", "part 1/b&c.txt", "part 1/deep/x.xml")
    }
    assert len(folder_server.asked) == 3
    assert locate(corpus, folder) == found
    (cache_folder("mctaco") / "part 1" / "a.txt").unlink()
    assert locate(corpus, folder) == found  # what is missing is downloaded, and nothing else
    assert len(folder_server.asked) == 4
    # Files that are in the data folder are taken from there, whatever else is missing in it.
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    put_all(tmp_path / "mctaco", "part 1/b&c.txt")
    elsewhere = locate(corpus, folder)
    assert elsewhere.files["b&c.txt"] == tmp_path / "mctaco" / "part 1" / "b&c.txt"
    assert elsewhere.files["a.txt"] == found.files["a.txt"]
    assert elsewhere.sha256 == found.sha256
    assert len(folder_server.asked) == 4


def test_all_files_that_can_not_be_had_are_named(folder_server):
    del folder_server.files["/part 1/b&c.txt"]
    corpus, folder = folder_at(url_of(folder_server))
    with pytest.raises(UnavailableError) as caught:
        locate(corpus, folder)
    assert str(caught.value) == (
        "mctaco: 2 problems:\n"
        "mctaco/part 1/b&c.txt: not found in CLOSEREAD_DATA or the cache, and "
        f"{url_of(folder_server)}/part%201/b%26c.txt can't be downloaded (HTTP status 404); "
        "put part 1/b&c.txt into a folder and pass that folder with --data-dir, or try --config sample\n"
        "mctaco/part 1/deep/x.xml: is also missing"
    )
    assert files_below(cache_folder("mctaco")) == ["part 1", "part 1/a.txt"]  # which was had before
    assert len(folder_server.asked) == 2


@pytest.mark.parametrize("changed", [["a.txt"], ["a.txt", "deep/x.xml"]])
def test_all_wrong_files_of_a_folder_are_named(folder_server, tmp_path, monkeypatch, changed):
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    put_all(tmp_path / "mctaco")
    for name in changed:
        put(tmp_path / "mctaco" / "part 1" / name, OTHER)
    corpus, folder = folder_at(url_of(folder_server))
    with pytest.raises(ChecksumError) as caught:
        locate(corpus, folder)
    lines = [
        f"{tmp_path}/mctaco/part 1/{name}: is not the released file: its sha256 is {OTHER_SHA256} "
        f"(expected {MANIFEST[f'part 1/{name}']}); delete it to download it again, or pass its folder with "
        "--data-dir to use it as it is"
        for name in changed
    ]
    head = [f"{tmp_path}/mctaco/part 1: 2 problems:"] if len(changed) > 1 else []
    assert str(caught.value) == "\n".join([*head, *lines])
    assert folder_server.asked == []


def test_a_wrong_download_in_a_folder(folder_server):
    folder_server.files["/part 1/b&c.txt"] = OTHER
    with pytest.raises(ChecksumError, match="the downloaded file is not the released file"):
        locate(*folder_at(url_of(folder_server)))
    assert files_below(cache_folder("mctaco")) == ["part 1", "part 1/a.txt"]


def test_a_folder_of_the_users_own(tmp_path):
    corpus, folder = folder_at("http://127.0.0.1:1/")
    put_all(tmp_path)
    for stray in (".DS_Store", "._a.txt", "notes.md", "deep/more/x.xml"):
        put(tmp_path / "part 1" / stray, b"stray")
    found = locate(corpus, folder, tmp_path)
    assert found.released
    assert list(found.files) == ["a.txt", "b&c.txt", "deep/x.xml"]
    put(tmp_path / "part 1" / "new.txt", b"new")
    another = locate(corpus, folder, tmp_path)
    assert list(another.files) == ["a.txt", "b&c.txt", "deep/x.xml", "new.txt"]
    assert not another.released
    assert another.sha256 != found.sha256
    (tmp_path / "part 1" / "new.txt").unlink()
    put(tmp_path / "part 1" / "deep" / "x.xml", b"y")
    changed = locate(corpus, folder, tmp_path)
    assert not changed.released
    assert changed.sha256 not in (found.sha256, another.sha256)
    (tmp_path / "part 1" / "deep" / "x.xml").unlink()
    assert not locate(corpus, folder, tmp_path).released
    assert files_in(tmp_path, folder).keys() == {"part 1/a.txt", "part 1/b&c.txt"}


def test_a_folder_has_a_split_where_it_has_the_first_pattern(tmp_path):
    corpus, folder = folder_at("http://127.0.0.1:1/")
    put_all(tmp_path, "part 1/deep/x.xml", "d.txt")
    put(tmp_path / "part 1" / "._a.txt", b"x")
    assert not is_in(tmp_path, folder)
    with pytest.raises(UnavailableError) as caught:
        locate(corpus, folder, tmp_path)
    assert str(caught.value) == f"{tmp_path}: contains no file part 1/*.txt (required by McTaco)"
    put_all(tmp_path, "part 1/a.txt")
    assert is_in(tmp_path, folder)


def test_splits_at_hand(tmp_path, monkeypatch):
    corpus, folder = folder_at("http://127.0.0.1:1/")
    file = SourceFile("d.txt", MANIFEST["d.txt"], "http://127.0.0.1:1/")
    bundled = load_corpus("mctaco").configs["sample"]
    corpus = replace(corpus, configs={"default": Config("", {"one": folder, "two": file}), "sample": bundled})

    def here(data_dir=None, config="default"):
        return list(splits_at_hand(corpus, config, data_dir))

    assert here() == ["one", "two"]  # to be downloaded
    assert left_out(corpus, "default") == []
    assert here(tmp_path) == []
    put_all(tmp_path / "mctaco", "d.txt")
    assert here(tmp_path / "mctaco") == ["two"]
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert here() == ["two"]
    message = f"one of mctaco is left out: {tmp_path / 'mctaco'} holds other splits and not this one."
    assert left_out(corpus, "default") == [message]
    assert here(config="sample") == ["test"]
    put_all(cache_folder("mctaco"), "part 1/a.txt")
    assert here() == ["one", "two"]
    assert left_out(corpus, "default") == []
