"""A web server for downloads, on this machine, and the files that it serves."""

import hashlib
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

CONTENT = b"It rained.\tHow long?\tan hour\tyes\tEvent Duration\n"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
OTHER = CONTENT.replace(b"an hour", b"a year ")
OTHER_SHA256 = hashlib.sha256(OTHER).hexdigest()


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


def files_below(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def put(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path
