"""Corpora with `datasets`: features from a schema, the builder that all corpora share, and `closeread.load_dataset`.

A corpus's own builder (`loaders/<corpus>/<corpus>.py`) is an empty class that points to its declaration.  `datasets`
caches what it generates under a key made of the declaration and the schema
(`closeread.hf.modules.digest_declaration`), `VERSION`, and the content of a user's own files.

Conventions: a list of objects is written as `[{...}]`, which all versions of `datasets` read the same way; labels are
text, in every corpus, as in records, submissions and files; `x-dtype` gives the Arrow type of a number.
"""

from __future__ import annotations

import hashlib
import importlib
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, ClassVar, Literal, TypeAlias, overload

import datasets
import pyarrow as pa
from datasets.exceptions import DatasetGenerationError

from closeread.corpus.declaration import Corpus, OwnFiles, SourceFile, UserFolders
from closeread.corpus.gold import (
    Gold,
    available_splits,
    data_notices,
    read_gold,
    splits_at_hand,
)
from closeread.corpus.names import find_corpus, load_corpus
from closeread.corpus.notices import warn
from closeread.corpus.schema import Node, Schema, fold, load_schema, value_type
from closeread.corpus.sources import cache_folder, data_folder, file_digest, files_in, find_places
from closeread.exceptions import (
    MAX_PROBLEMS_SHOWN,
    FormatError,
    InputError,
    Problem,
    RequestError,
    UnavailableError,
    UnknownOptionError,
    describe_unknown,
)
from closeread.hf.modules import class_name, digest_declaration, reject_inapplicable
from closeread.public_names import AnyCorpus
from closeread.records import OptionValue, UserFiles, as_columns

DTYPES = {"string": "string", "integer": "int64", "number": "float64", "boolean": "bool"}


def features(schema: Schema, definition: str = "document") -> datasets.Features:
    """Return the features of a schema's definition, which must be an object."""
    return datasets.Features(feature(schema, definition))


def feature(schema: Schema, definition: str) -> Any:
    """Return the feature of any definition of a schema."""

    def make_scalar(node: Node) -> Any:
        return datasets.Value(node.get("x-dtype", DTYPES[value_type(node)]))

    return fold(
        schema,
        schema["$defs"][definition],
        scalar=make_scalar,
        array=lambda child: [child],
        struct=dict,
    )


VERSION = "1.1.0"
"""Increase this by hand when a change of the reading code changes a record, so that no outdated table is loaded."""
RECORDS_PER_TABLE = 10_000


@dataclass
class CorpusConfig(datasets.BuilderConfig):  # type: ignore[misc]
    """A config of a corpus, with the user's own folders and options of reading by name."""

    # datasets prints the config in messages
    corpus: Corpus | None = field(default=None, repr=False)
    folders: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def files(self) -> UserFiles:
        """The user's own files."""
        folders = {name: Path(folder) for name, folder in self.folders.items()}
        return UserFiles(Path(self.data_dir) if self.data_dir else None, folders, self.options)

    def create_config_id(
        self, config_kwargs: dict[str, Any], custom_features: datasets.Features | None = None
    ) -> str:
        """Return the part of the cache key that distinguishes configs; a folder counts by the content of its files."""
        arguments = dict(config_kwargs)
        for name in ("data_dir", "folders", "options"):
            arguments.pop(name, None)
        content = "" if self.corpus is None else self._describe_content(self.corpus)
        if content:
            digest = hashlib.sha256(content.encode("utf-8", "surrogateescape"))
            arguments["data"] = digest.hexdigest()[:16]
        return str(super().create_config_id(arguments, custom_features=custom_features))

    def _describe_content(self, corpus: Corpus) -> str:
        """What distinguishes the tables from those of the released files alone; empty if nothing does."""
        files = self.files
        named_files = _find_user_files(corpus, self.name, files)
        splits = corpus.configs[self.name].splits.keys()
        lacking = splits - splits_at_hand(corpus, self.name, files)
        if not files and not named_files and not lacking:
            return ""
        parts = [f"{name}\0{file_digest(path)}\n" for name, path in named_files]
        parts += [f"{split}\0" for split in sorted(lacking)]
        parts += [f"{option}\0" for option in sorted(self.options.items())]
        return "".join(parts)


