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
    """A file as its authors released it.

    Attributes:
        name: its path below the corpus's folder, with the upstream file name.
        sha256: the digest of the released bytes, in hex; None where only `git_blob` is known.
        url: where to download it; None if it ships in this package.
        git_blob: the git object id of the released bytes, in hex: the SHA-1 of ``blob <size>\\0`` and the bytes.
        size: the number of released bytes, more of which are not downloaded; None if it is not known.
    """

    name: str
    sha256: str | None
    url: str | None = None
    git_blob: str | None = None
    size: int | None = None

    @property
    def is_unverified(self) -> bool:
        """Whether no digest is declared, so that its first download is compared with nothing."""
        return self.sha256 is None and self.git_blob is None

    @property
    def expected(self) -> str:
        """The file that a folder must contain to have the split."""
        return self.name

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """The released files: only this one."""
        return (self,)

    @property
    def paths(self) -> tuple[str, ...]:
        """Patterns of its files, as paths below the corpus's folder."""
        return (self.name,)


@dataclass(frozen=True)
class SourceFolder:
    """Files that together make up a split, as their authors released them.

    Attributes:
        name: their common folder, as a path below the corpus's folder; "." is that folder itself.
        patterns: patterns of the files below it that belong to the split, such as `texts/*.xml`; a user's own folder
            has the split if some file matches the first pattern.
        manifest: released files and their sha256, as paths below the corpus's folder; it may list files of other
            splits.
        url: where to download the corpus's folder; None if it ships in this package.
        sizes: the sizes of released files in bytes, by the same paths, as far as they are known.
    """

    name: str
    patterns: tuple[str, ...]
    manifest: Mapping[str, str] = field(repr=False)
    url: str | None = None
    sizes: Mapping[str, int] = field(default_factory=dict, repr=False)

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """The released files, sorted by name."""
        files = []
        for name, sha256 in sorted(self.manifest.items()):
            if any(_matches(name, pattern) for pattern in self.paths):
                url = None if self.url is None else f"{self.url}/{quote(name)}"
                files.append(SourceFile(name, sha256, url, size=self.sizes.get(name)))
        return tuple(files)

    @property
    def expected(self) -> str:
        """The file that a folder must contain to have the split."""
        return self.paths[0]

    @property
    def paths(self) -> tuple[str, ...]:
        """Patterns of its files, as paths below the corpus's folder."""
        return tuple(map(self.path, self.patterns))

    def path(self, name: str) -> str:
        """Turn a path below this folder into a path below the corpus's folder."""
        return name if self.name == "." else f"{self.name}/{name}"


@dataclass(frozen=True)
class ReadingOption:
    """A choice in how a corpus's files are read.

    Attributes:
        name: the keyword.
        choices: the accepted values; the first is the default.
        help: one sentence that begins with a verb.
    """

    name: str
    choices: tuple[str, ...]
    help: str


@dataclass(frozen=True)
class UserFolder:
    """A folder that users must get from its owners.

    Attributes:
        name: its name below the corpus's folder.
        patterns: patterns of the names of its files.
        content: what it contains, for messages.
        how_to_get: how a user gets it, as a clause that begins with a verb.
        not_needed_with: patterns of files below the corpus's folder; if one of them is there, the folder is not needed.
    """

    name: str
    patterns: tuple[str, ...]
    content: str
    how_to_get: str
    not_needed_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class UserFolders:
    """The files of a split that users must get from their owners, so no digest is known.

    Attributes:
        folders: the folders, which may be in different places.
        patterns: optional further files of the corpus's folder, as paths below it.
        url: a web page about them.
        options: how they may be read.
    """

    folders: tuple[UserFolder, ...]
    patterns: tuple[str, ...]
    url: str
    options: tuple[ReadingOption, ...] = ()

    @property
    def expected(self) -> str:
        """The folders that a folder must contain to have the split."""
        return " and ".join(f"{folder.name}/" for folder in self.folders)


@dataclass(frozen=True)
class OwnFiles:
    """The files of a split that users have or download themselves, so that closeread knows no digest of them.

    Attributes:
        patterns: patterns of the files, at any depth below the user's folder or in an archive there; the first one that
            matches any file counts, since the same files lie in different folders.
        instructions: how to get them and where to put them, a line each.
        downloads: files that may be downloaded instead: an archive, or the files themselves.
        extras: patterns of files that add to these, and may be missing.
        url: a web page about them.
    """

    patterns: tuple[str, ...]
    instructions: tuple[str, ...] = ()
    downloads: tuple[SourceFile, ...] = ()
    extras: tuple[str, ...] = ()
    url: str = ""

    @property
    def expected(self) -> str:
        """The files that a folder must contain to have the split."""
        return self.patterns[0]

    @property
    def folders(self) -> tuple[UserFolder, ...]:
        """Folders with options of their own: none."""
        return ()

    @property
    def options(self) -> tuple[ReadingOption, ...]:
        """How its files may be read."""
        is_unverified = any(file.sha256 is None for file in self.downloads)
        return (UNVERIFIED,) if is_unverified else ()


