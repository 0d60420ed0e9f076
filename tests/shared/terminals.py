"""A pseudo-terminal of a given width, in which functions of this process print."""

import fcntl
import os
import pty
import struct
import sys
import termios
import threading
from unittest import mock


def show(columns, action):
    """What a terminal of so many columns gets from a call of `action`, without carriage returns."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    seen = []
    reader = threading.Thread(target=_read, args=(ours, seen))
    reader.start()
    try:
        with (
            open(theirs, "w", encoding="utf-8") as screen,
            mock.patch.multiple(sys, stdout=screen, __stdout__=screen),
        ):
            action()
    finally:
        reader.join()
        os.close(ours)
    return b"".join(seen).decode().replace("\r\n", "\n")


def _read(file, seen):
    """Read until nobody can write any more, which Linux reports as an error."""
    try:
        while data := os.read(file, 65536):
            seen.append(data)
    except OSError:
        pass
