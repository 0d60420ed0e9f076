"""The types that a corpus declaration is written in (``loaders/<corpus>/declaration.py``).

Nothing here knows a file format: a declaration says where the released files are, what they contain, who made them
and which procedure scores them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from urllib.parse import quote


@dataclass(frozen=True)
class SourceFile:
    """A file as its authors released it."""

    name: str  # its path below the corpus's folder, with the upstream file name
    # the digest of the released bytes, in hex; None where only `git_blob` is known
    sha256: str | None
    url: str | None = None  # where to download it; None if it ships in this package
    # The git object id of the released bytes, in hex: the SHA-1 of ``blob <size>\\0`` and the bytes.
    git_blob: str | None = None
    # the number of released bytes, more of which are not downloaded; None if it is not known
    size: int | None = None

    @property
    def expected(self) -> str:
        """The file that a folder must contain to have the split."""
        return self.name


@dataclass(frozen=True)
class SourceFolder:
    """Files that together make up a split, as their authors released them."""

    name: str  # their common folder, as a path below the corpus's folder; "." is that folder itself
    # Patterns of the files below it that belong to the split, such as `texts/*.xml`; a user's own folder has the split
    # if some file matches the first pattern.
    patterns: tuple[str, ...]
    # Released files and their sha256, as paths below the corpus's folder; may list files of other splits.
    manifest: Mapping[str, str] = field(repr=False)
    # where to download the corpus's folder; None if it ships in this package
    url: str | None = None
    # The sizes of released files in bytes, by the same paths, as far as they are known.
    sizes: Mapping[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """The released files, sorted by name."""
        wanted = tuple(self.path(pattern) for pattern in self.patterns)
        return tuple(
            SourceFile(
                name,
                sha256,
                None if self.url is None else f"{self.url}/{quote(name)}",
                size=self.sizes.get(name),
            )
            for name, sha256 in sorted(self.manifest.items())
            if any(_matches(name, pattern) for pattern in wanted)
        )

    @property
    def expected(self) -> str:
        """The file that a folder must contain to have the split."""
        return self.path(self.patterns[0])

    def path(self, name: str) -> str:
        """Turn a path below this folder into a path below the corpus's folder."""
        return name if self.name == "." else f"{self.name}/{name}"


@dataclass(frozen=True)
class ReadingOption:
    """A choice in how a corpus's files are read."""

    name: str  # the keyword
    choices: tuple[str, ...]  # the accepted values; the first is the default
    help: str  # one sentence that begins with a verb


@dataclass(frozen=True)
class UserFolder:
    """A folder that users must get from its owners."""

    name: str  # its name below the corpus's folder
    patterns: tuple[str, ...]  # its files, as patterns of their names
    content: str  # what it contains, for messages
    how_to_get: str  # how a user gets it, as a clause that begins with a verb
    # Patterns of files below the corpus's folder; if one of them is there, the folder is not needed.
    not_needed_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class UserFolders:
    """The files of a split that users must get from their owners, so no digest is known."""

    folders: tuple[UserFolder, ...]  # the folders, which may be in different places
    patterns: tuple[str, ...]  # optional further files of the corpus's folder, as paths below it
    url: str  # a web page about them
    options: tuple[ReadingOption, ...] = ()  # how they may be read

    @property
    def expected(self) -> str:
        """The folders that a folder must contain to have the split."""
        return " and ".join(f"{folder.name}/" for folder in self.folders)