def _find_user_files(corpus: Corpus, config: str, files: UserFiles) -> list[tuple[str, Path]]:
    """Find the user's own files, by name: those in a folder, and extra files next to the released ones."""
    folder = files.data_dir
    user_files: list[tuple[str, Path]] = []
    for source in corpus.configs[config].splits.values():
        if isinstance(source, OwnFiles):
            place = folder or data_folder(corpus.name)
            if place is not None:
                user_files += files_in(UserFiles(place), source).items()
        elif isinstance(source, UserFolders):
            user_files += files_in(find_places(corpus, source, files), source).items()
        elif folder is not None:
            user_files += files_in(UserFiles(folder), source).items()
    places = [folder] if folder else [data_folder(corpus.name), cache_folder(corpus.name)]
    for place in filter(None, places):
        for pattern in corpus.extra_files:
            for path in sorted(place.glob(pattern)):
                if path.is_file():
                    user_files.append((path.relative_to(place).as_posix(), path))
    return user_files


class CorpusBuilder(datasets.ArrowBasedBuilder):  # type: ignore[misc]
    """Builds the splits of a corpus from its files."""

    CORPUS: ClassVar[Corpus]
    BUILDER_CONFIG_CLASS = CorpusConfig

    def __init__(self, *arguments: Any, data_dir: OptionalFolder = None, **options: Any) -> None:
        folders = {}
        for parameter in self.CORPUS.user_folders:
            folder = _resolve(options.pop(parameter.name, None))
            if folder is not None:
                folders[parameter.name] = folder
        reading = {}
        for option in self.CORPUS.reading_options:
            value = options.pop(option.name, None)
            if value is not None:
                reading[option.name] = value
        # An empty mapping would be a part of the key of the cache.
        if folders:
            options["folders"] = folders
        if reading:
            options["options"] = reading
        self._custom_features: datasets.Features | None = options.get("features")
        with naming_the_cache(str(options.get("cache_dir") or datasets.config.HF_DATASETS_CACHE)):
            super().__init__(*arguments, data_dir=_resolve(data_dir), **options)
        notices = self._notices()
        if notices:
            warn("\n".join(notices))

    def __init_subclass__(cls, **arguments: Any) -> None:
        super().__init_subclass__(**arguments)
        cls.DEFAULT_CONFIG_NAME = cls.CORPUS.default_config
        cls.BUILDER_CONFIGS = []
        for name, declared in cls.CORPUS.configs.items():
            config = CorpusConfig(
                name=name, version=VERSION, description=declared.description, corpus=cls.CORPUS
            )
            cls.BUILDER_CONFIGS.append(config)

    def download_and_prepare(self, output_dir: str | None = None, **options: Any) -> None:
        """Like `datasets.DatasetBuilder.download_and_prepare`, with closeread's errors for bad files and full disks."""
        with naming_the_cache(str(output_dir or self._cache_dir)):
            try:
                super().download_and_prepare(output_dir, **options)
            except DatasetGenerationError as error:
                if isinstance(error.__cause__, InputError | RequestError | OSError):
                    raise error.__cause__ from None
                raise

    def _download_and_prepare(
        self, dl_manager: Any, verification_mode: Any, **options: Any
    ) -> None:
        super()._download_and_prepare(dl_manager, verification_mode, **options)
        config_id = self.config.create_config_id(
            self.config_kwargs, custom_features=self._custom_features
        )
        if config_id != self.config_id:
            problem = Problem("changed while it was read; load it again")
            raise FormatError(self.config.files.data_dir or self.CORPUS.name, [problem])

    def _info(self) -> datasets.DatasetInfo:
        corpus = self.CORPUS
        return datasets.DatasetInfo(
            description=corpus.description,
            citation=corpus.citation,
            homepage=corpus.homepage,
            license=corpus.licence,
            features=self._features(),
        )

    def _split_generators(
        self, dl_manager: datasets.DownloadManager
    ) -> list[datasets.SplitGenerator]:
        # Files are located when they are read, so that a corpus can be described without its files.
        config = self.config
        splits = available_splits(self.CORPUS, config.name, config.files)
        if not splits:
            sources = self.CORPUS.configs[config.name].splits.values()
            names = ", ".join(source.expected for source in sources)
            message = f"contains none of the files of {self.CORPUS.title}: {names}"
            raise UnavailableError(config.files.data_dir, [Problem(message)])
        return [
            datasets.SplitGenerator(name=split, gen_kwargs={"split": split}) for split in splits
        ]

    def _generate_tables(self, split: str) -> Iterator[tuple[int, pa.Table]]:
        gold = read_gold(self.CORPUS, self.config.name, split, self.config.files)
        self._warn(split, gold)
        declared = self._features()
        features = self.info.features
        for start in range(0, len(gold.records), RECORDS_PER_TABLE):
            records = gold.records[start : start + RECORDS_PER_TABLE]
            columns = as_columns(records, list(features))
            for name, values in columns.items():
                # Encoding nested values takes longer than reading them.
                if declared[name] != features[name]:
                    columns[name] = features.encode_column(values, name)
            yield start, pa.Table.from_pydict(columns, schema=features.arrow_schema)

    def _warn(self, split: str, gold: Gold) -> None:
        """Warn of what was repaired or left out in a folder, and of oddities of a user's own.

        What there is to say of single files is said when the builder is made.
        """
        sources = self.CORPUS.configs[self.config.name].parts[split].values()
        if all(isinstance(source, SourceFile) for source in sources):
            return
        earlier = self._notices()
        notices = [notice for notice in gold.notices if notice not in earlier]
        if len(notices) > MAX_PROBLEMS_SHOWN:
            heading = f"{len(notices):,} notes (first {MAX_PROBLEMS_SHOWN} shown):"
            notices = [heading, *notices[:MAX_PROBLEMS_SHOWN]]
        if notices:
            warn("\n".join(notices))

    def _notices(self) -> list[str]:
        return data_notices(self.CORPUS, self.config.name, self.config.files)

    def _features(self) -> datasets.Features:
        definition = self.CORPUS.configs[self.config.name].definition
        return features(load_schema(self.CORPUS.schema), definition)


