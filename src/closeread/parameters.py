"""Parameters of operations, from which commands, and the checks of arguments are derived.

The signature and the docstring of an operation say everything.  Positional parameters are arguments of its command,
keyword-only ones are options.  Modules with operations import nothing heavy outside of functions.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from pathlib import Path
from types import GenericAlias, UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    NamedTuple,
    NewType,
    Union,
    get_args,
    get_origin,
)

from closeread.public_names import AnyFamily, AnyPreset
from closeread.records import FileOrRows, IntervalKind, OptionValue
from closeread.signatures import Range, read_hints

if TYPE_CHECKING:
    from closeread.corpus.gold import GoldSource as GoldSource
    from closeread.counts import procedure
    from closeread.counts.annotators import Annotator as Annotator
    from closeread.counts.counts import Counts
    from closeread.counts.estimates import Resampling
else:
    # Their modules import NumPy.
    Annotator = NewType("Annotator", object)
    GoldSource = NewType("GoldSource", object)

Operation = Callable[..., Any]
Operations = Mapping[str, Mapping[str, Operation]]
"""`OPERATIONS` of a module: from the name of a group of commands, such as "plot", to its operations by name."""


class Param(NamedTuple):
    """Properties of a parameter that its type does not express.

    Most types say how a parameter is read: `Path` is a file or folder with a name, `Sequence[Path]` several of them,
    `Sequence[str]` names and `Sequence[float]` numbers separated by commas, `Mapping` NAME=VALUE, a dataclass a group
    of parameters, `Annotator` a file, a folder or objects, `GoldSource` gold of `corpus`, `ScoredPredictions`
    predictions for it.  Others have a kind:

    - "read", "write": a file, which may also be standard input or, if it is written, a folder;
    - "store": the folder of a leaderboard, or its address;
    - "systems": files of systems, perhaps with a key;
    - "of_procedure": choices depend on the procedure that scores, and on the parameter's name;
    - "python": no part of the command, which may pass a value itself.
    """

    kind: str = ""
    metavar: str | None = None  # the name of its value in help
    flag: str = ""  # its option, if that is not its name
    range: Range | None = None  # of a number
    required: bool = False  # by the command line, though Python has a default
    default: Any = None  # of the command line, where Python has None
    help: str = ""  # where the docstring has words for Python
    # Whose gold is read; of annotators, whose documents they have, if these are not of the operation's task.
    corpus: str = ""
    # Of `**options`, which the procedure that scores declares if nothing else does: "files" of any corpus, the
    # "procedure" of the corpus, or a module of its task with `OPTIONS`; or the options themselves.
    declared: str = ""
    options: tuple[procedure.Option, ...] = ()

    def over(self, other: Param) -> Param:
        """Return this with its unset fields filled from another."""
        unsaid = Param()._asdict()
        return other._replace(
            **{name: value for name, value in self._asdict().items() if value != unsaid[name]}
        )


within = Range

SENTENCES = {
    "output": "Write to this file.",
    "config": "Use this config of the corpus; 'sample' comes with the package.",
    "split": "Use this split of the corpus.",
    "gold": "Use your own gold file, in the corpus's format, .jsonl or .parquet.",
    "data_dir": "Read the corpus's files from this folder; they may differ from the release.",
    "workers": "Score in this many processes.  [default: the number of cores]",
    "cache": "Keep counts in this folder.  [default: the user's cache]",
    "option": "Set an option of the procedure; may be repeated.",
    "private": "Create a private repository; refuse one that is public.",
    "dry_run": "List the files, their sizes and what would change; publish nothing.",
    "seed": "Random seed.",
    "confidence": "Confidence level of the intervals.",
    "interval": "Kind of interval; bca is bias-corrected and accelerated.",
    "resamples": "Number of bootstrap resamples.",
    "test_resamples": "Number of resamples.  [default: 1000, or more if the correction of p-values needs them]",
    "ci": "Skip confidence intervals.",
    "precision": "Precision of matrix products; auto is bfloat16 on GPUs that have it, float32 elsewhere.",
    "device": "Use this device, such as 'cuda:0'.  [default: the first GPU, or the CPU]",
    "digits": "Number of decimals of scores in tables; JSON and CSV have them in full.",
}
"""The sentences of parameters that many operations have; those of a docstring in lower case are for Python."""

# Of operations.
Source = Annotator
Sources = Sequence[Annotator]
Read = Annotated[Path, Param(kind="read", metavar="FILE")]
Output = Annotated[Path, Param(kind="write", flag="-o --output", metavar="FILE", required=True)]
Write = Annotated[Path, Param(kind="write", metavar="FILE")]
Rate = Annotated[float, within(0, 1, above=True), Param(metavar="X")]
Count = Annotated[int, within(0)]
Seed = Count
Number = Annotated[int, within(1)]
Precision = Literal["auto", "float32", "bfloat16"]
Confidence = Annotated[float, within(0, 1, above=True, below=True)]
Interval = IntervalKind
FileOptions = Annotated[str | Path, Param(declared="files")]
Name = Annotated[str | None, Param(metavar="NAME")]
Config = Name
Split = Name
DataDir = Annotated[Path | None, Param(metavar="DIR")]
Folder = Annotated[str | Path | None, Param(metavar="DIR")]
TrainingFile = Annotated[Source | None, Param(metavar="FILE")]
RunFolder = Annotated[Path, Param(flag="-o --output", metavar="RUN")]
Times = Annotated[Number, Param(metavar="N")]

# Of functions that score: what depends on the procedure, and what the docstring describes for Python.
OnlyPython = Param(kind="python")
Predictions = Annotated[FileOrRows, Param(kind="read")]
Gold = Annotated[FileOrRows | None, Param(kind="read", metavar="FILE")]
Metrics = Annotated[AnyFamily | Sequence[AnyFamily] | None, Param(kind="of_procedure")]
Preset = Annotated[AnyPreset | None, Param(kind="python")]
Scores = Annotated[str | Sequence[str] | None, Param(kind="of_procedure")]
Fields = Annotated[str | Sequence[str], Param(kind="of_procedure")]
Resamples = Annotated[int | None, within(1), Param(default=1000)]
TestResamples = Annotated[int | None, within(1), Param(help=SENTENCES["test_resamples"])]
Workers = Annotated[int | None, within(1)]
ProcedureOptions = OptionValue


@dataclass(frozen=True)
class GoldPlace:
    """Where gold is."""

    config: Config = None
    split: Split = None
    gold: Gold = None
    data_dir: Folder = None


@dataclass(frozen=True)
class Intervals:
    """How to compute confidence intervals."""

    ci: bool = True
    resamples: Number = 1000
    confidence: Confidence = 0.95
    seed: Seed = 0
    interval: IntervalKind = "percentile"

    def make_resampling(self) -> Resampling:
        """Return the parameters of resampling; none is done without intervals."""
        from closeread.counts.estimates import Resampling

        return Resampling(
            self.resamples if self.ci else 0, self.confidence, self.seed, self.interval
        )


@dataclass(frozen=True)
class TrainingSettings:
    """How to train a model; a task adds what only its models have, and its own defaults.

    Attributes:
        encoder: Fine-tune this encoder: a name on the Hugging Face Hub, or a folder.
        epochs: Train for at most N epochs.
        patience: Stop after N epochs without a better score.
        batch_size: Train on batches of N examples.
        learning_rate: Peak learning rate of a pretrained encoder.
        head_learning_rate: Peak learning rate of all other layers.
        encoder_dropout: Dropout inside the encoder.  [default: its own]
        report_to: Send losses and scores to this tracker, which must be installed.
    """

    encoder: Annotated[str, Param(metavar="ENCODER", required=True)] = ""
    epochs: Times = 40
    patience: Times = 10
    batch_size: Times = 1
    learning_rate: Rate = 1e-5
    head_learning_rate: Rate = 1e-3
    seed: Seed = 0  # of the order of items, of new parameters and of dropout
    precision: Precision = "auto"
    device: Annotated[str | None, Param(metavar="NAME")] = None
    encoder_dropout: Annotated[float | None, within(0, 1, below=True), Param(metavar="X")] = None

    report_to: Literal["none", "tensorboard", "trackio", "wandb"] = "none"

    # The same for all models.
    weight_decay = 0.01  # of AdamW, for weight matrices
    warmup = 0.1  # the share of all steps in which the learning rate rises; it falls in the others
    clip = 1.0  # the largest norm of the gradient of a step


class Written(NamedTuple):
    """What an operation has made, and perhaps written to a file or a folder."""

    path: Path | None
    summary: str  # a few words with numbers
    records: Sequence[Any] = ()

    def __str__(self) -> str:
        return self.summary if self.path is None else f"{self.path}: {self.summary}"


class ScoredPredictions(NamedTuple):
    """Predictions for a corpus, read and counted."""

    gold: procedure.ScorableGold
    system: procedure.System
    counted: Counts  # with the breakdowns by which errors are reported


class Parameter(NamedTuple):
    """A parameter of an operation, or a field of a group of them.

    Attributes:
        hint: its type, without metadata.
        default: `inspect.Parameter.empty` for none.
        help: what help says of its option.
        role: how it is given, by position or by keyword, and whether it takes everything that is left.
    """

    name: str
    hint: Any
    default: Any
    help: str
    param: Param
    role: object = inspect.Parameter.KEYWORD_ONLY

    @property
    def is_argument(self) -> bool:
        """Whether it is an argument of the command, and no option."""
        return self.role not in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)

    @property
    def is_group(self) -> bool:
        """Whether its fields are parameters."""
        return is_dataclass(self.hint) and self.param.kind != "python"

    @property
    def is_options(self) -> bool:
        """Whether it stands for options that are declared elsewhere."""
        return self.role == inspect.Parameter.VAR_KEYWORD

    @property
    def is_repeated(self) -> bool:
        """Whether it takes several values."""
        return get_origin(self.hint) is Sequence


@cache
def describe(operation: Operation) -> tuple[Parameter, ...]:
    """Return the parameters of an operation, in order; one for a group of parameters."""
    _, sentences = read_doc(operation)
    hints = read_hints(operation)
    parameters = []
    for declared in inspect.signature(operation).parameters.values():
        hint, param = _unwrap(hints[declared.name])
        default = declared.default
        if declared.kind == declared.VAR_POSITIONAL:
            hint = GenericAlias(Sequence, (hint,))
            default = ()
        text = param.help or _choose_sentence(declared.name, sentences)
        parameters.append(Parameter(declared.name, hint, default, text, param, declared.kind))
    return tuple(parameters)


def _choose_sentence(name: str, sentences: Mapping[str, str]) -> str:
    """Return what help says of a parameter; sentences of docstrings in lower case are rather for Python."""
    sentence = sentences.get(name, "")
    if sentence[:1].isupper():
        return sentence
    return SENTENCES.get(name) or sentence


def describe_fields(group: Parameter) -> tuple[Parameter, ...]:
    """Return the fields of a group, whose default value has their defaults; base classes describe theirs."""
    sentences = dict(SENTENCES)
    hints: dict[str, Any] = {}
    for declared in reversed(group.hint.__mro__[:-1]):
        sentences |= read_doc(declared)[1]
        hints |= read_hints(declared)
    parameters = []
    for field in fields(group.hint):
        hint, param = _unwrap(hints[field.name])
        text = param.help or sentences[field.name]
        default = getattr(group.default, field.name)
        parameters.append(Parameter(field.name, hint, default, text, param))
    return tuple(parameters)


def list_fields(parameter: Parameter) -> tuple[Parameter, ...]:
    """Return the parameters for which one stands: itself, the fields of a group, or those that choose gold."""
    if parameter.is_group:
        return describe_fields(parameter)
    if parameter.hint is GoldSource:
        return tuple(PLACE.values())
    if parameter.hint is ScoredPredictions:
        predictions = parameter._replace(hint=FileOrRows, param=Param(kind="read"))
        return predictions, *PLACE.values()
    return (parameter,)


def _unwrap(hint: Any) -> tuple[Any, Param]:
    """Return a type without metadata and `None`, and its merged metadata."""
    param = Param()
    if get_origin(hint) is Annotated:
        hint, *metadata = get_args(hint)
        for annotation in metadata:
            if isinstance(annotation, Range):
                param = Param(range=annotation).over(param)
            elif isinstance(annotation, Param):
                param = annotation.over(param)
    is_optional = type(None) in get_args(hint)
    inner = [part for part in get_args(hint) if part is not type(None)]
    if get_origin(hint) in (Union, UnionType) and set(inner) == {str, Path}:
        hint = Path
    elif is_optional and len(inner) == 1:
        hint, within_union = _unwrap(inner[0])
        param = param.over(within_union)
    elif get_origin(hint) is Sequence and set(get_args(inner[0])) == {str, Path}:
        hint = Sequence[Path]
    return hint, param


def read_doc(operation: Any) -> tuple[str, dict[str, str]]:
    """Return the docstring of an operation without its sections for programmers, and the sentence of each parameter."""
    text = inspect.getdoc(operation) or ""
    description = re.split(r"\n(?=Args:|Attributes:|Returns:|Raises:|>>> )", text, maxsplit=1)[0]
    # click does not wrap the lines of a paragraph that begins with \b.
    description = description.replace("On the command line:", "\b\nExamples:")
    section = re.search(r"\n(?:Args|Attributes):\n(.*?)(?=\n\S|\Z)", text, re.S)
    entries = re.findall(
        r"^ {4}(\*{0,2}\w+(?:, \w+)*): (.*?)(?=^ {4}[\w*]|\Z)",
        section[1] if section else "",
        re.M | re.S,
    )
    sentences: dict[str, str] = {}
    for names, words in entries:
        # Lines are joined, but two spaces stay: they stand before a default.
        sentence = re.sub(r"\s*\n\s*", " ", words.strip())
        sentences |= dict.fromkeys(names.split(", "), sentence)
    return description.strip(), sentences


_place = Parameter("place", GoldPlace, GoldPlace(), "", Param())
PLACE = {parameter.name: parameter for parameter in describe_fields(_place)}
"""The parameters that choose gold, by name."""