def _matches(name: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern, level by level."""
    parts, patterns = name.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def read_manifest(path: Path) -> dict[str, str]:
    """Read file names and their sha256 from a file written by `sha256sum`."""
    lines = path.read_text("utf-8").splitlines()
    return {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}


def read_sizes(path: Path) -> dict[str, int]:
    """Read file names and their sizes in bytes from a file written by `wc -c`."""
    lines = path.read_text("utf-8").splitlines()
    return {name: int(size) for size, _, name in (line.strip().partition(" ") for line in lines)}


def read_facts(path: Path) -> tuple[Fact, ...]:
    """Read figures from a JSON file, which holds them by config, split and name."""
    configs = json.loads(path.read_text("utf-8"))
    return tuple(
        Fact(name, value, split, config)
        for config, splits in configs.items()
        for split, figures in splits.items()
        for name, value in figures.items()
    )


Source = SourceFile | SourceFolder | UserFolders


@dataclass(frozen=True)
class Config:
    """One view of a corpus."""

    description: str  # one line
    splits: Mapping[str, Source]  # split name to its file, or to the folder of its files
    # The definition of its records, a name below `$defs` of the corpus's schema; gold is a `document`.
    definition: str = "document"
    format: str | None = None  # the format that reads it; None for the corpus's own
    # Names for several splits together, and the splits.
    unions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # For a flat config, whose records have single values only: the definition of the nested records from which
    # `flatten`, in the task's module `records`, makes it; empty for any other.
    flattens: str = ""

    @property
    def read_definition(self) -> str:
        """The definition that its records follow as they are read."""
        return self.flattens or self.definition

    @property
    def is_bundled(self) -> bool:
        """Whether its data comes with closeread."""
        return all(source.url is None for source in self.splits.values())

    @property
    def split_names(self) -> tuple[str, ...]:
        """The names of the splits and of the unions."""
        return (*self.splits, *self.unions)

    def parts(self, split: str) -> Mapping[str, Source]:
        """Return the splits of a union, or a split alone, with their sources."""
        return {name: self.splits[name] for name in self.unions.get(split, (split,))}


@dataclass(frozen=True)
class Fact:
    """A figure of the released files, which a test recomputes."""

    name: str  # of the figure, such as "questions"
    value: float  # the figure as measured on the released files
    split: str  # the split or the union that is counted, or "all" for all splits of the config
    config: str  # the config that is counted


@dataclass(frozen=True)
class Corpus:
    """A corpus, declared."""

    name: str  # its name in commands and in `load_dataset`
    title: str  # its name in prose
    description: str  # two or three sentences
    language: str  # a BCP 47 tag
    homepage: str  # its web page
    licence: str  # as stated upstream
    citation: str  # BibTeX
    # config name to config; the first is the default, `sample` ships in the package
    configs: Mapping[str, Config]
    default_split: str  # the split that is scored by default
    format: str  # the format of its files
    procedure: str  # the package of `closeread.tasks` that scores it
    # The subpackage of that one for this corpus only, such as for its formats; empty if there is none.
    package: str = ""
    # the schema of its records and of submissions; by default, the one of the corpus's name
    schema: str = ""
    key: str = "id"  # the field that identifies a gold record and a submitted row
    unique: tuple[str, ...] = ()  # other fields that no two records or rows may share
    # The formats of submissions other than JSON Lines, each a file or a folder of files.
    submission_formats: tuple[str, ...] = ()
    # Option values that differ from the procedure's own.
    procedure_defaults: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()  # figures of the released files
    # the kinds of oddities of the released files that change nothing, which the card describes
    n_oddities: int = 0
    # Fields of a gold record that no score depends on and that not every user has; `a.b` is the field b of every item
    # of the list a.
    not_in_digest: tuple[str, ...] = ()
    extra_files: tuple[str, ...] = ()  # patterns of files that users may add to the released ones
    # Forbidden unless a declaration says that it is allowed, so that nothing is published by an oversight.
    # Why the licence forbids others to publish the corpus, as the second half of a sentence; empty if it allows it.
    # Samples are ours and may always be published.
    redistribution: str = "its declaration does not say that the licence allows it"

    def __post_init__(self) -> None:
        """Choose the schema of the corpus's name by default."""
        object.__setattr__(self, "schema", self.schema or self.name)

    @property
    def task(self) -> str:
        """The package of `closeread.tasks` with its modules; the procedure's package has those that this one lacks."""
        return f"{self.procedure}.{self.package}" if self.package else self.procedure

    @property
    def user_folders(self) -> tuple[UserFolder, ...]:
        """The folders that users must get from their owners."""
        return tuple(
            dict.fromkeys(folder for source in self._licensed for folder in source.folders)
        )

    @property
    def reading_options(self) -> tuple[ReadingOption, ...]:
        """How the files in these folders may be read."""
        return tuple(
            dict.fromkeys(option for source in self._licensed for option in source.options)
        )

    @property
    def reading_names(self) -> list[str]:
        """The names of these folders and options."""
        folders = [folder.name for folder in self.user_folders]
        return folders + [option.name for option in self.reading_options]

    @property
    def _licensed(self) -> list[UserFolders]:
        sources = (source for config in self.configs.values() for source in config.splits.values())
        return [source for source in sources if isinstance(source, UserFolders)]

    @property
    def default_config(self) -> str:
        """The config that is used by default."""
        return next(iter(self.configs))