UNVERIFIED = ReadingOption(
    "unverified",
    ("ask", "accept"),
    "How to treat a download whose digest nobody could check for closeread: ask, or keep it and its digest.",
)


def _matches(name: str, pattern: str) -> bool:
    """Tell whether a path matches a pattern, level by level."""
    levels = name.split("/")
    patterns = pattern.split("/")
    return len(levels) == len(patterns) and all(map(fnmatchcase, levels, patterns))


def read_manifest(path: Path) -> dict[str, str]:
    """Read file names and their sha256 from a file written by `sha256sum`."""
    digests = {}
    for line in path.read_text("utf-8").splitlines():
        sha256, _, name = line.partition("  ")
        digests[name] = sha256
    return digests


def read_sizes(path: Path) -> dict[str, int]:
    """Read file names and their sizes in bytes from a file written by `wc -c`."""
    sizes = {}
    for line in path.read_text("utf-8").splitlines():
        size, _, name = line.strip().partition(" ")
        sizes[name] = int(size)
    return sizes


def read_columns(path: Path) -> dict[str, tuple[str, ...]]:
    """Read a file of rows separated by tabs: for each value of the last column, those of the first, in order."""
    names: dict[str, tuple[str, ...]] = {}
    for line in path.read_text("utf-8").splitlines():
        name, _, value = line.partition("\t")
        names[value] = (*names.get(value, ()), name)
    return names


def read_facts(path: Path) -> tuple[Fact, ...]:
    """Read figures from a JSON file, which holds them by config, split and name."""
    facts = []
    for config, splits in json.loads(path.read_text("utf-8")).items():
        for split, figures in splits.items():
            facts += [Fact(name, value, split, config) for name, value in figures.items()]
    return tuple(facts)


Released = SourceFile | SourceFolder

Source = Released | UserFolders | OwnFiles


@dataclass(frozen=True)
class Config:
    """One view of a corpus.

    Attributes:
        description: one line.
        splits: the file of each split, or the folder of its files.
        definition: the definition of its records, a name below `$defs` of the corpus's schema; gold is a `document`.
        format: the format that reads it; None for the corpus's own.
        unions: names for several splits together, and the splits.
        flattens: for a flat config, whose records have single values only, the definition of the nested records from
            which `flatten`, in the task's module `records`, makes it; empty for any other.
        traits: what the format must know of the corpus to read a folder; None if that is nothing.
    """

    description: str
    splits: Mapping[str, Source]
    definition: str = "document"
    format: str | None = None
    unions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    flattens: str = ""
    traits: object = None

    @cached_property
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
        return tuple(self.parts)

    @cached_property
    def parts(self) -> Mapping[str, Mapping[str, Source]]:
        """By the name of a split or a union, the splits that it consists of, with their sources."""
        parts = {split: {split: source} for split, source in self.splits.items()}
        for union, splits in self.unions.items():
            parts[union] = {split: self.splits[split] for split in splits}
        return parts


@dataclass(frozen=True)
class Fact:
    """A figure of the released files, which a test recomputes.

    Attributes:
        name: the name of the figure, such as "questions".
        value: the figure as measured on the released files.
        split: the split or the union that is counted, or "all" for all splits of the config.
        config: the config that is counted.
    """

    name: str
    value: float
    split: str
    config: str


@dataclass(frozen=True)
class PrintedFigure:
    """A figure that the authors print.

    Attributes:
        name: the name of the figure, as in facts.
        value: the figure as printed.
        where: the paper or the page that prints it.
        why: why the files have another number; empty if they have this one.
        config: the config that it describes.
        split: the split that it describes.
    """

    name: str
    value: float
    where: str
    why: str = ""
    config: str = "default"
    split: str = "test"


@dataclass(frozen=True)
class Repair:
    """A cell of a released file that can't be read, and what is read instead.

    Attributes:
        file: the name of the file.
        line: the line, from 1.
        cell: how the line ends; otherwise the file is another one, and its error stands.
        repaired: how it is read.
        what: what is wrong, as a sentence.
    """

    file: str
    line: int
    cell: str
    repaired: str
    what: str


