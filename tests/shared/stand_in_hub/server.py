"""HTTP: reads a request, meets its fault if there is one, and sends the answer."""

import os
import re
import signal
import socket
from http.server import BaseHTTPRequestHandler

from shared.stand_in_hub.faults import CUT, CUT_AFTER, KILL, KILL_AFTER
from shared.stand_in_hub.messages import RefusalError, Reply, Request
from shared.stand_in_hub.routes import answer

PROCESS = re.compile(r"origin/process-(\d+)")  # what shared.hub_client makes the client add to its User-Agent


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # headers and content in one packet

    def handle_request(self):
        hub, fault = self.server.hub, None
        body = self._read_body()
        try:
            user = hub.find_user(self.headers.get("Authorization"))
            request = Request(self.command, self.path, self.headers, body, user)
            fault = hub.take_fault(self.command, request.place, user)
            if fault:
                if fault.before:
                    fault.before()
                self._break(fault, CUT, KILL)
                if isinstance(fault.answer, int):
                    raise RefusalError(fault.answer, fault.error, **fault.headers)  # noqa: TRY301
            with hub.lock:
                reply = answer(hub, request)
        except RefusalError as refusal:
            reply = refusal.reply
        except (BrokenPipeError, ConnectionResetError):
            return
        if fault:
            if fault.after:
                fault.after()
            try:
                self._break(fault, CUT_AFTER, KILL_AFTER)
            except BrokenPipeError:
                return
        self._send(reply)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = handle_request  # noqa: N815

    def _break(self, fault, cut, kill):
        """Cut the connection, or kill the client, if this fault says so."""
        if fault.answer == kill:
            os.kill(int(PROCESS.search(self.headers["User-Agent"]).group(1)), signal.SIGKILL)
        if fault.answer in (cut, kill):
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
            raise BrokenPipeError

    def _read_body(self):
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length", 0)))
        chunks = []
        while size := int(self.rfile.readline().split(b";")[0], 16):
            chunks.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(chunks)

    def _send(self, reply: Reply):
        try:
            self.send_response(reply.status)
            length = len(reply.content) if reply.length is None else reply.length
            for name, value in (reply.headers | {"Content-Length": str(length)}).items():
                self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(reply.content)
            self.wfile.flush()
        except (BrokenPipeError, ConnectionResetError):  # the client is gone: it was killed, or lost patience
            self.close_connection = True

    def log_message(self, *arguments):
        pass
