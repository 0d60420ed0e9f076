"""Files that are code, or that grow, in the place of every file that is read: nothing of them runs."""

import os
import pickle
import sys
import warnings
from contextlib import suppress

import pytest
from shared.file_events import finish, start
from shared.fuzzing.targets import make_targets
from shared.fuzzing.watching import alarm

from closeread.exceptions import InputError, RequestError

RUNS = {"compile", "exec", "marshal.loads", "os.exec", "os.fork", "os.posix_spawn", "os.system", "pickle.find_class"}
RUNS |= {"ctypes.dlopen", "socket.connect", "socket.getaddrinfo", "subprocess.Popen", "urllib.Request"}
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


def read_everything(targets, folder):
    output = folder / "out"
    for name, target in targets.items():
        for path, data in target.files.items():
            (folder / name / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / name / path).write_bytes(data)
        is_xml = target.files[target.changed[0]].startswith(b"<")
        for content in XML.values() if is_xml else CONTENTS.values():
            (folder / name / target.changed[0]).write_bytes(content)
            output.mkdir(exist_ok=True)
            with suppress(InputError, RequestError), alarm(10):
                found = repr(target.call(folder / name, output))
                assert "root:" not in found
                assert len(found) < 100_000  # pages are 60,000


@pytest.mark.gate
def test_nothing_runs(tmp_path, here):
    # Converters, validators and other commands have the readers of the others.
    others = ("convert-co", "validate-", "command-")
    targets = {name: one for name, one in make_targets().items() if not name.startswith(others)}

    def action():
        seen = []
        # What is imported only for such files is code of ours.
        read_everything(targets, tmp_path)
        sys.addaudithook(lambda event, arguments: seen.append((event, str(arguments)[:200])) if event in RUNS else None)
        read_everything(targets, tmp_path)
        assert seen == []
        pickle.loads(pickle.dumps(Payload))
        assert seen  # so that it would be seen

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert finish(start(action))
    assert not {"pickled", "jsonpickled", "executed", "loaded"} & {path.name for path in tmp_path.rglob("*")}
