"""Where files are looked up, and what a download leaves behind, tried on a server of our own."""

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest
from shared.file_server import CONTENT, OTHER, OTHER_SHA256, SHA256, files_below, put, serving

from closeread.corpus import sources
from closeread.corpus.declaration import Config, SourceFile
from closeread.corpus.gold import read_gold
from closeread.corpus.names import load_corpus
from closeread.corpus.sources import (
    CACHE_VARIABLE,
    DATA_VARIABLE,
    cache_folder,
    data_folder,
    git_blob,
    locate,
)
from closeread.exceptions import ChecksumError, UnavailableError
from closeread.records import UserFiles

pytestmark = pytest.mark.usefixtures("loopback")


def corpus_at(url, name="rain.tsv"):
    """McTaco, but for its files: one, to be had from `url`."""
    file = SourceFile(name, SHA256, url)
    return replace(load_corpus("mctaco"), configs={"default": Config("", {"test": file})}), file


def test_search_order(server, tmp_path, monkeypatch):
    corpus, file = corpus_at(server.url)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    # From the last place to the first: each wins over those before.
    assert locate(corpus, file).path == cache_folder("mctaco") / "rain.tsv"
    assert len(server.asked) == 1
    put(tmp_path / "data" / "mctaco" / "rain.tsv", CONTENT)
    assert locate(corpus, file).path == tmp_path / "data" / "mctaco" / "rain.tsv"
    put(tmp_path / "named" / "rain.tsv", CONTENT)
    assert (
        locate(corpus, file, UserFiles(tmp_path / "named")).path == tmp_path / "named" / "rain.tsv"
    )
    assert len(server.asked) == 1


def test_data_dir_is_the_only_place_when_it_is_named(server, tmp_path, monkeypatch):
    corpus, file = corpus_at(server.url)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    put(tmp_path / "data" / "mctaco" / "rain.tsv", CONTENT)
    put(cache_folder("mctaco") / "rain.tsv", CONTENT)
    with pytest.raises(UnavailableError) as caught:
        locate(corpus, file, UserFiles(tmp_path))
    assert str(caught.value) == f"{tmp_path}: contains no file rain.tsv (required by McTaco)"
    assert server.asked == []


def test_data_dir_takes_any_content_and_says_so(tmp_path):
    corpus, file = corpus_at("http://127.0.0.1:1/")
    put(tmp_path / "rain.tsv", OTHER)
    assert locate(corpus, file, UserFiles(tmp_path)) == sources.LocatedFiles(
        tmp_path / "rain.tsv", OTHER_SHA256, released=False
    )
    gold = read_gold(corpus, files=UserFiles(tmp_path))
    note = f"{tmp_path / 'rain.tsv'} is not the released file (sha256 {OTHER_SHA256[:12]}…); using it as it is."
    assert gold.notices == (note,)
    put(tmp_path / "rain.tsv", CONTENT)
    assert locate(corpus, file, UserFiles(tmp_path)).released
    assert read_gold(corpus, files=UserFiles(tmp_path)).notices == ()


@pytest.mark.parametrize("place", ["data", "cache"])
def test_a_wrong_file_is_refused_where_it_is_found(server, tmp_path, monkeypatch, place):
    """It isn't passed over in silence for a right one further down."""
    corpus, file = corpus_at(server.url)
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    put(cache_folder("mctaco") / "rain.tsv", CONTENT)
    path = put(
        {"data": tmp_path / "data" / "mctaco", "cache": cache_folder("mctaco")}[place] / "rain.tsv",
        OTHER,
    )
    with pytest.raises(ChecksumError) as caught:
        locate(corpus, file)
    assert str(caught.value) == (
        f"{path}: is not the released file: its sha256 is {OTHER_SHA256} (expected {SHA256}); delete it to "
        "download it again, or pass its folder with data_dir= to use it as it is"
    )
    assert path.read_bytes() == OTHER
    assert server.asked == []


def test_a_download_is_kept():
    with serving() as server:
        corpus, file = corpus_at(server.url, "dataset/rain.tsv")
        found = locate(corpus, file)
    assert found == sources.LocatedFiles(
        cache_folder("mctaco") / "dataset/rain.tsv", SHA256, released=True
    )
    assert found.path.read_bytes() == CONTENT
    assert files_below(cache_folder("mctaco")) == ["dataset", "dataset/rain.tsv"]
    # The server is gone: the cache alone answers, and it is the same for every way in.
    assert locate(corpus, file) == found
    assert [record["answer"] for record in read_gold(corpus).records] == ["an hour"]
    assert server.asked == ["/rain.tsv"]


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


def test_a_cache_that_can_not_be_written(server, tmp_path, monkeypatch):
    put(tmp_path / "taken", b"")
    monkeypatch.setenv(CACHE_VARIABLE, str(tmp_path / "taken"))
    with pytest.raises(UnavailableError) as caught:
        locate(*corpus_at(server.url))
    assert str(caught.value) == (
        f"{tmp_path / 'taken' / 'mctaco' / 'rain.tsv'}: can't be written: Not a directory; "
        "set CLOSEREAD_CACHE to another folder"
    )


def test_a_file_known_by_its_git_object_id(server, tmp_path, monkeypatch):
    # `git hash-object` gives these ids.
    assert (
        git_blob(put(tmp_path / "hello", b"hello\n")) == "ce013625030ba8dba906f756967f9e9ca394464a"
    )
    assert git_blob(put(tmp_path / "empty", b"")) == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    right, wrong = (git_blob(put(tmp_path / "rain", content)) for content in (CONTENT, OTHER))
    corpus, file = corpus_at(server.url)
    file = replace(file, sha256=None, git_blob=right)
    assert locate(corpus, file) == sources.LocatedFiles(
        cache_folder("mctaco") / "rain.tsv", SHA256, released=True
    )
    put(cache_folder("mctaco") / "rain.tsv", OTHER)
    with pytest.raises(
        ChecksumError,
        match=rf"is not the released file: its git object id is {wrong} \(expected {right}\)",
    ):
        locate(corpus, file)
    assert locate(corpus, file, UserFiles(cache_folder("mctaco"))).released is False
    (cache_folder("mctaco") / "rain.tsv").unlink()
    server.content = OTHER
    with pytest.raises(
        ChecksumError,
        match=f"the downloaded file is not the released file: its git object id is {wrong} ",
    ):
        locate(corpus, file)
    assert files_below(cache_folder("mctaco")) == []


def test_two_downloads_at_once(server):
    corpus, file = corpus_at(server.url)
    # nobody gets an answer before both have asked
    server.wait = threading.Barrier(2, timeout=100).wait
    with ThreadPoolExecutor(2) as pool:
        found = list(
            pool.map(
                lambda _: (located := locate(corpus, file), located.path.read_bytes()), range(2)
            )
        )
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
