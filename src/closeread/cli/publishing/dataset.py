"""`closeread publish dataset`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from closeread.cli import names, options
from closeread.cli.options import GroupedCommand
from closeread.cli.printing import hush_libraries, tell, warnings_as_notes
from closeread.cli.publishing.options import publish_plan, publishing_options, repository

if TYPE_CHECKING:
    from closeread.corpus.declaration import Corpus


@click.command(cls=GroupedCommand, name="dataset", short_help="Publish a corpus as a dataset.")
@names.corpus
@repository
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="NAME",
    help="Publish this config; may be repeated.  [default: all that may be published]",
)
@options.data_dir
@click.option(
    "--with-eval-yaml",
    is_flag=True,
    help="Add eval.yaml, which makes the dataset a benchmark, and show the entry to propose to the Hub first.",
)
@publishing_options
@hush_libraries
def command(
    corpus: str,
    repository: str,
    configs: tuple[str, ...],
    data_dir: Path | None,
    with_eval_yaml: bool,
    private: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Publish a corpus as a dataset (Parquet and a dataset card) that `datasets` loads without closeread.

    A corpus that may not be redistributed is published without its data: its card, the list of its released files with
    digests and addresses, and the sample that comes with closeread. Parquet files that were published before and are
    not part of it any more are deleted.

    \b
    Examples:
      closeread publish dataset tne my-org/tne --dry-run
      python -c "import datasets; print(datasets.load_dataset('my-org/tne'))"
    """
    import tempfile

    from closeread.corpus.names import load_corpus
    from closeread.hub.client import Repository
    from closeread.hub.datasets import explain_framework, framework_entry, owned_paths
    from closeread.hub.publishing import Plan

    declared = load_corpus(corpus)
    names = _choose_configs(declared, configs, data_dir)
    with tempfile.TemporaryDirectory() as scratch:
        files = _make_files(declared, repository, Path(scratch) / "repository", names, data_dir, with_eval_yaml)
        publish_plan(
            Plan(Repository(repository, "dataset"), files, owned_paths(declared)),
            message=f"Publish {declared.title} with closeread",
            private=private,
            dry_run=dry_run,
            as_json=as_json,
            about={
                "redistribution": declared.redistribution or None,
                "framework": framework_entry() if with_eval_yaml else None,
            },
        )
    if with_eval_yaml and not as_json:
        click.echo(f"\n{explain_framework()}")


def _choose_configs(corpus: Corpus, configs: tuple[str, ...], data_dir: Path | None) -> list[str]:
    """Return the configs to publish, and say why others can't be.

    Raises:
        RequestError: a config or folder is given that may not be published, or splits are missing on this machine.
    """
    from closeread.exceptions import RequestError
    from closeread.hub.datasets import choose_configs, describe_refusal, require_all_splits

    names = choose_configs(corpus, configs)
    if corpus.redistribution:
        if data_dir is not None:
            raise RequestError(f"{describe_refusal(corpus)}: --data-dir can't be published")
        tell([f"{describe_refusal(corpus)}; publishing its card without its data."])
    if data_dir is None:
        require_all_splits(corpus, names)
    return names


def _make_files(
    corpus: Corpus, repository: str, folder: Path, configs: list[str], data_dir: Path | None, with_eval_yaml: bool
) -> dict[str, bytes | Path]:
    """Export a corpus into a folder, and return the files of its repository.

    Raises:
        RequestError: the repository would have no split for eval.yaml; an InputError if the corpus can't be read.
    """
    from closeread.hf.export import export, hiding_progress_in_pipes
    from closeread.hub.datasets import collect_files, make_eval_yaml

    with hiding_progress_in_pipes(), warnings_as_notes():
        export(corpus.name, folder, configs=configs, data_dir=data_dir)
    files = collect_files(corpus, repository, folder)
    return {**files, "eval.yaml": make_eval_yaml(corpus, files)} if with_eval_yaml else files
