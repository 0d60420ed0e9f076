"""Corpora of coreference: a module of facts each, and what all of them share.

They have one schema, one reader, one card and one sample, which is here in three formats.
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
    Source,
    SourceFolder,
    read_manifest,
)

HERE = Path(__file__).parent

SAMPLES = {"conll": "*.conll", "corefud": "*.conllu", "jsonl": "*.jsonl"}
"""The files of the sample in each format, which its folder has the name of."""

FIGURES = ("documents", "tokens", "mentions", "entities", "singletons")
"""The figures that a declaration gives for a split, in order."""


FIGURES_OF_SAMPLES = {
    "conll": (3, 55, 19, 10, 4),
    "corefud": (3, 35, 14, 9, 4),
    "jsonl": (3, 63, 19, 10, 4),
}
"""The figures of the sample, for corpora whose files nobody could count."""


def declare_corpus(
    *,
    form: str,
    configs: Mapping[str, tuple[str, Mapping[str, Source]]],
    traits: DocumentTraits | None = None,
    config_traits: Mapping[str, DocumentTraits] | None = None,
    figures: Mapping[str, Mapping[str, tuple[int, ...]]] | None = None,
    blind: tuple[str, ...] = (),
    default_split: str = "test",
    **facts: Any,
) -> Corpus:
    """Declare a corpus of coreference.

    Args:
        form: the format of its files, and of its sample: "conll", "corefud" or "jsonl".
        configs: the description of each config, and the files of each of its splits; the first is the default.
        traits: what its files don't say of its documents.
        config_traits: the traits of configs that have others.
        figures: by config and split, the numbers of `FIGURES`; those of the sample if they are not known.
        blind: the configs without gold.
        default_split: the split that is scored by default.
        **facts: what else `Corpus` takes.

    Returns:
        The declaration, with the sample and flat configs.

    Example:
        `declare_corpus(name="litbank", form="conll", configs={"default": ("All.", {"test": files})}, …)`
    """
    traits = traits or DocumentTraits()
    sample = SourceFolder(f"sample/{form}", (SAMPLES[form],), read_manifest(HERE / "sample.sha256"))
    declared: dict[str, Config] = {}
    for name, (description, splits) in configs.items():
        config = Config(description, splits, traits=(config_traits or {}).get(name, traits))
        declared[name] = replace(config, definition="text") if name in blind else config
    default = next(iter(declared))
    declared["flat"] = replace(
        declared[default],
        description="The mentions of the default config, one a row.",
        definition="flat",
        flattens="document",
    )
    text = "Invented documents that ship with the package, for trying things out offline."
    of_sample = DocumentTraits(group=traits.group, ending=traits.ending)
    declared["sample"] = Config(text, {"test": sample}, traits=of_sample)
    declared["sample_flat"] = Config(
        "The mentions of the sample, one a row.",
        {"test": sample},
        definition="flat",
        flattens="document",
        traits=of_sample,
    )
    values: list[Fact] = []
    counted = figures or {"sample": {"test": FIGURES_OF_SAMPLES[form]}}
    for config_name, numbers_by_split in counted.items():
        for split, numbers in numbers_by_split.items():
            pairs = zip(FIGURES, numbers, strict=True)
            values += [Fact(name, number, split, config_name) for name, number in pairs]
    return Corpus(
        configs=declared,
        default_split=default_split,
        format="corpus_documents",
        procedure="coref",
        schema="coref_corpus",
        key="document",
        not_in_digest=("sentences", "labels", "group", "genre"),
        procedure_defaults={"extra": "skip"},
        facts=tuple(values),
        family="coref",
        **facts,
    )
