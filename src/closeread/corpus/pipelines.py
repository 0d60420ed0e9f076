"""spaCy pipelines, loaded by name, and the annotations that they must make.

spaCy is imported when a pipeline is loaded, not with this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from closeread.exceptions import MissingExtraError, RequestError, name_option, quote, shorten

ANNOTATIONS = {"DEP": "dependencies", "POS": "parts of speech", "ENT_IOB": "named entities"}
COMPONENTS = {"DEP": "a parser", "POS": "a parser", "ENT_IOB": "an entity recognizer"}
"""The components that usually make these annotations."""

UNNEEDED = {"senter", "lemmatizer", "trainable_lemmatizer", "ner"}
"""The components of spaCy's own pipelines on which neither parts of speech nor parses depend."""

STANDARD = UNNEEDED | {
    "tok2vec",
    "transformer",
    "curated_transformer",
    "tagger",
    "morphologizer",
    "attribute_ruler",
    "parser",
}


def load_pipeline(name: str, purpose: str) -> Any:
    """Load a spaCy pipeline, installed or in a folder, for a purpose such as "this baseline"."""
    if not name:
        raise RequestError(
            f"{purpose} needs a spaCy pipeline; choose one with {name_option('spacy_model')}"
        )
    try:
        import spacy
    except ImportError:
        raise MissingExtraError(purpose, "spacy", extra="spacy") from None
    try:
        return spacy.load(name)
    except Exception as error:  # third-party code and configuration, which may fail in any way
        message = " ".join(str(error).split())
        reason = f"can't be loaded: {shorten(message) or type(error).__name__}"
        if message.startswith("[E050]"):
            reason = "does not exist (expected an installed pipeline or a folder)"
        raise RequestError(f"spaCy pipeline {quote(name)} {reason}") from None


def parse(pipeline: Any, texts: Iterable[str], *needs: str) -> Iterator[Any]:
    """Yield the spaCy document of each text, all of which must have some annotations: keys of `ANNOTATIONS`."""
    for document in pipeline.pipe(texts):
        lacking = [name for name in needs if not document.has_annotation(name)]
        if lacking:
            name = quote(f"{pipeline.lang}_{pipeline.meta['name']}")
            annotations = " and ".join(ANNOTATIONS[name] for name in lacking)
            components = " and ".join(dict.fromkeys(COMPONENTS[name] for name in lacking))
            expected = f"expected a pipeline with {components}"
            raise RequestError(
                f"spaCy pipeline {name} does not annotate {annotations} ({expected})"
            )
        yield document


def list_unneeded(pipeline: Any) -> list[str]:
    """Return the names of components without which parts of speech and parses are the same.

    They take more than half of the time of spaCy's own pipelines.  A pipeline with any other component needs all, since
    that may depend on them.
    """
    factories = {name: pipeline.get_pipe_meta(name).factory for name in pipeline.pipe_names}
    if not STANDARD.issuperset(factories.values()):
        return []
    return [name for name, factory in factories.items() if factory in UNNEEDED]
