"""The repository of a corpus: the configs that may be published, and the files beside the exported ones.

A published corpus is Parquet and a card, which `datasets` reads by itself.  `<corpus>.json` lists the released files
with their digests and addresses.  A corpus whose licence forbids redistribution is published without its data: the
card, the list of files, and the configs that come with closeread.

`eval.yaml` makes it a benchmark.  The Hub accepts the file only if its `evaluation_framework` is on a closed list in
the Hub's own code, so our entry has to be proposed there first; until then, it is published without the file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from closeread.corpus.declaration import Corpus, Source, SourceFolder, UserFolders
from closeread.corpus.gold import select, splits_at_hand
from closeread.corpus.sources import DATA_VARIABLE, data_folder
from closeread.exceptions import RequestError, name_option
from closeread.hub.cards import check_card, dump_yaml
from closeread.json_schema import check_json
from closeread.tasks import load_procedure

HEADING = "## How to get it\n"

PUBLISHED = """
The data here is Parquet, which `datasets` reads by itself:

```python
from datasets import load_dataset

data = load_dataset("{repository}")
```

`{name}.json` lists the released files with their digests and addresses. To score systems, or to read the released files
themselves, use closeread (`pip install closeread`):
"""

ABSENT = """
**This repository does not hold the corpus**, which may not be redistributed: {reason}. It holds this card, the config
`sample` (invented data in the same format), and `{name}.json`, which {what}:

```python
import closeread

corpus = closeread.load_dataset({arguments})
```
"""
SAMPLE_ONLY = """lists the released files with their digests and
addresses. closeread (`pip install closeread`) reads your copy of the files, or downloads them from their authors, and
verifies them"""
OWN_COPY_ONLY = """describes the corpus. closeread
(`pip install closeread`) reads the files that you got from their owners"""

FRAMEWORK = "closeread"
# splits that systems are trained or tuned on: there is no board for them
NOT_TESTED = ("train", "validation", "trial")
DESCRIPTION = (
    "closeread scores careful reading (temporal common sense, timelines, noun phrase relations, coreference), with "
    "confidence intervals, paired tests and signatures."
)
FRAMEWORK_ENTRY = {"key": FRAMEWORK, "name": FRAMEWORK, "description": DESCRIPTION, "url": None}
"""The entry for the Hub's list of evaluation frameworks; its url will be that of closeread's home page."""
PROPOSAL = """\
The Hub accepts eval.yaml only once its evaluation framework is on the Hub's
list, and shows a board only once its staff have listed the dataset as a
benchmark. First propose this entry in
https://github.com/huggingface/huggingface.js, packages/tasks/src/eval.ts:

\t{key}: {{
\t\tname: "{key}",
\t\tdescription:
\t\t\t"{description}",
\t\turl: "…",
\t}},

The url is the address of closeread's home page or repository."""


def choose_configs(corpus: Corpus, asked: Sequence[str]) -> list[str]:
    """Return the configs to publish: those asked for, or all that may be published."""
    names = [select(corpus, name, None)[0] for name in dict.fromkeys(asked)] or [
        name for name, config in corpus.configs.items() if not config.flattens
    ]
    refused = [
        name for name in names if corpus.redistribution and not corpus.configs[name].is_bundled
    ]
    if asked and refused:
        raise RequestError(
            f"{describe_refusal(corpus)}: config {', '.join(refused)} can't be published. "
            f"Without {name_option('config')}, the card is published with the configs that come with closeread."
        )
    return [name for name in names if name not in refused]


def require_all_splits(corpus: Corpus, configs: Sequence[str]) -> None:
    """Check that this machine has all splits of some configs: others would mistake a part for the corpus."""
    lacking = [
        f"{split} ({name})"
        for name in configs
        for split in corpus.configs[name].splits
        if split not in splits_at_hand(corpus, name)
    ]
    if lacking:
        option = name_option("config")
        raise RequestError(
            f"{corpus.title} can't be published without some of its splits: {data_folder(corpus.name)} lacks "
            f"{', '.join(lacking)}. Add the files, unset {DATA_VARIABLE} to download them, or use {option}."
        )


def describe_refusal(corpus: Corpus) -> str:
    """Return why a corpus may not be published."""
    return f"{corpus.title} may not be redistributed ({corpus.redistribution})"


