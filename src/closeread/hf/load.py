"""`closeread.load_dataset`: a corpus by name, through `datasets` and without patching it."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import datasets

from closeread.corpora.gold import corpus_names
from closeread.errors import RequestError, describe_unknown
from closeread.hf.builder import CorpusBuilder
from closeread.hf.modules import class_name
from closeread.hf.reading_code import code_digest
from closeread.hf.register import refuse_without_meaning


def load_dataset_builder(
    path: str,
    name: str | None = None,
    *,
    data_dir: str | Path | None = None,
    cache_dir: str | Path | None = None,
    features: datasets.Features | None = None,
) -> CorpusBuilder:
    """The builder of a corpus.

    Args:
        path: the corpus's name, such as "mctaco".
        name: the config; None for the default.
        data_dir: a folder with the corpus's files, which may differ from the released ones.
        cache_dir: where `datasets` keeps what it generates; None for its own default.
        features: other features to cast to.

    Raises:
        RequestError: there is no such corpus, or the config's files ship in the package and there is a folder.
        ValueError: the corpus has no such config.
    """
    if path not in corpus_names():
        raise RequestError(describe_unknown("corpus", path, corpus_names()))
    return builder_class(path)(
        cache_dir=None if cache_dir is None else str(cache_dir),
        dataset_name=path,
        config_name=name,
        hash=code_digest(path),
        data_dir=str(data_dir) if data_dir else None,  # an empty text is no folder
        features=features,
    )


def load_dataset(
    path: str,
    name: str | None = None,
    *,
    split: Any = None,
    streaming: bool = False,
    data_dir: str | Path | None = None,
    cache_dir: str | Path | None = None,
    features: datasets.Features | None = None,
    download_mode: datasets.DownloadMode | str | None = None,
    verification_mode: datasets.VerificationMode | str | None = None,
    keep_in_memory: bool = False,
    num_proc: int | None = None,
    revision: str | None = None,
    data_files: Any = None,
) -> Any:
    """A corpus as a `datasets` object: what `datasets.load_dataset` returns, by those of its arguments that apply.

    Args:
        path: the corpus's name, such as "mctaco".
        name: the config, such as "sample"; None for the default.
        split: a split, a slice such as "test[:10%]", or None for all.
        streaming: whether to read while iterating.
        data_dir: a folder with the corpus's files, which may differ from the released ones.
        cache_dir: where `datasets` keeps what it generates; None for its own default.
        features: other features to cast to.
        download_mode: such as "force_redownload", to generate anew.
        verification_mode: what `datasets` checks of the sizes that it recorded.
        keep_in_memory: whether to copy the data into memory.
        num_proc: how many processes generate; a split is one shard, so that more than one make it no faster.
        revision, data_files: have no meaning here; an error says what does.

    Raises:
        RequestError: there is no such corpus, or an argument has no meaning for it.
        ValueError: the corpus has no such config or split.
        InputError: its files can't be had, are not the released ones, or break their format.
    """
    refuse_without_meaning(path, {"revision": revision, "data_files": data_files})
    if streaming and num_proc is not None:
        raise RequestError("a stream is read in one process: streaming= and num_proc= don't go together")
    builder = load_dataset_builder(path, name, data_dir=data_dir, cache_dir=cache_dir, features=features)
    if streaming:
        return builder.as_streaming_dataset(split=split)
    builder.download_and_prepare(download_mode=download_mode, verification_mode=verification_mode, num_proc=num_proc)
    return builder.as_dataset(split=split, in_memory=keep_in_memory)


def builder_class(corpus: str) -> type[CorpusBuilder]:
    """The builder of a corpus by name."""
    module = importlib.import_module(f"closeread.loaders.{corpus}.{corpus}")
    builder: type[CorpusBuilder] = getattr(module, class_name(corpus))
    return builder
