"""What a new file has of the one that it replaces."""

import os
import stat
from pathlib import Path

import pytest
from shared.file_faults import file_faults, is_hidden, read_tree

from closeread.files import creating_folder, replacing, write_text, write_texts


def mode(path):
    return oct(stat.S_IMODE(Path(path).stat().st_mode))


@pytest.fixture(params=[0o022, 0o077])
def umask(request):
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


def test_permissions(here, umask):
    write_text(Path("new"), "x")
    with creating_folder(Path("above/folder")) as made:
        (made / "inside").write_text("x")
    found = [mode(path) for path in ("new", "above/folder/inside", "above/folder", "above")]
    assert found == [oct(0o666 & ~umask)] * 2 + [oct(0o777 & ~umask)] * 2
    for permissions in (0o600, 0o664):
        Path("new").chmod(permissions)
        with replacing(Path("new")) as partial:
            assert mode(partial) == "0o600"  # nobody else reads what may be private
            partial.write_text("y")
        assert (mode("new"), Path("new").read_text()) == (oct(permissions), "y")
    Path("empty").mkdir(0o710)
    Path("empty").chmod(0o710)
    with creating_folder(Path("empty")):
        pass
    assert mode("empty") == "0o710"


def test_a_link_is_kept_and_another_name_has_the_old_content(here):
    Path("below").mkdir()
    Path("below/file").write_text("old")
    os.link("below/file", "other")
    Path("link").symlink_to("below/file")
    Path("dangling").symlink_to("below/new")
    for link in ("link", "dangling"):
        write_text(Path(link), "new")
        assert Path(link).is_symlink()
    assert [Path(name).read_text() for name in ("below/file", "below/new", "other")] == [
        "new",
        "new",
        "old",
    ]
    assert not any(map(is_hidden, read_tree(".")))


def test_the_longest_name(here):
    write_text(Path("x" * 255), "x")
    with creating_folder(Path("y" * 255)):
        pass
    with pytest.raises(OSError, match="can't be written: File name too long"):
        write_text(Path("x" * 256), "x")
    assert len(read_tree(".")) == 2


def test_new_folders_are_kept_if_somebody_else_used_them(here):
    with pytest.raises(KeyError), creating_folder(Path("a/b")):  # noqa: PT012
        Path("a/other").touch()
        raise KeyError
    assert sorted(read_tree("a")) == ["other"]


def test_several_files_or_none(here):
    Path("taken").mkdir()
    with pytest.raises(OSError, match="can't be written: is a directory: 'taken'"):
        write_texts({Path("a"): "x", Path("taken"): "x"})
    assert read_tree(".") == {"taken": None}


def test_all_is_written_before_it_is_seen(here):
    with file_faults(".") as faults:
        write_text(Path("a"), "x")
    assert faults.events == ["open", "open", "write", "replace", "unlink"]
    with file_faults(".") as faults, creating_folder(Path("folder")) as made:
        (made / "inside").write_text("x")
    events = faults.events
    assert events.index("write") < events.index("rename")
