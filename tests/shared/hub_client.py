"""Runs the real client against the stand-in Hub: in a process of its own, or in this one, which is much faster.

The client reads HF_ENDPOINT and the like once, when it is imported; in this process, what it has read is replaced.
"""

import os
import subprocess
import sys
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


def own_environment(hub, home):
    """What is in the environment of a client, who is not logged in, for the stand-in's sake."""
    return {
        "HF_ENDPOINT": hub.url,
        "HF_HOME": str(home),
        "XDG_CACHE_HOME": f"{home}/cache",
        "HF_HUB_DISABLE_XET": "1",
        "HF_HUB_DISABLE_TELEMETRY": "1",
        "HF_HUB_DISABLE_PROGRESS_BARS": "1",
        "HF_HUB_DISABLE_UPDATE_CHECK": "1",
        "NO_PROXY": "*",
    }


@contextmanager
def client_here(hub, home):
    """Let the client of this process talk to the stand-in; yields a function that logs a user in, or out (None)."""
    from huggingface_hub import close_session, constants

    with pytest.MonkeyPatch.context() as patch:
        for name in os.environ:
            if name.startswith(FOREIGN):
                patch.delenv(name)
        for name, value in own_environment(hub, home).items():
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
                patch.setenv("HF_TOKEN", f"hf_{user}")

        close_session()  # it may know a proxy
        try:
            yield log_in
        finally:
            close_session()


def run_client(hub, code, folder):
    """Run Python code in a process of its own, which must end well; return what it printed."""
    environment = {name: text for name, text in os.environ.items() if not name.startswith(FOREIGN)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        env=environment | own_environment(hub, folder / "elsewhere"),
        cwd=folder,
        text=True,
        capture_output=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
