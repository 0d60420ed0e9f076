"""`closeread publish dataset`."""

from __future__ import annotations

from pathlib import Path

import click

from closeread.cli import options
from closeread.cli.publishing.options import publish_plan, publishing_options, repository


@click.command(name="dataset", short_help="Publish a corpus as a dataset.")
@click.argument("corpus")
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
    digests and addresses, and the sample that comes with closeread.

    \b
    Examples:
      closeread publish dataset tne my-org/tne --dry-run
      python -c "import datasets; print(datasets.load_dataset('my-org/tne'))"
    """
    import tempfile

    from closeread.corpora.gold import load_corpus
    from closeread.errors import RequestError
    from closeread.hf.export import export, hide_progress_in_pipes
    from closeread.hub.benchmark import explain_framework, framework_entry, make_eval_yaml
    from closeread.hub.dataset_files import choose_configs, collect_files, describe_refusal, find_splits, owned_paths
    from closeread.hub.publishing import Plan
    from closeread.hub.repository import Repository

    declared = load_corpus(corpus)
    names = choose_configs(declared, configs)
    if declared.redistribution:
        if data_dir is not None:
            raise RequestError(f"{describe_refusal(declared)}: --data-dir can't be published")
        options.tell([f"{describe_refusal(declared)}; publishing its card without its data."])
    hide_progress_in_pipes()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "repository"
        with options.warnings_as_notes():
            export(corpus, folder, configs=names, data_dir=data_dir)
        files = collect_files(declared, repository, folder)
        if with_eval_yaml:
            files["eval.yaml"] = make_eval_yaml(declared, find_splits(files))
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
