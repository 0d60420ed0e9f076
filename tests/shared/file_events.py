"""Processes that are killed at a chosen change of the file system: a file opened to be written, renamed or deleted.

The process is a fork of this one, so that it costs nothing to start; changes are what Python's audit events say.
"""

import os
import signal
import sys
import traceback
import warnings

CHANGES = {"os.rename", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "os.link", "os.symlink"}
WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC


def is_change(event, arguments):
    """Tell whether an audit event changes files."""
    return event in CHANGES or (
        event == "open" and isinstance(arguments[2], int) and bool(arguments[2] & WRITES)
    )


def start(action, *, kill_at=None):
    """Call a function in a forked process, which is killed before its change number `kill_at`, from 0; its id."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks of processes with threads
        child = os.fork()
    if child:
        return child
    code = 1
    try:
        changes = 0

        def count(event, arguments):
            nonlocal changes
            if is_change(event, arguments):
                if changes == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                changes += 1

        sys.addaudithook(count)
        sys.dont_write_bytecode = True  # which would be changes, too
        action()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        # also if the traceback can't be written: this process must never go on with the next test
        os._exit(code)


def finish(child):
    """Wait for a process; tell whether it ended well rather than being killed.  Any other end is an error."""
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code in (0, -signal.SIGKILL), code
    return code == 0


def kill_everywhere(action, prepare, check, step=1):
    """Call a function in processes killed at their first change, at their second, and so on until one is not killed.

    Args:
        action: what is killed.
        prepare: called before each.
        check: called after each.
        step: 2 for each second change, and so on.

    Returns:
        The number of changes, rounded up to a multiple of the step.
    """
    for number in range(0, 1000, step):
        prepare()
        is_done = finish(start(action, kill_at=number))
        check()
        if is_done:
            return number
    raise AssertionError("too many changes")
