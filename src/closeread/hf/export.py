"""Export a corpus as a dataset repository that plain `datasets` reads: a card with metadata, and files with rows.

The same records give the same bytes: the files contain no time and no machine name.
"""

from __future__ import annotations

import csv
import json
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from datasets.utils import are_progress_bars_disabled
from datasets.utils.metadata import MetadataConfigs
from huggingface_hub import DatasetCard

from closeread.corpus.declaration import Corpus
from closeread.corpus.gold import select
from closeread.corpus.names import load_corpus
from closeread.corpus.notices import warn
from closeread.exceptions import (
    InputError,
    Problem,
    RequestError,
    UnavailableError,
    describe_unknown,
)
from closeread.files import creating_folder, package_folder, scratch_folder
from closeread.hf import builder as building
from closeread.records import NO_FILES, Record, UserFiles

FIGURES = re.compile(r"## Figures\n.*?(?=^## )", re.DOTALL | re.MULTILINE)
"""The section of a card with the figures of the released files."""

SIZES = ("n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "100M<n<1B")
"""The Hub's categories of size, by the number of digits from three on."""

OTHER_DATA = """> This export differs from the release: {why}.
> The text of this card describes the release; the sizes in its front matter are those of the files here.
"""


PLAIN = {"keep_default_na": False, "na_values": [""]}
"""How a card says that only an empty field is null, and that words such as NA, null and None are texts."""


def _rows(table: pa.Table) -> Iterator[Record]:
    for batch in table.to_batches(max_chunksize=1000):
        yield from batch.to_pylist()


def _write_parquet(table: pa.Table, path: Path) -> None:
    with path.open("wb") as file:  # pyarrow takes no path that is not UTF-8
        pq.write_table(table.combine_chunks(), file)


def _write_json_lines(table: pa.Table, path: Path) -> None:
    with path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(
            f"{json.dumps(row, ensure_ascii=False, allow_nan=False)}\n" for row in _rows(table)
        )


def _write_csv(table: pa.Table, path: Path) -> None:
    """Write comma-separated values as RFC 4180 describes them; null is an empty field."""
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(table.column_names)
        for row in _rows(table):
            cells = list(row.values())
            for i, value in enumerate(cells):
                if isinstance(value, bool):
                    cells[i] = str(value).lower()
            writer.writerow(cells)


class ExportFormat(NamedTuple):
    """A file format of exports: a split's file and how a card names it, and what writes it.

    A plain format has no lists or objects; its card declares no types, but the options with which `datasets` reads it.
    """

    file: str
    pattern: str
    write: Callable[[pa.Table, Path], None]
    is_plain: bool = False
    reading: Mapping[str, object] = MappingProxyType({})


FORMATS: Mapping[str, ExportFormat] = {
    "parquet": ExportFormat("{split}-00000-of-00001.parquet", "{split}-*", _write_parquet),
    "jsonl": ExportFormat("{split}.jsonl", "{split}.jsonl", _write_json_lines),
    # Of an integer column with empty fields, `datasets` reads floats.
    "csv": ExportFormat("{split}.csv", "{split}.csv", _write_csv, is_plain=True, reading=PLAIN),
}


@contextmanager
def hiding_progress_in_pipes() -> Iterator[None]:
    """Show the progress bars of `datasets` in the block only on a terminal."""
    if sys.stderr.isatty() or are_progress_bars_disabled():
        yield
        return
    datasets.disable_progress_bars()
    try:
        yield
    finally:
        datasets.enable_progress_bars()


def export(
    corpus: str,
    folder: Path,
    *,
    configs: Sequence[str] | None = None,
    files: UserFiles = NO_FILES,
    format: str = "parquet",  # noqa: A002 (as the option is called)
) -> list[Path]:
    """Export a corpus as a dataset repository into a new or empty folder, and return its files.

    Splits whose files are not there are left out, as in loading; so are whole configs, unless they are asked for or
    are the default.  Without configs, all are exported, or all flat ones if the format takes no others.
    """
    declaration = load_corpus(corpus)
    names = _choose_configs(declaration, configs, format)
    if files and not any(_has_default_files(declaration, name) for name in names):
        raise RequestError(
            f"a data folder applies only to config {declaration.default_config}, which is not exported"
        )
    export_format = FORMATS[format]
    with scratch_folder() as cache, creating_folder(folder) as partial:
        infos = {}
        for name in names:
            try:
                infos[name] = _write_config(declaration, name, partial, files, cache, export_format)
            except UnavailableError:
                if configs or _has_default_files(declaration, name):
                    raise
                warn(
                    f"config {name} of {corpus} is skipped: its files are not here and can't be downloaded."
                )
            except building.UnwritableCacheError as error:
                message = f"can't be written: {error.reason}; set TMPDIR to a folder with room for temporary tables"
                raise InputError(cache, [Problem(message)]) from None
        _write_card(declaration, partial, infos, files, export_format)
        # The terms of some released files ask for their licence.
        licence = package_folder(declaration.folder) / "LICENSE"
        if licence.is_file():
            (partial / "LICENSE").write_bytes(licence.read_bytes())
        paths = sorted(path for path in partial.rglob("*") if path.is_file())
        exported = [path.relative_to(partial) for path in paths]
    return [folder / path for path in exported]


def _choose_configs(corpus: Corpus, configs: Sequence[str] | None, format: str) -> list[str]:  # noqa: A002
    if format not in FORMATS:
        raise RequestError(describe_unknown("format", format, list(FORMATS)))
    names = [select(corpus, name, None)[0] for name in configs or corpus.configs]
    if not FORMATS[format].is_plain:
        return names
    flat = [name for name, config in corpus.configs.items() if config.flattens]
    names = flat if configs is None else names
    nested = ", ".join(name for name in names if name not in flat)
    if names and not nested:
        return names
    reason = f"{corpus.name} has no flat config"
    if nested:
        reason = f"config {nested} of {corpus.name} has lists"
    advice = "choose another format"
    if flat:
        advice = f"choose {' or '.join(flat)}, or another format"
    raise RequestError(f"{reason}; {format} files hold flat configs only ({advice})")


def _has_default_files(corpus: Corpus, config: str) -> bool:
    """Tell whether a config is the default, or is made of the same files."""
    return corpus.configs[config].splits == corpus.configs[corpus.default_config].splits


def _write_config(
    declaration: Corpus,
    name: str,
    folder: Path,
    files: UserFiles,
    cache: Path,
    export_format: ExportFormat,
) -> datasets.DatasetInfo:
    if not _has_default_files(declaration, name):
        files = NO_FILES
    builder = building.load_dataset_builder(
        declaration.name,
        name,
        data_dir=files.data_dir,
        cache_dir=cache,
        **files.folders,
        **files.options,
    )
    builder.download_and_prepare()
    splits = builder.as_dataset()
    if not splits:
        problem = Problem(f"config {name} has no split with files on this machine")
        raise UnavailableError(declaration.name, [problem])
    info = datasets.DatasetInfo(
        features=builder.info.features, config_name=name, splits=datasets.SplitDict()
    )
    for split, rows in splits.items():
        path = folder / name / export_format.file.format(split=split)
        path.parent.mkdir(exist_ok=True)
        export_format.write(rows.data.table, path)
        n_bytes = rows.data.nbytes
        size = datasets.SplitInfo(name=split, num_examples=len(rows), num_bytes=n_bytes)
        info.splits.add(size)
        info.dataset_size = (info.dataset_size or 0) + n_bytes
        info.download_size = (info.download_size or 0) + path.stat().st_size
    return info


def _write_card(
    declaration: Corpus,
    folder: Path,
    infos: dict[str, datasets.DatasetInfo],
    files: UserFiles,
    export_format: ExportFormat,
) -> None:
    """Write the corpus's card, with the configs and their features in its front matter."""
    text = resources.files("closeread.cards").joinpath(f"{declaration.name}.md").read_text("utf-8")
    card = DatasetCard(text)
    has_default = declaration.default_config in infos
    first = next(iter(infos))
    if files or not has_default:
        reason = f"it has only {', '.join(infos)}"
        if files:
            reason = "its files come from a user's own folder"
        remark = OTHER_DATA.format(why=reason)
        card.text = FIGURES.sub("", card.text).replace("\n\n", f"\n\n{remark}\n", 1)
        n_records = 0
        # Splits that the declaration does not list are unions of those that it does.
        declared = declaration.configs[first].splits
        for split, size in infos[first].splits.items():
            if split in declared:
                n_records += size.num_examples
        n_digits = len(str(n_records))
        card.data["size_categories"] = [SIZES[max(0, n_digits - 3)]]
    default = declaration.default_config if has_default else first
    configs: dict[str, dict[str, Any]] = {}
    for name, info in infos.items():
        patterns = []
        for split in info.splits:
            pattern = export_format.pattern.format(split=split)
            patterns.append({"split": split, "path": f"{name}/{pattern}"})
        configs[name] = {"data_files": patterns, **export_format.reading}
        if name == default:
            configs[name]["default"] = True
    MetadataConfigs(configs).to_dataset_card_data(card.data)
    if not export_format.is_plain:
        datasets.info.DatasetInfosDict(infos).to_dataset_card_data(card.data)
    (folder / "README.md").write_text(str(card), "utf-8", newline="\n")
