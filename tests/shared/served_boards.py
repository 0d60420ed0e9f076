"""A leaderboard that is served by a process of its own, and forms that are sent to it as a browser sends them."""

import os
import re
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from html import unescape
from http.client import HTTPConnection
from pathlib import Path

from closeread.corpus.sources import CACHE_VARIABLE, DATA_VARIABLE

BOUNDARY = "-----------------------------31415926535"
COMMAND = [sys.executable, "-c", "from closeread.cli import main; main()", "leaderboard", "serve"]


@dataclass
class Answer:
    """A response: status, headers by lower-case name, and text."""

    status: int
    headers: dict
    text: str

    @property
    def told(self):
        """What the page tells in answer to a form, as text; empty if it tells nothing."""
        found = re.search(r'<div class="answer.*?</div>', self.text, re.DOTALL)
        return " ".join(unescape(re.sub(r"<[^>]*>", " ", found[0])).split()) if found else ""


class Browser:
    """Sends requests with the headers of a browser that is on the page."""

    def __init__(self, port):
        self.port = port

    def send(self, method, path, body=None, headers=(), **more):
        """Send a request; headers given here replace the usual ones, and are left out if they are None."""
        usual = {"Host": f"127.0.0.1:{self.port}", **dict(headers)}
        connection = HTTPConnection("127.0.0.1", self.port, timeout=300)
        try:
            connection.request(
                method, path, body, {k: v for k, v in usual.items() if v is not None}, **more
            )
            response = connection.getresponse()
            return Answer(
                response.status,
                {k.lower(): v for k, v in response.getheaders()},
                response.read().decode("utf-8"),
            )
        finally:
            connection.close()

    def get(self, path="/", **headers):
        return self.send("GET", path, headers=headers)

    def post(self, data, file="predictions.jsonl", headers=(), is_patient=True, **fields):
        """Send the form, and follow to the page that it leads to; on a busy machine, the judge is waited for."""
        body = encode({"do": "submit", "system": "Mine", **fields}, file, data)
        usual = {
            "Content-Type": f"multipart/form-data; boundary={BOUNDARY}",
            "Origin": f"http://127.0.0.1:{self.port}",
            "Sec-Fetch-Site": "same-origin",
        }
        answer = self.send("POST", "/submit", body, {**usual, **dict(headers)})
        if answer.status == 303:
            place, deadline = answer.headers["location"].partition("#")[0], time.monotonic() + 300
            answer = self.get(place)
            while (
                is_patient
                and "waiting for the judge" in answer.told
                and time.monotonic() < deadline
            ):
                time.sleep(0.1)
                answer = self.get(place)
        return answer


def encode(fields, file=None, data=b""):
    """Encode a form; fields that are None are left out."""
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode(
            "utf-8", "surrogatepass"
        )
        for name, value in fields.items()
        if value is not None
    ]
    if file is not None:
        head = f'Content-Disposition: form-data; name="predictions"; filename="{file}"\r\n'
        parts.append(
            head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + data + b"\r\n"
        )
    return (
        b"".join(f"--{BOUNDARY}\r\n".encode() + part for part in parts)
        + f"--{BOUNDARY}--\r\n".encode()
    )


@dataclass
class Served:
    """A running server: its process, its port, and the file that its standard error goes to."""

    process: subprocess.Popen
    port: int
    errors: Path

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/"

    def browser(self):
        return Browser(self.port)

    def find_workers(self):
        """The numbers of all processes below the server."""
        below, found = {}, []
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                state, parent = stat.read_text("ascii", "replace").rpartition(")")[2].split()[:2]
            except OSError:
                continue  # it has ended meanwhile
            if state != "Z":
                below.setdefault(int(parent), []).append(int(stat.parent.name))
        level = [self.process.pid]
        while level:
            level = [child for parent in level for child in below.get(parent, ())]
            found += level
        return found


@contextmanager
def serving(store, folder, *arguments):
    """Serve a store by `closeread leaderboard serve` on a free port, without corpora and with caches in the folder."""
    errors = folder / "errors.txt"
    command = [
        *COMMAND,
        store.place,
        "--port",
        "0",
        "--cache",
        str(folder / "served-counts"),
        *map(str, arguments),
    ]
    environment = {name: value for name, value in os.environ.items() if name != DATA_VARIABLE}
    environment[CACHE_VARIABLE] = str(folder / "cache")
    with errors.open("w") as stderr:
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=stderr, text=True, env=environment
        )
    try:
        line = process.stdout.readline()
        port = re.search(r"http://127\.0\.0\.1:([0-9]+)", line)
        assert port, line + errors.read_text("utf-8")
        yield Served(process, int(port[1]), errors)
    finally:
        left = Served(process, 0, errors).find_workers()  # a test that fails may leave them stopped
        process.kill()
        process.wait()
        for worker in left:
            with suppress(ProcessLookupError):
                os.kill(worker, signal.SIGKILL)
        process.stdout.close()
