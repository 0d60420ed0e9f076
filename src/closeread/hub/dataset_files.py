"""The repository of a corpus: what may be published, and the files beside the exported ones.

A published corpus is Parquet and a card, which `datasets` reads by itself.  `<corpus>.json` lists the released files
with their digests and addresses.  A corpus whose licence forbids redistribution is published without its data: the
card, the list of files, and the configs that come with closeread.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from closeread.corpus.declaration import Corpus, Source, SourceFile, SourceFolder, UserFolders
from closeread.corpus.gold import select, splits_at_hand
from closeread.corpus.sources import DATA_VARIABLE, data_folder
from closeread.exceptions import RequestError
from closeread.hub.front_matter import check_card
from closeread.wording import name_option

NUMBER = "[0-9]" * 5
"""The pattern of a shard's number in the name of a Parquet file."""

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

SAMPLE_ONLY = """
**This repository does not hold the corpus**, which may not be redistributed: {reason}. It holds this card, the config
`sample` (invented data in the same format), and `{name}.json`, which lists the released files with their digests and
addresses. closeread (`pip install closeread`) reads your copy of the files, or downloads them from their authors, and
verifies them:

```python
import closeread

corpus = closeread.load_dataset("{name}")
```
"""

OWN_COPY_ONLY = """
**This repository does not hold the corpus**, which may not be redistributed: {reason}. It holds this card, the config
`sample` (invented data in the same format), and `{name}.json`, which describes the corpus. closeread
(`pip install closeread`) reads the files that you got from their owners:

```python
import closeread
from closeread.wording import name_option

corpus = closeread.load_dataset("{name}", data_dir="{name}")
```
"""


def choose_configs(corpus: Corpus, asked: Sequence[str]) -> list[str]:
    """Return the configs to publish: those asked for, or all that may be published.

    Raises:
        RequestError: there is no such config, or its data may not be redistributed.
    """
    names = [select(corpus, name, None)[0] for name in dict.fromkeys(asked)] or [
        name for name, config in corpus.configs.items() if not config.flattens
    ]
    refused = [name for name in names if corpus.redistribution and not corpus.configs[name].is_bundled]
    if asked and refused:
        raise RequestError(
            f"{describe_refusal(corpus)}: config {', '.join(refused)} can't be published. "
            f"Without {name_option('config')}, the card is published with the configs that come with closeread."
        )
    return [name for name in names if name not in refused]


def require_all_splits(corpus: Corpus, configs: Sequence[str]) -> None:
    """Check that this machine has all splits of some configs: others would take a part for the corpus.

    Raises:
        RequestError: the user's folder of the corpus lacks splits.
    """
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
    """Say why a corpus may not be published."""
    return f"{corpus.title} may not be redistributed ({corpus.redistribution})"


def describe_sources(corpus: Corpus) -> bytes:
    """List the released files of a corpus as JSON, with digests and addresses, by config and split."""
    found = {
        "format": 1,
        "name": corpus.name,
        "title": corpus.title,
        "homepage": corpus.homepage,
        "licence": corpus.licence,
        "redistribution": corpus.redistribution or None,
        "citation": corpus.citation,
        "configs": {
            name: {
                "description": config.description,
                "splits": {split: list(map(_describe_file, _files(source))) for split, source in config.splits.items()},
                "unions": {union: list(splits) for union, splits in config.unions.items()},
            }
            for name, config in corpus.configs.items()
        },
    }
    return (json.dumps(found, ensure_ascii=False, indent=1, sort_keys=True) + "\n").encode()


def _files(source: Source) -> tuple[SourceFile, ...]:
    """Return the released files: none for folders that users get from their owners."""
    if isinstance(source, UserFolders):
        return ()
    return source.files if isinstance(source, SourceFolder) else (source,)


def _describe_file(file: SourceFile) -> Mapping[str, str | None]:
    return {"name": file.name, "sha256": file.sha256, "git_blob": file.git_blob, "url": file.url}


def collect_files(corpus: Corpus, repository: str, exported: Path) -> dict[str, bytes | Path]:
    """Return the files of a corpus's repository by path.

    Args:
        corpus: the declaration.
        repository: the repository, `org/name`.
        exported: the folder that `closeread.hf.export` wrote.

    Raises:
        FormatError: the front matter of the card breaks our schema.
        RequestError: the card has no section on how to get the corpus.
    """
    files: dict[str, bytes | Path] = {
        path.relative_to(exported).as_posix(): path for path in sorted(exported.rglob("*")) if path.is_file()
    }
    card = (exported / "README.md").read_text("utf-8")
    if HEADING not in card:
        raise RequestError(f"the card of {corpus.name} has no section '{HEADING.strip()}'")
    own_copy = OWN_COPY_ONLY if corpus.user_folders else SAMPLE_ONLY
    template = own_copy if corpus.redistribution else PUBLISHED
    text = template.format(repository=repository, name=corpus.name, reason=corpus.redistribution)
    readme = card.replace(HEADING, HEADING + text, 1).encode()
    check_card(readme, "dataset_card")
    return {**files, "README.md": readme, f"{corpus.name}.json": describe_sources(corpus)}


def find_splits(files: Iterable[str]) -> list[tuple[str, str]]:
    """Return config and split of each Parquet file of a repository: `default/test-00000-of-00001.parquet`."""
    paths = [path.split("/") for path in files if path.endswith(".parquet")]
    return list(dict.fromkeys((config, name.rsplit("-", 3)[0]) for config, name in paths))


def owned_paths(corpus: Corpus) -> tuple[str, ...]:
    """Return the patterns of paths that only we write: the Parquet files of the corpus's configs."""
    return tuple(f"{config}/*-{NUMBER}-of-{NUMBER}.parquet" for config in corpus.configs)
