"""The tokens of a document as columns, over all its sentences."""

from __future__ import annotations

from dataclasses import dataclass

from closeread.records import Record


@dataclass(frozen=True)
class Tokens:
    """Columns of a document's tokens, all of the same length; tokens count from 0 in the document.

    Attributes:
        forms: the words.
        lemmas: their lemmas.
        first_tags: the part of speech of the first group; empty if there are no groups.
        last_tags: the part of speech of the last group; empty if there are no groups.
        n_groups: how many groups they have.
        heads: their heads; -1 if there is none.
        relations: the relations to their heads; empty if there is none.
        begins_sentence: whether they are the first of their sentence.
    """

    forms: list[str]
    lemmas: list[str]
    first_tags: list[str]
    last_tags: list[str]
    n_groups: list[int]
    heads: list[int]
    relations: list[str]
    begins_sentence: list[bool]

    def __len__(self) -> int:
        return len(self.forms)

    def list_dependents(self) -> list[list[int]]:
        """List the dependents of every token, in order."""
        dependents: list[list[int]] = [[] for _ in self.heads]
        for token, head in enumerate(self.heads):
            if head >= 0:
                dependents[head].append(token)
        return dependents


def read_tokens(record: Record) -> Tokens:
    """Put the tokens of a record into columns."""
    tokens = Tokens([], [], [], [], [], [], [], [])
    for sentence in record["sentences"]:
        words, offset = sentence["tokens"], len(tokens)
        for number, token in enumerate(words):
            groups, head = token["groups"], token["head"]
            tokens.forms.append(token["form"])
            tokens.lemmas.append(token["lemma"])
            tokens.first_tags.append(_get_tag(groups[0]) if groups else "")
            tokens.last_tags.append(_get_tag(groups[-1]) if groups else "")
            tokens.n_groups.append(len(groups))
            tokens.heads.append(-1 if head is None else offset + head - 1)
            tokens.relations.append(token["relation"] or "")
            tokens.begins_sentence.append(number == 0)
    return tokens


def _get_tag(group: list[str]) -> str:
    return group[0] if group else ""
