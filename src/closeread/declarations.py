"""The types that a corpus declaration is written in (``loaders/<corpus>/declaration.py``).

Nothing here reads a file or knows a format: a declaration says where the released files are, what they
hold, who made them and which procedure scores them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


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


@dataclass(frozen=True)
class Config:
    """One way to see a corpus.

    Attributes:
        description: one line.
        splits: split name to its file.
        definition: what its records are by the corpus's schema, a name below `$defs`.
    """

    description: str
    splits: Mapping[str, SourceFile]
    definition: str = "document"


@dataclass(frozen=True)
class Fact:
    """A figure that is true of the released files, kept so that a test can recompute it.

    Attributes:
        name: what is counted.
        value: the figure as measured on the released files.
        split: the split it is about; "all" for all of the default config's splits together.
    """

    name: str
    value: float
    split: str


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
        submission_formats: the modules of `closeread.formats` that read what systems send, beside JSON Lines.
        procedure: the module of `closeread.procedures` that scores it.
        procedure_defaults: option values that differ from the procedure's own.
        facts: figures of the released files.
        undigested: fields of a gold record that no score depends on and that not everybody has.
        beside: the user's own files beside the released ones, as patterns.
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
    submission_formats: tuple[str, ...] = ()
    procedure_defaults: Mapping[str, str] = field(default_factory=dict)
    facts: tuple[Fact, ...] = ()
    undigested: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()

    @property
    def default_config(self) -> str:
        """The config that is used when none is named."""
        return next(iter(self.configs))
