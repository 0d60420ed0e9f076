"""Train models, and predict with them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from os.path import realpath
from pathlib import Path
from typing import TYPE_CHECKING, Any

from closeread.api.agreement import check_arguments
from closeread.api.places import take_place
from closeread.argument_types import check_fields, check_types
from closeread.corpus.gold import Gold, read_corpus_gold
from closeread.corpus.models import Models, place_golds
from closeread.corpus.names import corpus_names, find_corpus, load_corpus
from closeread.corpus.notices import warn_all
from closeread.corpus.objects import FileOrRows
from closeread.corpus.submissions import check_submission_path, write_submission
from closeread.counts.results import Result
from closeread.exceptions import RequestError
from closeread.suggestions import describe_unknown
from closeread.tasks import find

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus
    from closeread.neural.training import Setting

_COUNT = (lambda value: value >= 1, "1 or more")
_RATE = (lambda value: 0 < value <= 1, "a number above 0, up to 1")
RANGES: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    **dict.fromkeys(("epochs", "patience", "batch_size", "accumulate"), _COUNT),
    **dict.fromkeys(("learning_rate", "head_learning_rate"), _RATE),
    "seed": (lambda value: value >= 0, "0 or more"),
}
"""What numbers of a setting may be, and the words for it."""


def train(
    corpus: str,
    output: str | Path,
    *,
    encoder: str,
    training: FileOrRows | None = None,
    validation: FileOrRows | None = None,
    test: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    validation_split: str | None = None,
    test_split: str | None = None,
    data_dir: str | Path | None = None,
    resume: bool = False,
    device: str | None = None,
    precision: str = "auto",
    **options: str | float | Sequence[float] | None,
) -> Result:
    """Train a model of a corpus's paper, as `closeread train` does, and return its scores.

    Args:
        corpus: the name of the corpus, "tne" or "mctaco".
        output: the folder of the run, which `closeread.predict` reads.
        encoder: its name on the Hugging Face Hub, or its folder; for TNE also "frozen:NAME" and "static:FILE".
        training, validation, test: files or rows to learn from, to choose the best epoch by, and (McTaco) to score
            trained models on; None for splits of the corpus.
        config, data_dir: the config, and a folder with the corpus's files.
        split, validation_split, test_split: the splits; None for those that `closeread train` has by default.
        resume: continue the run that is in the folder.
        device: such as "cuda:0"; None for the first GPU if there is one.
        precision: "float32", "bfloat16", or "auto" for bfloat16 on GPUs that have it.
        **options: the other options of the command line: `seed`, `epochs`, `patience`, `batch_size`, `accumulate`,
            `learning_rate`, `head_learning_rate`, `encoder_dropout`; `variant` (TNE); `held_out`,
            `unit_normalization`, `seeds`, `sizes` (McTaco).

    Raises:
        RequestError: there is no such corpus or option; an InputError if gold is missing or invalid.
        MissingExtraError: torch or transformers is not installed.
    """
    declared, models = _find_models(corpus)
    numbers = {name: options.pop(name) for name in list(options) if name in models.defaults}
    check_arguments(f"train {corpus}", models.train, options, list(models.defaults))
    setting = _make_setting(models, device, precision, numbers)
    given = {"training": (training, split), "validation": (validation, validation_split), "test": (test, test_split)}
    places = place_golds(models.splits, given, config, data_dir)
    golds = {role: None if place is None else _read(declared, **place) for role, place in places.items()}
    learn = check_types(partial(models.train, golds, Path(output), setting))
    return learn(encoder=encoder, resume=resume, **options)


def predict(
    corpus: str,
    run: str | Path | None = None,
    *,
    gold: FileOrRows | None = None,
    config: str | None = None,
    split: str | None = None,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    device: str | None = None,
    precision: str = "auto",
    **options: str | float | bool | None,
) -> list[dict[str, object]]:
    """Predict with a trained model, and return rows, which `closeread.score` takes.

    Args:
        corpus: the name of the corpus, "tne" or "mctaco".
        run: the folder of the run; None with `zero_shot`.
        gold, config, split, data_dir: what to predict, as for `closeread.score`.
        output: also write the rows to this file.
        device, precision: as for `closeread.train`.
        **options: the other options of the command line: `decoding`, `fallbacks` (TNE); `run_seed`, `zero_shot`,
            `threshold`, `tune_on`, `unit_normalization` (McTaco).

    Raises:
        RequestError: there is no such corpus or option; an InputError if gold or the run is missing or invalid.
        MissingExtraError: torch or transformers is not installed.
    """
    declared, models = _find_models(corpus)
    check_arguments(f"predict {corpus}", models.predict, options)
    path = None if output is None else Path(output)
    if path is not None:
        check_submission_path(path, declared)
        if isinstance(gold, str | os.PathLike) and realpath(gold) == realpath(path):
            raise RequestError(f"{path} is given for output and for gold; choose another output")
    found = _read(declared, gold=gold, config=config, split=split, data_dir=data_dir)
    chosen = _choose(device, precision)
    folder = None if run is None else Path(run)
    answer = partial(
        models.predict, found, folder, lambda name: _read(declared, config=config, split=name, data_dir=data_dir)
    )
    rows = check_types(answer)(**chosen, **options)
    if path is not None:
        write_submission(path, rows, declared)
    return list(rows)


def _find_models(corpus: str) -> tuple[Corpus, Models]:
    """Return a corpus and the models that can be trained for it.

    Raises:
        RequestError: there is no such corpus, or no model for it.
    """
    declared = find_corpus(corpus)
    module = find(declared.task, "models")
    if module is None:
        known = [name for name in corpus_names() if find(load_corpus(name).task, "models")]
        raise RequestError(describe_unknown("corpus with models", corpus, known))
    models: Models = module.MODELS
    return declared, models


def _read(corpus: Corpus, **place: Any) -> Gold:
    found = read_corpus_gold(take_place(corpus, **place))
    warn_all(found.notices)
    return found


def _choose(device: str | None, precision: str) -> dict[str, str]:
    """Return the device and the precision.

    Raises:
        MissingExtraError: torch or transformers is not installed.
        RequestError: there is no such device or precision.
    """
    from closeread.neural.devices import PRECISIONS, check_libraries, choose_device, choose_precision

    if precision not in PRECISIONS:
        raise RequestError(describe_unknown("precision", precision, PRECISIONS))
    check_libraries("a trained model")
    chosen = choose_device(device)
    return {"device": chosen, "precision": choose_precision(precision, chosen)}


def _make_setting(models: Models, device: str | None, precision: str, numbers: Mapping[str, Any]) -> Setting:
    chosen = _choose(device, precision)
    from closeread.neural.training import Setting

    values: dict[str, Any] = {**models.defaults, **numbers, **chosen}
    setting = Setting(**values)
    check_fields(setting)
    wrong = [
        f"{name} is {value} (expected {expected})"
        for name, value in numbers.items()
        for is_right, expected in [RANGES[name]]
        if not is_right(value)
    ]
    if wrong:
        raise RequestError("; ".join(wrong))
    return setting
