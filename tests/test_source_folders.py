"""Folders of a corpus's files: which files belong to them, where they are looked up, and how they are downloaded."""

import hashlib
import shutil
import subprocess
from dataclasses import replace

import pytest
from shared.file_server import OTHER, OTHER_SHA256, files_below, put

from closeread.corpus.declaration import Config, SourceFile, SourceFolder, read_manifest
from closeread.corpus.gold import available_splits, describe_skipped_splits, splits_at_hand
from closeread.corpus.names import load_corpus
from closeread.corpus.sources import DATA_VARIABLE, cache_folder, is_in, locate
from closeread.exceptions import ChecksumError, UnavailableError
from closeread.records import UserFiles

pytestmark = pytest.mark.usefixtures("loopback")

FILES = {
    "part 1/a.txt": b"a",
    "part 1/b&c.txt": b"bc",
    "part 1/deep/x.xml": b"x",
    "part 1/README": b"r",
    "d.txt": b"d",
}
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
        name.removeprefix("part 1/"): FILES[name]
        for name in ("part 1/a.txt", "part 1/b&c.txt", "part 1/deep/x.xml")
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
        "put part 1/b&c.txt into a folder and pass that folder with data_dir=, or try the config 'sample'\n"
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
        "data_dir= to use it as it is"
        for name in changed
    ]
    head = [f"{tmp_path}/mctaco/part 1: 2 problems:"] if len(changed) > 1 else []
    assert str(caught.value) == "\n".join([*head, *lines])
    assert folder_server.asked == []


def test_a_folder_has_a_split_where_it_has_the_first_pattern(tmp_path):
    corpus, folder = folder_at("http://127.0.0.1:1/")
    put_all(tmp_path, "part 1/deep/x.xml", "d.txt")
    put(tmp_path / "part 1" / "._a.txt", b"x")
    assert not is_in(tmp_path, folder)
    with pytest.raises(UnavailableError) as caught:
        locate(corpus, folder, UserFiles(tmp_path))
    assert str(caught.value) == f"{tmp_path}: contains no file part 1/*.txt (required by McTaco)"
    put_all(tmp_path, "part 1/a.txt")
    assert is_in(tmp_path, folder)


def test_splits_at_hand(tmp_path, monkeypatch):
    corpus, folder = folder_at("http://127.0.0.1:1/")
    file = SourceFile("d.txt", MANIFEST["d.txt"], "http://127.0.0.1:1/")
    bundled = load_corpus("mctaco").configs["sample"]
    corpus = replace(
        corpus, configs={"default": Config("", {"one": folder, "two": file}), "sample": bundled}
    )

    def here(folder=None, config="default"):
        return list(splits_at_hand(corpus, config, UserFiles(folder)))

    assert here() == ["one", "two"]  # to be downloaded
    assert describe_skipped_splits(corpus, "default") == []
    assert here(tmp_path) == []
    put_all(tmp_path / "mctaco", "d.txt")
    assert here(tmp_path / "mctaco") == ["two"]
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert here() == ["two"]
    message = (
        f"split one of mctaco is skipped: {tmp_path / 'mctaco'} has other splits, but not this one."
    )
    assert describe_skipped_splits(corpus, "default") == [message]
    assert here(config="sample") == ["test"]
    put_all(cache_folder("mctaco"), "part 1/a.txt")
    assert here() == ["one", "two"]
    assert describe_skipped_splits(corpus, "default") == []


def test_a_union_is_available_with_all_its_splits(tmp_path, monkeypatch):
    corpus, folder = folder_at("http://127.0.0.1:1/")
    file = SourceFile("d.txt", MANIFEST["d.txt"], "http://127.0.0.1:1/")
    config = Config(
        "", {"one": folder, "two": file}, unions={"both": ("one", "two"), "first": ("one",)}
    )
    corpus = replace(corpus, configs={"default": config})
    assert config.split_names == ("one", "two", "both", "first")
    assert config.parts["both"] == {"one": folder, "two": file}
    assert config.parts["two"] == {"two": file}
    assert available_splits(corpus, "default") == ["one", "two", "both", "first"]
    put_all(tmp_path / "mctaco", "part 1/a.txt")
    assert available_splits(corpus, "default", UserFiles(tmp_path / "mctaco")) == ["one", "first"]
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path))
    assert describe_skipped_splits(corpus, "default") == [
        f"split two of mctaco is skipped: {tmp_path / 'mctaco'} has other splits, but not this one.",
        "split both of mctaco is skipped: it needs two.",
    ]