@cache
def find_builder(corpus: str) -> type[CorpusBuilder]:
    """Return the builder of a corpus: the class in its folder, or for a corpus of a family, an empty one made here."""
    declared = load_corpus(corpus)
    name = class_name(corpus)
    if not declared.family:
        module = importlib.import_module(f"{declared.folder}.{corpus}")
        builder: type[CorpusBuilder] = getattr(module, name)
        return builder
    # `datasets` looks for a builder in the module that it is given.
    module = ModuleType(f"{__name__}.{corpus}")
    attributes = {
        "CORPUS": declared,
        "__doc__": declared.description,
        "__module__": module.__name__,
    }
    builder = type(name, (CorpusBuilder,), attributes)
    setattr(module, name, builder)
    sys.modules[module.__name__] = module
    return builder


def _resolve(path: str | Path | None) -> str | None:
    # A stream reads when it is iterated, and the working directory may have changed by then.
    return str(Path(path).expanduser().resolve()) if path else None


class UnwritableCacheError(InputError):
    """A cache of tables that can't be written, for the reason that the file system gives."""

    def __init__(self, folder: str, reason: str) -> None:
        self.reason = reason
        advice = "pass another folder as cache_dir= or set HF_DATASETS_CACHE"
        problem = Problem(f"the cache of tables is not writable: {reason}; {advice}")
        super().__init__(folder, [problem])


@contextmanager
def naming_the_cache(folder: str) -> Iterator[None]:
    """Raise errors of the file system as one that says that the cache can't be written, and what to do."""
    try:
        yield
    except InputError:  # a file that is missing is not the cache's
        raise
    except OSError as error:
        cause = error
        # `datasets` raises an error of its own, without the reason, in place of the file system's.
        while cause.strerror is None and isinstance(cause.__context__, OSError):
            cause = cause.__context__
        raise UnwritableCacheError(folder, cause.strerror or str(cause)) from None


