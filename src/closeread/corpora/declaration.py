"""The types that a corpus declaration is written in (``loaders/<corpus>/declaration.py``).

Nothing here reads a file or knows a format: a declaration says where the released files are, what they
hold, who made them and which procedure scores them.
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
        url: where it can be had; None when it ships in this package.
        git_blob: what git names the released bytes by, in hex: the SHA-1 of ``blob <size>\\0`` and the bytes.
    """

    name: str
    sha256: str | None
    url: str | None = None
    git_blob: str | None = None

    def __post_init__(self) -> None:
        """Check that the file can be checked.

        Raises:
            ValueError: neither digest is known.
        """
        if self.sha256 is None and self.git_blob is None:
            raise ValueError(f"{self.name}: no digest; needed: a sha256, or what git names the file by")

    @property
    def needed(self) -> str:
        """What a folder has to have for the split to be in it."""
        return self.name


@dataclass(frozen=True)
class SourceFolder:
    """Files that make a split together, as their authors released them.

    Attributes:
        name: the path below the corpus's folder that they have in common; "." is that folder itself.
        patterns: which files below it belong to the split, such as `texts/*.xml`; where none fits the first, a folder
            of the user's own has no such split.
        manifest: the released files of the corpus or of more, as paths below the corpus's folder, with their sha256.
        url: where the corpus's folder can be had; None when it ships in this package.
    """

    name: str
    patterns: tuple[str, ...]
    manifest: Mapping[str, str] = field(repr=False)
    url: str | None = None

    @cached_property
    def files(self) -> tuple[SourceFile, ...]:
        """The released files, sorted by name."""
        wanted = tuple(self.path(pattern) for pattern in self.patterns)
        return tuple(
            SourceFile(name, sha256, None if self.url is None else f"{self.url}/{quote(name)}")
            for name, sha256 in sorted(self.manifest.items())
            if any(_fits(name, pattern) for pattern in wanted)
        )

    @property
    def needed(self) -> str:
        """What a folder has to have for the split to be in it."""
        return self.path(self.patterns[0])

    def path(self, name: str) -> str:
        """The path below the corpus's folder of a file that is named by its path below this one."""
        return name if self.name == "." else f"{self.name}/{name}"


def _fits(name: str, pattern: str) -> bool:
    """Whether a path fits a pattern, level by level."""
    parts, patterns = name.split("/"), pattern.split("/")
    return len(parts) == len(patterns) and all(map(fnmatchcase, parts, patterns))


def read_manifest(path: Path) -> dict[str, str]:
    """File names to their sha256, from a file as `sha256sum` writes it, which `sha256sum --check` verifies."""
    lines = path.read_text("utf-8").splitlines()
    return {name: sha256 for sha256, _, name in (line.partition("  ") for line in lines)}


def read_facts(path: Path) -> tuple[Fact, ...]:
    """Read figures from a JSON file, which holds them by config, split and name."""
    configs = json.loads(path.read_text("utf-8"))
    return tuple(
        Fact(name, value, split, config)
        for config, splits in configs.items()
        for split, figures in splits.items()
        for name, value in figures.items()
    )


Source = SourceFile | SourceFolder


@dataclass(frozen=True)
class Config:
    """One way to see a corpus.

    Attributes:
        description: one line.
        splits: split name to its file, or to the folder of its files.
        definition: what its records are by the corpus's schema, a name below `$defs`; gold is a `document`.
        format: the module of `closeread.formats` that reads it; None for the corpus's own.
    """

    description: str
    splits: Mapping[str, Source]
    definition: str = "document"
    format: str | None = None


@dataclass(frozen=True)
class Fact:
    """A figure that is true of the released files, kept so that a test can recompute it.

    Attributes:
        name: what is counted.
        value: the figure as measured on the released files.
        split: the split that is counted; "a+b" for two splits together, "all" for all splits of the config.
        config: the config that is counted.
    """

    name: str
    value: float
    split: str
    config: str


@dataclass(frozen=True)
class Corpus:
    """A corpus, declared.

    Attributes:
        name: its name in commands and in `load_dataset`.
        title: its name in prose.
        description: two or three sentences.
        language: BCP 47 tag.
        homepage: where it lives.
        licence: as stated upstream.
        citation: BibTeX.
        configs: config name to config; the first is the default, `sample` ships in the package.
        default_split: what is scored when no split is named.
        format: the module of `closeread.formats` that reads its files.
        key: the field of a gold record, and of a row that a system sends, that names it.
        unique: other fields that no two records or rows may share.
        submission_formats: the modules of `closeread.formats` that read what systems send, beside JSON Lines: a file,
            or a folder of files.
        procedure: the module of `closeread.tasks` that scores it.
        procedure_defaults: option values that differ from the procedure's own.
        facts: figures of the released files.
        not_in_digest: fields of a gold record that no score depends on and that not everybody has; `a.b` is the field b
            of every item of the list a.
        extra_files: the user's own files beside the released ones, as patterns.
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
    key: str = "id"
    unique: tuple[str, ...] = ()
    submission_formats: tuple[str, ...] = ()
    procedure_defaults: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    not_in_digest: tuple[str, ...] = ()
    extra_files: tuple[str, ...] = ()

    @property
    def default_config(self) -> str:
        """The config that is used when none is named."""
        return next(iter(self.configs))
