"""The repository of a corpus: the configs that may be published, and the files beside the exported ones.

A published corpus is Parquet and a card, which `datasets` reads by itself.  `<corpus>.json` lists the released files
with their digests and addresses.  A corpus whose licence forbids redistribution is published without its data: the
card, the list of files, and the configs that come with closeread.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from closeread.corpus.declaration import Corpus, OwnFiles, Source, SourceFolder, UserFolders
from closeread.corpus.gold import select, splits_at_hand
from closeread.corpus.sources import DATA_VARIABLE, data_folder
from closeread.exceptions import RequestError, name_option
from closeread.hub.cards import check_card

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
`sample` (invented data in the same format), and `{name}.json`, which {contents}:

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


def choose_configs(corpus: Corpus, asked: Sequence[str]) -> list[str]:
    """Return the configs to publish: those asked for, or all that may be published."""
    names = [select(corpus, name, None)[0] for name in dict.fromkeys(asked)]
    if not names:
        names = [name for name, config in corpus.configs.items() if not config.flattens]
    if not corpus.redistribution:
        return names
    refused = [name for name in names if not corpus.configs[name].is_bundled]
    if asked and refused:
        raise RequestError(
            f"{describe_refusal(corpus)}: config {', '.join(refused)} can't be published. "
            f"Without {name_option('config')}, the card is published with the configs that come with closeread."
        )
    return [name for name in names if name not in refused]


def require_all_splits(corpus: Corpus, configs: Sequence[str]) -> None:
    """Check that this machine has all splits of some configs: others would mistake a part for the corpus."""
    lacking: list[str] = []
    for name in configs:
        present = splits_at_hand(corpus, name)
        splits = corpus.configs[name].splits
        lacking += [f"{split} ({name})" for split in splits if split not in present]
    if lacking:
        raise RequestError(
            f"{corpus.title} can't be published without some of its splits: {data_folder(corpus.name)} lacks "
            f"{', '.join(lacking)}. Add the files, unset {DATA_VARIABLE} to download them, "
            f"or use {name_option('config')}."
        )


def describe_refusal(corpus: Corpus) -> str:
    """Return why a corpus may not be published."""
    return f"{corpus.title} may not be redistributed ({corpus.redistribution})"


def describe_sources(corpus: Corpus) -> bytes:
    """List the released files of a corpus as JSON, with digests and addresses, by config and split."""
    names = ("name", "title", "homepage", "licence", "citation")
    description: dict[str, Any] = {name: getattr(corpus, name) for name in names}
    description["format"] = 1
    description["redistribution"] = corpus.redistribution or None
    description["configs"] = {}
    for name, config in corpus.configs.items():
        files = {split: _list_files(source) for split, source in config.splits.items()}
        unions = {union: list(splits) for union, splits in config.unions.items()}
        description["configs"][name] = {
            "description": config.description,
            "splits": files,
            "unions": unions,
        }
    return (json.dumps(description, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _list_files(source: Source) -> list[dict[str, Any]]:
    if isinstance(source, UserFolders | OwnFiles):  # users get them from their owners
        return []
    files = source.files if isinstance(source, SourceFolder) else (source,)
    names = ("name", "sha256", "git_blob", "url")
    return [{name: getattr(file, name) for name in names} for file in files]


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
        arguments = f'"{corpus.name}"'
        contents = SAMPLE_ONLY
        if corpus.user_folders:
            arguments += f', data_dir="{corpus.name}"'
            contents = OWN_COPY_ONLY
        text = ABSENT.format(
            name=corpus.name, reason=corpus.redistribution, contents=contents, arguments=arguments
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
