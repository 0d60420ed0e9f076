"""A web server that sends whatever bytes a test says, at the level of the socket, and drops connections."""

import shutil
import socket
import ssl
import struct
import subprocess
import threading
from contextlib import contextmanager, suppress


class HostileServer:
    """Answers each connection by the next of `answers`, the last of which is repeated.

    An answer is bytes, or a function that is called with the connection and may send without end.
    """

    def __init__(self, tls=None):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.tls = tls
        self.answers, self.asked, self.n_bytes = [], [], 0

    @property
    def url(self):
        scheme = "http" if self.tls is None else "https"
        return f"{scheme}://127.0.0.1:{self.listener.getsockname()[1]}/rain.tsv"

    def run(self):
        with suppress(OSError):  # the listener is closed
            while True:
                connection, _ = self.listener.accept()
                with connection, suppress(OSError):  # the client has had enough
                    if self.tls is None:
                        self.answer(connection)
                        continue
                    connection.settimeout(100)
                    with self.tls.wrap_socket(connection, server_side=True) as secured:
                        self.answer(secured)

    def answer(self, connection):
        connection.settimeout(100)
        request = b""
        while b"\r\n\r\n" not in request:
            part = connection.recv(2**16)
            if not part:
                return
            request += part
        self.asked.append(request.decode("latin-1"))
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, bytes):
            connection.sendall(answer)
            connection.shutdown(socket.SHUT_WR)
            connection.recv(1)  # or closing could drop what has not been read yet
        else:
            answer(connection)

    def repeat(self, part, first=b""):
        """An answer that never ends."""

        def send(connection):
            connection.sendall(first)
            while True:
                self.n_bytes += connection.send(part)

        return send


def reset(first):
    """Send something, and reset the connection."""

    def send(connection):
        connection.sendall(first)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    return send


def answer(content, status="200 OK", **headers):
    """A whole answer; an underscore in the name of a header is a hyphen, and None leaves the header out."""
    given = {
        "Content-Length": len(content),
        **{name.replace("_", "-"): value for name, value in headers.items()},
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in given.items() if value is not None)
    return f"HTTP/1.1 {status}\r\n{lines}\r\n".encode("latin-1") + content


def make_certificate(folder, *, host="127.0.0.1", days=2):
    """A certificate that its holder signed, and how a server shows it; None without openssl.

    Args:
        folder: where the files are written.
        host: the address that it is for.
        days: for how long it holds; negative if that is over.
    """
    if shutil.which("openssl") is None:
        return None
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    wanted = ["-subj", f"/CN={host}", "-addext", f"subjectAltName=IP:{host}", "-days", str(days)]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    files = ["-keyout", str(key), "-out", str(certificate)]
    subprocess.run(["openssl", "req", *kind, *wanted, *files], check=True, capture_output=True)
    tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    tls.load_cert_chain(certificate, key)
    return certificate, tls


@contextmanager
def hostile_server(tls=None):
    """A server that runs until the end of the block, over https if it shows a certificate."""
    server = HostileServer(tls)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        yield server
    finally:
        server.listener.shutdown(socket.SHUT_RDWR)
        server.listener.close()
        thread.join()
