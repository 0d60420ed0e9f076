"""Baselines: predictions without learning, each with the options that it takes.

The module `baselines` of a task offers `BASELINES`, a sequence of `Baseline`.  Those that are no function from records
to rows are operations of the group "baseline CORPUS".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from typing import cast

from closeread import tasks
from closeread.corpus.names import corpus_names, load_corpus
from closeread.counts.procedure import Option, PathOption, resolve_options
from closeread.exceptions import RequestError, describe_unknown
from closeread.records import Record
from closeread.tasks import find


def text_option(name: str, help: str) -> Option:  # noqa: A002 (as the attribute is called)
    """Return an option of any text, empty by default."""
    return Option(name, (), "", help, "(?s).*", "any text")


def path_option(name: str, help: str) -> PathOption:  # noqa: A002
    """Return an option whose value is the path of a file or folder to read; none by default."""
    return PathOption(name, (), "", help, "(?s).*", "a path")


# Python reads no integer of more than 4,300 digits.
SEED = Option("seed", (), "0", "Random seed.", "[0-9]{1,18}", "a whole number")


@dataclass(frozen=True)
class Baseline:
    """A baseline of a task.

    Attributes:
        name: its name, unique in the task.
        make: maps gold records, and the options by name, to a row for every record that can be predicted, in order.
        description: what it predicts, one sentence that begins with a verb.
        options: the options that `make` takes.
    """

    name: str
    make: Callable[..., list[Record]]
    description: str
    options: tuple[Option, ...] = ()

    @property
    def required_options(self) -> list[Option]:
        """The options without a default, except paths, which may be left out."""
        return [
            option
            for option in self.options
            if not option.default and not isinstance(option, PathOption)
        ]

    def predict(self, records: Sequence[Record], **chosen: object) -> list[Record]:
        """Predict a row for every gold record that the baseline can predict, with options that are not the defaults."""
        return self.make(records, **self.resolve_options(chosen))

    def resolve_options(self, chosen: Mapping[str, object]) -> dict[str, str]:
        """Return every option with its value as text, chosen or default, in declared order."""
        return resolve_options(self.options, chosen, f"baseline {self.name}")


def has_baselines(corpus: str) -> bool:
    """Return whether the task of a corpus has baselines, without importing them."""
    return find_spec(f"{tasks.__name__}.{load_corpus(corpus).procedure}.baselines") is not None


def corpora_with_baselines() -> list[str]:
    """Return the names of the corpora that have baselines."""
    return [corpus for corpus in corpus_names() if has_baselines(corpus)]


def load_baselines(corpus: str) -> dict[str, Baseline]:
    """Load the baselines of a corpus by name; none if its task has none."""
    module = find(load_corpus(corpus).procedure, "baselines")
    offered = () if module is None else cast(Sequence[Baseline], module.BASELINES)
    return {baseline.name: baseline for baseline in offered}


def load_baseline(corpus: str, name: str) -> Baseline:
    """Load a baseline of a corpus."""
    baselines = load_baselines(corpus)
    if name not in baselines:
        raise RequestError(describe_unknown(f"baseline of {corpus}", name, list(baselines)))
    return baselines[name]
