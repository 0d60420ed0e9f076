"""`closeread.load_dataset`: load a corpus by name with `datasets`, without patching it."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias, overload

import datasets

from closeread.corpus.names import find_corpus
from closeread.exceptions import RequestError
from closeread.hf.builder import CorpusBuilder
from closeread.hf.modules import class_name
from closeread.hf.register import digest_declaration, reject_inapplicable
from closeread.public_names import AnyCorpus
from closeread.records import OptionValue
from closeread.suggestions import describe_unknown

Split: TypeAlias = Annotated[str | datasets.Split | datasets.ReadInstruction, "a split"]
Data: TypeAlias = datasets.Dataset | datasets.DatasetDict | datasets.IterableDataset | datasets.IterableDatasetDict
Folder: TypeAlias = str | Path | Literal[""] | None
"""A folder; for `datasets`, an empty string means no folder."""


def load_dataset_builder(
    path: AnyCorpus,
    name: str | None = None,
    *,
    data_dir: Folder = None,
    cache_dir: str | Path | None = None,
    features: datasets.Features | None = None,
    **reading: OptionValue | None,
) -> CorpusBuilder:
    """Return the builder of a corpus.

    Args:
        path: the name of the corpus, such as "mctaco", or of the procedure that scores it.
        name: the config; None for the default.
        data_dir: a folder with the corpus's files, which may differ from the released ones.
        cache_dir: where `datasets` stores what it generates; None for its own default.
        features: other features to cast to.
        **reading: folders and options of reading that the corpus declares, such as `treebank`.

    Raises:
        RequestError: there is no such corpus, config, folder or option, or it does not apply.
    """
    declared = find_corpus(path)
    if name is not None and name not in declared.configs:
        raise RequestError(describe_unknown(f"config of {declared.name}", name, list(declared.configs)))
    known = [folder.name for folder in declared.user_folders] + [option.name for option in declared.reading_options]
    for argument in reading:
        if argument not in known:
            raise RequestError(describe_unknown(f"argument for {declared.name}", argument, known))
    module = importlib.import_module(f"closeread.loaders.{declared.name}.{declared.name}")
    builder: type[CorpusBuilder] = getattr(module, class_name(declared.name))
    return builder(
        cache_dir=None if cache_dir is None else str(cache_dir),
        dataset_name=declared.name,
        config_name=name,
        hash=digest_declaration(declared.name),
        data_dir=str(data_dir) if data_dir else None,  # an empty string means no folder
        features=features,
        **reading,
    )


@overload
def load_dataset(
    path: AnyCorpus, name: str | None = ..., *, split: None = ..., streaming: Literal[False] = ..., **options: Any
) -> datasets.DatasetDict: ...
@overload
def load_dataset(
    path: AnyCorpus, name: str | None = ..., *, split: Split, streaming: Literal[False] = ..., **options: Any
) -> datasets.Dataset: ...
@overload
def load_dataset(
    path: AnyCorpus, name: str | None = ..., *, split: None = ..., streaming: Literal[True], **options: Any
) -> datasets.IterableDatasetDict: ...
@overload
def load_dataset(
    path: AnyCorpus, name: str | None = ..., *, split: Split, streaming: Literal[True], **options: Any
) -> datasets.IterableDataset: ...
@overload
def load_dataset(
    path: AnyCorpus,
    name: str | None = ...,
    *,
    split: Split | Sequence[Split] | None = ...,
    streaming: bool = ...,
    **options: Any,
) -> Data: ...
def load_dataset(
    path: AnyCorpus,
    name: str | None = None,
    *,
    split: Split | Sequence[Split] | None = None,
    streaming: bool = False,
    data_dir: Folder = None,
    cache_dir: str | Path | None = None,
    features: datasets.Features | None = None,
    download_mode: datasets.DownloadMode | str | None = None,
    verification_mode: datasets.VerificationMode | str | None = None,
    keep_in_memory: bool = False,
    num_proc: int | None = None,
    revision: str | None = None,
    data_files: object = None,
    **reading: OptionValue | None,
) -> Data:
    """Load a corpus as `datasets.load_dataset` does, with those of its arguments that apply.

    Args:
        path: the name of the corpus, such as "mctaco", or of the procedure that scores it.
        name: the config, such as "sample"; None for the default.
        split: a split, a slice such as "test[:10%]", or None for all.
        streaming: whether to read while iterating.
        data_dir: a folder with the corpus's files, which may differ from the released ones.
        cache_dir: where `datasets` stores what it generates; None for its own default.
        features: other features to cast to.
        download_mode: such as "force_redownload", to generate the data again.
        verification_mode: which recorded sizes `datasets` verifies.
        keep_in_memory: whether to copy the data into memory.
        num_proc: the number of processes; a split is one shard, so that more than one process is no faster.
        revision, data_files: do not apply; the error names what to use instead.
        **reading: folders and options of reading that the corpus declares, such as `treebank` and `coreference`.

    Raises:
        RequestError: there is no such corpus or config, or an argument does not apply to it.
        ValueError: the corpus has no such split.
        InputError: its files are unavailable, are not the released ones, or break their format.
    """
    reject_inapplicable(path, {"revision": revision, "data_files": data_files})
    if streaming and num_proc is not None:
        raise RequestError("streaming= and num_proc= can't be combined: a stream is read in one process")
    builder = load_dataset_builder(path, name, data_dir=data_dir, cache_dir=cache_dir, features=features, **reading)
    if streaming:
        return builder.as_streaming_dataset(split=split)
    builder.download_and_prepare(download_mode=download_mode, verification_mode=verification_mode, num_proc=num_proc)
    return builder.as_dataset(split=split, in_memory=keep_in_memory)
