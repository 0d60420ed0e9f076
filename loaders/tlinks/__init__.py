"""Corpora of temporal links: a module of facts each, and what all of them share.

They have one schema, one reader, one card and one sample, which is here in three forms.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from closeread.corpus.declaration import (
    Config,
    Corpus,
    DocumentTraits,
    Fact,
    SourceFolder,
    read_manifest,
)

HERE = Path(__file__).parent

SAMPLES = {"matres": "*.txt", "tdd": "*.tsv", "nt": "a1/*.tml"}
"""The files of the sample in each form, which its folder has the name of."""


def declare_corpus(
    *,
    form: str,
    configs: Mapping[str, tuple[str, Mapping[str, SourceFolder]]],
    figures: Mapping[str, Mapping[str, tuple[int, int]]],
    traits: DocumentTraits | None = None,
    **facts: Any,
) -> Corpus:
    """Declare a corpus of temporal links.

    Args:
        form: the form of its files, and of its sample: "matres", "tdd" or "nt".
        configs: the description of each config, and the files of each of its splits; the first is the default.
        figures: by config and split, the numbers of documents and links.
        traits: what its files don't say of its documents.
        **facts: what else `Corpus` takes.

    Returns:
        The declaration, with the sample and flat configs.

    Example:
        `declare_corpus(name="matres", form="matres", configs={"default": ("The files.", {"test": files})}, …)`
    """
    sample = SourceFolder(f"sample/{form}", (SAMPLES[form],), read_manifest(HERE / "sample.sha256"))
    declared = {
        name: Config(description, splits, traits=traits)
        for name, (description, splits) in configs.items()
    }
    default = next(iter(declared))
    text = "Invented documents that ship with the package, for trying things out offline."
    declared["sample"] = Config(text, {"test": sample})
    for config, flat in ((default, "flat"), ("sample", "sample_flat")):
        description = f"The links of the config {config}, one a row."
        declared[flat] = replace(
            declared[config], description=description, definition="flat", flattens="document"
        )
    values: list[Fact] = []
    for config, numbers_by_split in figures.items():
        for split, (n_documents, n_links) in numbers_by_split.items():
            values.append(Fact("documents", n_documents, split, config))
            values.append(Fact("links", n_links, split, config))
    return Corpus(
        configs=declared,
        default_split="test",
        language="en",
        format="corpus_links",
        procedure="tlinks",
        schema="tlinks_corpus",
        key="document",
        procedure_defaults={"extra": "skip"},
        facts=tuple(values),
        family="tlinks",
        **facts,
    )