@dataclass(frozen=True)
class DocumentTraits:
    """What a reader must know of a corpus's documents that their files don't say.

    Attributes:
        group: the field by which the corpus is usually divided; "treebank" is in the files' names.
        fields: by field and value, the documents that have it.
        ending: a pattern of the end of documents' names that systems may leave out; it is left out here, too.
        repairs: cells that are read in another way.
        only: by split, the only documents of its files that belong to it, if there are others.
        slices: by split, the first and the last document of its file that belong to it, as in Python; None for no end.
        numbers: by split, how many documents it has; if the files have more, those without a mention are left out.
        no_words: what stands for every word in files that lack them.
        words: the end of the name of a file that has the words of the documents, where the others lack them.
    """

    group: str = ""
    fields: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    ending: str = ""
    repairs: tuple[Repair, ...] = ()
    only: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    slices: Mapping[str, tuple[int | None, int | None]] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)
    no_words: str = ""
    words: str = ""


NO_TRAITS = DocumentTraits()


@dataclass(frozen=True)
class Corpus:
    """A corpus, declared.

    Attributes:
        name: its name in commands and in `load_dataset`.
        title: its name in prose.
        description: two or three sentences.
        language: a BCP 47 tag.
        homepage: its web page.
        licence: the licence as stated upstream.
        citation: BibTeX.
        configs: config name to config; the first is the default, `sample` ships in the package.
        default_split: the split that is scored by default.
        format: the format of its files.
        procedure: the package of `closeread.tasks` that scores it.
        package: the package of `closeread.tasks` with its formats, rules and records; empty if it is that of the
            procedure.
        schema: the schema of its records and of submissions; by default, the one of the corpus's name.
        key: the field that identifies a gold record and a submitted row.
        unique: other fields that no two records or rows may share.
        submission_formats: the formats of submissions other than JSON Lines, each a file or a folder of files.
        procedure_defaults: option values that differ from the procedure's own.
        facts: figures of the released files.
        n_oddities: the kinds of oddities of the released files that change nothing, which the card describes.
        not_in_digest: fields of a gold record that no score depends on and that not every user has; `a.b` is the
            field b of every item of the list a.
        extra_files: patterns of files that users may add to the released ones.
        redistribution: why the licence forbids others to publish the corpus, as the second half of a sentence; empty if
            it allows it.  Samples are ours and may always be published.
        family: the folder of `closeread.loaders` that it shares with corpora of its kind; empty if it has its own.
        preset: the preset of options and metrics that is usual for it; empty if there is none.
        instructions: how to get its files and where to put them, a line each.
        printed: figures that its authors print.
        remarks: what else to know before scoring, a sentence each.
        size: how many documents there are, in the words of the Hub.
    """

    name: str
    title: str
    description: str
    language: str
    homepage: str
    licence: str
    citation: str
    configs: Mapping[str, Config]
    default_split: str
    format: str
    procedure: str
    package: str = ""
    schema: str = ""
    key: str = "id"
    unique: tuple[str, ...] = ()
    submission_formats: tuple[str, ...] = ()
    procedure_defaults: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    n_oddities: int = 0
    not_in_digest: tuple[str, ...] = ()
    extra_files: tuple[str, ...] = ()
    # Forbidden unless a declaration says that it is allowed, so that nothing is published by an oversight.
    redistribution: str = "its declaration does not say that the licence allows it"
    family: str = ""
    preset: str = ""
    instructions: tuple[str, ...] = ()
    printed: tuple[PrintedFigure, ...] = ()
    remarks: tuple[str, ...] = ()
    size: str = "n<1K"

    def __post_init__(self) -> None:
        """Choose the schema of the corpus's name by default."""
        object.__setattr__(self, "schema", self.schema or self.name)

    @cached_property
    def task(self) -> str:
        """The package of `closeread.tasks` with its formats, rules and records."""
        return self.package or self.procedure

    @property
    def folder(self) -> str:
        """The package with its declaration and its sample."""
        return f"closeread.loaders.{self.family or self.name}"

    @cached_property
    def user_folders(self) -> tuple[UserFolder, ...]:
        """The folders that users must get from their owners."""
        folders: dict[UserFolder, None] = {}
        for source in self._list_user_sources():
            folders |= dict.fromkeys(source.folders)
        return tuple(folders)

    @cached_property
    def reading_options(self) -> tuple[ReadingOption, ...]:
        """How the files in these folders may be read."""
        options: dict[ReadingOption, None] = {}
        for source in self._list_user_sources():
            options |= dict.fromkeys(source.options)
        return tuple(options)

    @cached_property
    def reading_names(self) -> list[str]:
        """The names of these folders and options."""
        folders = [folder.name for folder in self.user_folders]
        return folders + [option.name for option in self.reading_options]

    def _list_user_sources(self) -> list[UserFolders | OwnFiles]:
        sources: list[UserFolders | OwnFiles] = []
        for config in self.configs.values():
            own = [part for part in config.splits.values() if not isinstance(part, Released)]
            sources += own
        return sources

    @property
    def default_config(self) -> str:
        """The config that is used by default."""
        return next(iter(self.configs))