def describe_sources(corpus: Corpus) -> bytes:
    """List the released files of a corpus as JSON, with digests and addresses, by config and split."""

    def list_files(source: Source) -> list[dict[str, str | None]]:
        if isinstance(source, UserFolders):  # users get them from their owners
            return []
        files = source.files if isinstance(source, SourceFolder) else (source,)
        return [
            {name: getattr(file, name) for name in ("name", "sha256", "git_blob", "url")}
            for file in files
        ]

    found = {
        "format": 1,
        **{
            name: getattr(corpus, name)
            for name in ("name", "title", "homepage", "licence", "citation")
        },
        "redistribution": corpus.redistribution or None,
        "configs": {
            name: {
                "description": config.description,
                "splits": {split: list_files(source) for split, source in config.splits.items()},
                "unions": {union: list(splits) for union, splits in config.unions.items()},
            }
            for name, config in corpus.configs.items()
        },
    }
    return (json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def collect_files(corpus: Corpus, repository: str, exported: Path) -> dict[str, bytes | Path]:
    """Return the files of a corpus's repository by path, from the folder that `closeread.hf.export` wrote."""
    files: dict[str, bytes | Path] = {
        path.relative_to(exported).as_posix(): path
        for path in sorted(exported.rglob("*"))
        if path.is_file()
    }
    card = (exported / "README.md").read_text("utf-8")
    if HEADING not in card:
        raise RequestError(f"the card of {corpus.name} has no section '{HEADING.strip()}'")
    text = PUBLISHED.format(repository=repository, name=corpus.name)
    if corpus.redistribution:
        is_own = bool(corpus.user_folders)
        arguments = f'"{corpus.name}"' + is_own * f', data_dir="{corpus.name}"'
        what = OWN_COPY_ONLY if is_own else SAMPLE_ONLY
        text = ABSENT.format(
            name=corpus.name, reason=corpus.redistribution, what=what, arguments=arguments
        )
    readme = card.replace(HEADING, HEADING + text, 1).encode()
    check_card(readme, "dataset_card")
    return {**files, "README.md": readme, f"{corpus.name}.json": describe_sources(corpus)}


def owned_paths(corpus: Corpus) -> tuple[str, ...]:
    """Return the patterns of paths that only closeread writes: the Parquet files of the corpus's configs."""
    number = "[0-9]" * 5
    return tuple(f"{config}/*-{number}-of-{number}.parquet" for config in corpus.configs)


def name_task(board: str) -> str:
    """Return the id of a board on the Hub's benchmark page.

    >>> name_task("mctaco/test"), name_task("tne-unlabeled/test")
    ('mctaco_test', 'tne_unlabeled_test')
    """
    return board.replace("-", "_").replace("/", "_")


def make_eval_yaml(corpus: Corpus, files: Iterable[str]) -> bytes:
    """Write the `eval.yaml` of a corpus, with a task for each split of its default config that systems are tested on.

    The paths of the files in the repository say which there are: `default/test-00000-of-00001.parquet`.
    """
    paths = [path.split("/") for path in files if path.endswith(".parquet")]
    splits = dict.fromkeys((config, name.rsplit("-", 3)[0]) for config, name in paths)
    tasks = [
        {"id": name_task(f"{corpus.name}/{split}"), "config": config, "split": split}
        for config, split in splits
        if config == corpus.default_config != "sample" and split not in NOT_TESTED
    ]
    if not tasks:
        reason = f": {corpus.redistribution}" if corpus.redistribution else ""
        raise RequestError(
            f"eval.yaml lists splits to test systems on, but the repository of {corpus.title} would have none{reason}"
        )
    procedure = load_procedure(corpus.procedure)
    headline = next(metric for metric in procedure.metrics if metric.name == procedure.headline)
    found = {
        "name": corpus.title,
        "description": f"{' '.join(corpus.description.split())} The value is {headline.title} times 100.",
        "evaluation_framework": FRAMEWORK,
        "tasks": tasks,
    }
    check_json(found, "closeread.hub/eval.schema.json", "eval.yaml")
    return dump_yaml(found)


def explain_framework() -> str:
    """Return the text to propose upstream before the Hub accepts `eval.yaml`."""
    return PROPOSAL.format(key=FRAMEWORK, description=DESCRIPTION)
