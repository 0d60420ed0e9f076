"""A corpus as a dataset repository that plain `datasets` reads: a card with its metadata, and Parquet.

The same records give the same bytes: the files hold no time and no name of a machine.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import datasets
import pyarrow.parquet as pq
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

from closeread.corpora import load_corpus, select
from closeread.errors import Problem, RequestError, UnavailableError
from closeread.hf.load import load_dataset_builder


def hide_progress_in_pipes() -> None:
    """Have `datasets` show its progress bars on a terminal only."""
    if not sys.stderr.isatty():
        datasets.disable_progress_bars()


def export(
    corpus: str, folder: Path, *, configs: Sequence[str] | None = None, data_dir: Path | None = None
) -> list[Path]:
    """Write a corpus as a dataset repository.

    Args:
        corpus: its name.
        folder: where to write; it must not exist, or be empty.  It appears whole or not at all.
        configs: the configs to write; None for all.
        data_dir: a folder with the corpus's files, which may differ from the released ones.

    Returns:
        The files, below `folder`.

    Raises:
        RequestError: no such corpus or config, or the folder holds something.
        InputError: the corpus's files can't be had, are not the released ones, or break their format.
    """
    declaration = load_corpus(corpus)
    names = [select(declaration, name, None)[0] for name in configs or declaration.configs]
    asked, folder = folder, folder.resolve()
    if folder == Path.cwd() or (folder.exists() and not folder.is_dir()):
        raise RequestError(f"{asked} is the working directory or no folder; name a new folder")
    if folder.exists() and any(folder.iterdir()):
        raise RequestError(f"{asked} holds something already; name a new folder")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f".{folder.name}.", dir=folder.parent) as scratch:
        made = Path(scratch) / "repository"
        made.mkdir()
        infos = {name: _write_config(corpus, name, made, data_dir, Path(scratch) / "cache") for name in names}
        _write_card(corpus, made, infos)
        files = sorted(path.relative_to(made) for path in made.rglob("*") if path.is_file())
        made.rename(folder)  # at once, and only where nothing or an empty folder is
    return [asked / file for file in files]


def _write_config(corpus: str, name: str, made: Path, data_dir: Path | None, cache: Path) -> datasets.DatasetInfo:
    """Write the splits of a config and say what they hold."""
    own_folder = data_dir if name == load_corpus(corpus).default_config else None
    builder = load_dataset_builder(corpus, name, data_dir=own_folder, cache_dir=cache)
    builder.download_and_prepare()
    splits = builder.as_dataset()
    if not splits:
        raise UnavailableError(corpus, [Problem(f"config {name} has no split whose file is here")])
    info = datasets.DatasetInfo(features=builder.info.features, config_name=name, splits=datasets.SplitDict())
    for split, rows in splits.items():
        path = made / name / f"{split}-00000-of-00001.parquet"
        path.parent.mkdir(exist_ok=True)
        pq.write_table(rows.data.table.combine_chunks(), path)
        info.splits.add(datasets.SplitInfo(name=split, num_examples=len(rows), num_bytes=rows.data.nbytes))
        info.dataset_size = (info.dataset_size or 0) + rows.data.nbytes
        info.download_size = (info.download_size or 0) + path.stat().st_size
    return info


def _write_card(corpus: str, made: Path, infos: dict[str, datasets.DatasetInfo]) -> None:
    """Write the corpus's card with the configs and their features in its front matter."""
    from importlib import resources

    card = DatasetCard(resources.files("closeread.cards").joinpath(f"{corpus}.md").read_text("utf-8"))
    configs = {
        name: {
            "data_files": [{"split": split, "path": f"{name}/{split}-*"} for split in info.splits],
            **({"default": True} if name == load_corpus(corpus).default_config else {}),
        }
        for name, info in infos.items()
    }
    MetadataConfigs(configs).to_dataset_card_data(card.data)
    datasets.info.DatasetInfosDict(infos).to_dataset_card_data(card.data)
    (made / "README.md").write_text(str(card), "utf-8", newline="\n")
