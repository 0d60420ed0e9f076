"""What holds of every procedure that is given its gold as a file of the user's, the key, with a response beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Protocol

from closeread.errors import RequestError, quote
from closeread.scoring import Counted


class Documents(Protocol):
    """One side's documents, in the key's order."""

    @property
    def names(self) -> Sequence[str]:
        """Their names."""
        ...

    @property
    def absent(self) -> AbstractSet[int]:
        """The places of those that the side lacks."""
        ...


class Pair(Protocol):
    """Key and response of the same documents in the same order."""

    @property
    def key(self) -> Documents:
        """The gold side."""
        ...

    @property
    def response(self) -> Documents:
        """The system's side."""
        ...


def refuse_other_counts(name: str, kept: Counted, digest: str, options: Mapping[str, str]) -> None:
    """Refuse kept counts that are not of a key and of the options that are asked for.

    Args:
        name: what to call the counts.
        kept: the counts.
        digest: what is scored of the key, as a sha256 in hex.
        options: every option with its value.

    Raises:
        RequestError: the signatures differ.
    """
    needed = kept.procedure.signature(options, digest)
    found = kept.provenance.signature
    if options["missing"] == "skip" and kept.provenance.missing:  # then the digest is of some documents only
        found, needed = (signature.rpartition("|gold:")[0] for signature in (found, needed))
    if found != needed:
        raise RequestError(f"{name} holds counts of {found}; needed, by the key and the options: {needed}")


def refuse_other_documents(pairs: Sequence[Pair], names: Sequence[str]) -> None:
    """Refuse responses that lack different documents, which can't be compared where those are left out.

    Raises:
        RequestError: they do; the message names a document.
    """
    for pair, name in zip(pairs, names, strict=True):
        for index in pair.response.absent ^ pairs[0].response.absent:
            document = quote(pair.key.names[index])
            lacking = names[0] if index in pairs[0].response.absent else name
            found = f"{lacking} lacks document {document}, which the other has"
            raise RequestError(f"{found}; with missing=skip both have to lack the same")
