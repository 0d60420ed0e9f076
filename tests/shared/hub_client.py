"""Runs programs that use the real client, each in a process of its own, against the stand-in Hub.

The client reads HF_ENDPOINT and the like once, when it is imported.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager

FOREIGN = ("HF_", "HUGGING", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
# The client tells its process number, so that a fault can kill it; exec keeps the number.
WITH_NUMBER = 'HF_HUB_USER_AGENT_ORIGIN="process-$$" exec "$@"'


def client_environment(hub, user, home, **more):
    """The environment of a client: this Hub, this user's token (None: no login), and nothing of this machine's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    own = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(home),
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "NO_PROXY": "*",
    }
    if user is not None:
        own["HF_TOKEN"] = next(token for token, name in hub.tokens.items() if name == user)
    return kept | own | more


@contextmanager
def start_client(hub, user, code_or_argv, *, home=None, cwd=None, **more):
    """A client that runs: Python code, or a list of arguments; killed at the end if it is still there."""
    argv = [sys.executable, "-c", code_or_argv] if isinstance(code_or_argv, str) else [str(a) for a in code_or_argv]
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as fresh:
        process = subprocess.Popen(
            ["sh", "-c", WITH_NUMBER, "sh", *argv],
            env=client_environment(hub, user, home or fresh, **more),
            cwd=cwd,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        with process:
            try:
                yield process
            finally:
                process.kill()


def run_client(hub, user, code_or_argv, *, check=True, timeout=120, **more):
    """Run a client to its end.

    Args:
        hub: the stand-in.
        user: whose token it has; None for none.
        code_or_argv: Python code, or a list of arguments.
        check: fail the test, and show what the client wrote, if it doesn't end with 0.
        timeout: seconds.
        more: home (a folder for caches that several clients share), cwd, and environment variables.
    """
    with start_client(hub, user, code_or_argv, **more) as process:
        out, err = process.communicate(timeout=timeout)
    if check:
        assert process.returncode == 0, f"exit code {process.returncode}\n{out}\n{err}"
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)
