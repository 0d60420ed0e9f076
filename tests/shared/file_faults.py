"""Kill a call at every event of its files, or have every event fail once, in this process.

An event is whatever changes a folder: a file opened to be written, some of its text written, a rename, a removal.  A
call that is "killed" gets an exception from the event, after half of its text if it was writing, and from every event
afterwards, so that nothing cleans up.  Events elsewhere, such as those of libraries' caches, are left alone.
"""

import builtins
import errno
import io
import os
from contextlib import contextmanager
from pathlib import Path

CHANGES = (
    "rename",
    "replace",
    "mkdir",
    "rmdir",
    "unlink",
    "remove",
    "chmod",
    "chown",
    "open",
)
"""The functions of `os` whose calls are events; `os.open` if it is to write."""

FAILURES = {
    "open": (errno.ENOSPC, errno.EACCES),
    "write": (errno.ENOSPC, errno.EIO),
    "rename": (errno.EXDEV, errno.EACCES),
    "replace": (errno.EXDEV, errno.EACCES),
    "mkdir": (errno.ENOSPC, errno.EACCES),
    "chmod": (errno.EACCES,),
}
"""How an event may fail.  Removals may not: a file that can't be removed stays, whatever we do."""


class Killed(BaseException):
    """The process is dead, and nothing that it would do happens."""


class _Faults:
    """What has happened below a folder, and what is to happen.

    Attributes:
        events: the names of the events so far.
        at: the number of the event that is killed or fails; None for none.
        code: how it fails; None if it is killed.
        trees: what was below the folder before each of the events; None if nobody wants to know.
    """

    def __init__(self, folder, at=None, code=None, *, is_watched=False):
        self.folder, self.at, self.code = os.path.realpath(folder), at, code
        self.events, self.trees = [], [] if is_watched else None

    def is_below(self, place):
        path = (
            os.readlink(f"/proc/self/fd/{place}")
            if isinstance(place, int)
            else os.path.abspath(os.fspath(place))
        )
        return os.fsdecode(path).startswith(self.folder + os.sep)

    def happen(self, name, place, half=None):
        """Count an event, and raise what it raises.

        Args:
            name: the event.
            place: its path or its descriptor.
            half: what to do before it fails or is killed.
        """
        if self.code is None and self.at is not None and len(self.events) > self.at:
            raise Killed
        self.events.append(name)
        if self.trees is not None:
            self.trees.append(drop_hidden(read_tree(self.folder)))
        if len(self.events) - 1 != self.at:
            return
        if half is not None:
            half()
        if self.code is None:
            raise Killed
        # An error of a file that is open does not name it.
        raise OSError(
            self.code,
            os.strerror(self.code),
            *([] if isinstance(place, int) else [os.fspath(place)]),
        )


class _File:
    """A file that is open to be written, whose writes are events."""

    def __init__(self, file, faults):
        self._file, self._faults = file, faults

    def write(self, data):
        if len(data):  # click tries with nothing whether a file takes text
            self._faults.happen("write", self._file.fileno(), lambda: self._write_half(data))
        return self._file.write(data)

    def _write_half(self, data):
        self._file.write(data[: len(data) // 2])
        self._file.flush()

    def writelines(self, lines):
        for line in lines:
            self.write(line)

    def __enter__(self):
        self._file.__enter__()
        return self

    def __exit__(self, *error):
        return self._file.__exit__(*error)

    def __getattr__(self, name):
        return getattr(self._file, name)


@contextmanager
def file_faults(folder, at=None, code=None, *, is_watched=False):
    """Count the events below a folder in the block, and kill the block at one of them, or have that fail.

    Args:
        folder: the folder.
        at: the number of the event, from 0; None for none.
        code: the number of the error; None to kill the block.
        is_watched: whether to keep what is below the folder before each event.

    Yields:
        An object with the names of the events so far as `events`, and what was seen as `trees`.
    """
    faults = _Faults(folder, at, code, is_watched=is_watched)
    own = {name: getattr(os, name) for name in CHANGES}
    open_file = io.open

    def change(name):
        def call(place, *rest, **options):
            is_reading = name == "open" and not rest[0] & (os.O_WRONLY | os.O_RDWR)
            is_there = name == "mkdir" and os.path.isdir(place)
            if (
                not is_reading
                and not is_there
                and "dir_fd" not in options
                and faults.is_below(place)
            ):
                faults.happen(name, place)
            return own[name](place, *rest, **options)

        return call

    def open_watched(place, mode="r", *rest, **options):
        if set(mode).isdisjoint("wax+") or not faults.is_below(place):
            return open_file(place, mode, *rest, **options)
        if not isinstance(place, int):
            faults.happen("open", place)
        return _File(open_file(place, mode, *rest, **options), faults)

    for name in CHANGES:
        setattr(os, name, change(name))
    io.open = builtins.open = open_watched
    try:
        yield faults
    finally:
        io.open = builtins.open = open_file
        for name, function in own.items():
            setattr(os, name, function)


def read_tree(folder):
    """Everything below a folder: the bytes of files by path, None for folders."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in sorted(Path(folder).rglob("*"))
    }


def is_hidden(name):
    """Tell whether a path is that of a hidden file, or of one in a hidden folder."""
    return any(part.startswith(".") for part in name.split("/"))


def drop_hidden(tree):
    """Leave out hidden files and folders."""
    return {name: data for name, data in tree.items() if not is_hidden(name)}
