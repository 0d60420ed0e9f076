"""Runs the real client against the stand-in Hub: in a process of its own, or in this one, which is much faster.

The client reads HF_ENDPOINT and the like once, when it is imported; in this process, what it has read is replaced.
"""

import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager

import pytest

FOREIGN = (
    "HF_",
    "HUGGING",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
)
# The client tells its process number, so that a fault can kill it; exec keeps the number.
WITH_NUMBER = 'HF_HUB_USER_AGENT_ORIGIN="process-$$" exec "$@"'


def client_environment(hub, user, home, **more):
    """The environment of a client: this Hub, this user's token (None: no login), and nothing of this machine's."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(FOREIGN)}
    return kept | own_environment(hub, user, home) | more


def own_environment(hub, user, home):
    """What is in the environment of a client for the stand-in's sake."""
    own = {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(home),
        "XDG_CACHE_HOME": f"{home}/cache",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "NO_PROXY": "*",
    }
    return own if user is None else own | {"HF_TOKEN": find_token(hub, user)}


def find_token(hub, user):
    """The token of a user."""
    return next(token for token, name in hub.tokens.items() if name == user)


@contextmanager
def client_here(hub, home):
    """Let the client of this process talk to the stand-in; yields a function that logs a user in, or out (None)."""
    from huggingface_hub import close_session, constants

    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(FOREIGN):
                patch.delenv(name)
        for name, value in own_environment(hub, None, home).items():
            patch.setenv(name, value)
        settings = {
            "ENDPOINT": hub.url,
            "HUGGINGFACE_CO_URL_TEMPLATE": f"{hub.url}/{{repo_id}}/resolve/{{revision}}/{{filename}}",
            "HF_HUB_OFFLINE": False,
            "HF_HUB_DISABLE_XET": True,
            "HF_HUB_CACHE": f"{home}/hub",
            "HF_TOKEN_PATH": f"{home}/token",
            "AGENT_HARNESSES_PATH": f"{home}/.agent_harnesses.json",
        }
        for name, value in settings.items():
            patch.setattr(constants, name, value)

        def log_in(user):
            if user is None:
                patch.delenv("HF_TOKEN", raising=False)
            else:
                patch.setenv("HF_TOKEN", find_token(hub, user))

        close_session()  # it may know a proxy
        try:
            yield log_in
        finally:
            close_session()


@contextmanager
def start_client(hub, user, code_or_argv, *, home=None, cwd=None, **more):
    """A client that runs: Python code, or a list of arguments; killed at the end if it is still there."""
    argv = (
        [sys.executable, "-c", code_or_argv]
        if isinstance(code_or_argv, str)
        else [str(a) for a in code_or_argv]
    )
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


def run_client(hub, user, code_or_argv, *, check=True, timeout=600, **more):
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
