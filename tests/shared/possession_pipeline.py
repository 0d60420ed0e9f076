"""Rule-based spaCy pipelines, which find the names and dates that they are given."""

import pytest


def make_pipeline(**names):
    """Make a pipeline that finds these texts, by label."""
    spacy = pytest.importorskip("spacy")
    nlp = spacy.blank("en")
    patterns = [
        {"label": label, "pattern": text} for label, texts in names.items() for text in texts
    ]
    nlp.add_pipe("entity_ruler").add_patterns(patterns)
    return nlp


def write_pipeline(folder, **names):
    """Write such a pipeline to a folder, and return that."""
    make_pipeline(**names).to_disk(folder)
    return folder