SplitName: TypeAlias = Annotated[str | datasets.Split | datasets.ReadInstruction, "a split"]
Data: TypeAlias = (
    datasets.Dataset
    | datasets.DatasetDict
    | datasets.IterableDataset
    | datasets.IterableDatasetDict
)
# For `datasets`, an empty string means no folder.
OptionalFolder: TypeAlias = str | Path | Literal[""] | None


def load_dataset_builder(
    path: AnyCorpus,
    name: str | None = None,
    *,
    data_dir: OptionalFolder = None,
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

    Returns:
        The builder, whose `info` has the features and the citation.

    >>> import closeread
    >>> list(closeread.load_dataset_builder("mctaco", "sample").info.features)[:2]
    ['id', 'question_id']

    Raises:
        RequestError: there is no such corpus, config, folder or option, or it does not apply.
    """
    corpus = find_corpus(path)
    if name is not None and name not in corpus.configs:
        raise RequestError(describe_unknown(f"config of {corpus.name}", name, list(corpus.configs)))
    for option in reading:
        if option not in corpus.reading_names:
            raise UnknownOptionError(corpus.name, option, corpus.reading_names, {"config": "name"})
    builder = find_builder(corpus.name)
    return builder(
        cache_dir=None if cache_dir is None else str(cache_dir),
        dataset_name=corpus.name,
        config_name=name,
        hash=digest_declaration(corpus.name),
        data_dir=data_dir,
        features=features,
        **reading,
    )


@overload
def load_dataset(
    path: AnyCorpus,
    name: str | None = ...,
    *,
    split: None = ...,
    streaming: Literal[False] = ...,
    **options: Any,
) -> datasets.DatasetDict: ...
@overload
def load_dataset(
    path: AnyCorpus,
    name: str | None = ...,
    *,
    split: SplitName,
    streaming: Literal[False] = ...,
    **options: Any,
) -> datasets.Dataset: ...
@overload
def load_dataset(
    path: AnyCorpus,
    name: str | None = ...,
    *,
    split: None = ...,
    streaming: Literal[True],
    **options: Any,
) -> datasets.IterableDatasetDict: ...
@overload
def load_dataset(
    path: AnyCorpus,
    name: str | None = ...,
    *,
    split: SplitName,
    streaming: Literal[True],
    **options: Any,
) -> datasets.IterableDataset: ...
@overload
def load_dataset(
    path: AnyCorpus,
    name: str | None = ...,
    *,
    split: SplitName | Sequence[SplitName] | None = ...,
    streaming: bool = ...,
    **options: Any,
) -> Data: ...
def load_dataset(
    path: AnyCorpus,
    name: str | None = None,
    *,
    split: SplitName | Sequence[SplitName] | None = None,
    streaming: bool = False,
    data_dir: OptionalFolder = None,
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

    Returns:
        A dataset if there is a split, otherwise one for each split by name; iterable ones if they are streamed.

    >>> import closeread
    >>> closeread.load_dataset("mctaco", "sample", split="test")[0]["question"]
    'How long did Marta wait in the café?'

    Raises:
        RequestError: there is no such corpus or config, or an argument does not apply to it.
        ValueError: the corpus has no such split.
        InputError: its files are unavailable, are not the released ones, or break their format.
    """
    reject_inapplicable(path, {"revision": revision, "data_files": data_files})
    if streaming and num_proc is not None:
        raise RequestError(
            "streaming= and num_proc= can't be combined: a stream is read in one process"
        )
    builder = load_dataset_builder(
        path, name, data_dir=data_dir, cache_dir=cache_dir, features=features, **reading
    )
    if streaming:
        return builder.as_streaming_dataset(split=split)
    builder.download_and_prepare(
        download_mode=download_mode, verification_mode=verification_mode, num_proc=num_proc
    )
    return builder.as_dataset(split=split, in_memory=keep_in_memory)
