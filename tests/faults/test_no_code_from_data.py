"""Files that are code, or that grow, in the place of every file that is read: nothing of them runs."""

import multiprocessing
import os
import pickle
import sys
import warnings

import pytest
from shared.fuzzing import alarm, make_targets

RUNS = {
    "compile",
    "exec",
    "marshal.loads",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.system",
    "pickle.find_class",
}
RUNS |= {
    "ctypes.dlopen",
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "urllib.Request",
}
"""Audit events of code that is run, and of connections."""


class Payload:
    def __reduce__(self):
        return os.system, ("touch pickled",)


LAUGHS = "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))
CONTENTS = {
    "a pickle": pickle.dumps(Payload()),
    "a pickle in JSON": b'{"id": "x", "py/reduce": [{"py/function": "os.system"}, ["touch jsonpickled"]]}\n',
    "Python": b"__import__('os').system('touch executed')\n",
    "YAML": b"!!python/object/apply:os.system ['touch loaded']\n",
}
XML = {
    "a million laughs": f'<!DOCTYPE a [<!ENTITY a0 "ha">{LAUGHS}]>\n<a>&a9;</a>\n'.encode(),
    "an entity of a file": b'<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<a>&x;</a>\n',
    "an entity of a server": b'<!DOCTYPE a [<!ENTITY % x SYSTEM "http://127.0.0.1:9/"> %x;]>\n<a/>\n',
    "an XInclude": b'<a xmlns:x="http://www.w3.org/2001/XInclude"><x:include href="/etc/passwd" parse="text"/></a>\n',
}


def read_everything(targets):
    for target in targets:
        path = target.files[0]
        valid = path.read_bytes()
        for content in XML.values() if valid.startswith(b"<") else CONTENTS.values():
            path.write_bytes(content)
            with alarm(10):
                found = repr(target.call())
            assert "root:" not in found
            assert len(found) < 200_000  # pages are 60,000, the folder of a corpus 130,000
        path.write_bytes(valid)


@pytest.mark.gate
def test_nothing_runs(here):
    # Converters, validators and other commands have the readers of the others.
    others = ("convert-co", "validate-", "command-")
    targets = [one for name, one in make_targets().items() if not name.startswith(others)]
    seen = []

    def action():
        # What is imported only for such files is code of ours.
        read_everything(targets)
        sys.addaudithook(
            lambda event, arguments: (
                seen.append((event, str(arguments)[:200])) if event in RUNS else None
            )
        )
        read_everything(targets)
        assert seen == []
        pickle.loads(pickle.dumps(Payload))
        assert seen  # so that it would be seen

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        child = multiprocessing.get_context("fork").Process(target=action)  # of which the hook is
        child.start()
        child.join()
    assert child.exitcode == 0
    assert not {"pickled", "jsonpickled", "executed", "loaded"} & {
        path.name for path in here.rglob("*")
    }
