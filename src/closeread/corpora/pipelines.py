"""spaCy pipelines by name."""

from __future__ import annotations

from typing import Any

from closeread.errors import MissingExtraError, RequestError, quote, shorten

NO_SUCH_PIPELINE = "[E050]"
"""The start of spaCy's error message for an unknown pipeline."""


def load_pipeline(name: str, purpose: str) -> Any:
    """Load a spaCy pipeline, installed or in a folder.

    Args:
        name: the name of the package, or the folder; empty for none.
        purpose: what needs it, such as "this baseline".

    Raises:
        RequestError: no pipeline is given, or it does not exist or can't be loaded.
        MissingExtraError: spaCy is not installed.
    """
    if not name:
        raise RequestError(f"{purpose} needs a spaCy pipeline; choose one with --spacy-model")
    try:
        import spacy
    except ImportError:
        raise MissingExtraError(f"{purpose} (the extra closeread[spacy])", "spacy") from None
    try:
        return spacy.load(name)
    except Exception as error:  # third-party code and configuration, which may fail in any way
        message = " ".join(str(error).split())
        if message.startswith(NO_SUCH_PIPELINE):
            found = f"spaCy pipeline {quote(name)} does not exist (expected an installed pipeline or a folder)"
        else:
            found = f"spaCy pipeline {quote(name)} can't be loaded: {shorten(message) or type(error).__name__}"
        raise RequestError(found) from None
