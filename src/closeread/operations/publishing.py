"""Publish a corpus, a metric, a model or a leaderboard on the Hugging Face Hub.

Everything goes in one commit, so nothing is ever half-published, and publishing twice changes nothing. The token is
read from HF_TOKEN, or is the one that `hf auth login` saved. For Codabench, a bundle to upload is written.

\b
Examples:
  closeread publish dataset tne my-org/tne --dry-run
  closeread publish metric coref_lea my-org/coref_lea
  closeread publish model run --repo my-org/my-model --report report.json
  closeread publish leaderboard my-board my-org/my-board
  closeread publish codabench mctaco my-task --config sample --zip
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated

from closeread import parameters as arg
from closeread.corpus.names import find_corpus, load_corpus
from closeread.corpus.notices import warn_all
from closeread.counts.results import JsonResult, Shown
from closeread.exceptions import RequestError, name_option, pluralize
from closeread.files import scratch_folder, take_path
from closeread.hub.client import Change, Commit, Hub, Plan, Repository, compare, publish
from closeread.leaderboard.names import HUB
from closeread.leaderboard.places import open_store
from closeread.operations.data import Configs
from closeread.operations.leaderboard import File, Golds, Options, Store, draw_pages
from closeread.operations.score import load_report
from closeread.parameters import Operations, Param
from closeread.public_names import AnyCorpus, AnyModule
from closeread.records import UserFiles
from closeread.tables import Grid, Style, Whole

HubName = Annotated[str, Param(metavar="ORG/NAME")]
Files = Annotated[Sequence[str | Path], Param(metavar="FILE")]
RunDirectory = Annotated[str | Path, Param(metavar="RUN")]
Folder = Annotated[str | Path, Param(kind="write", metavar="DIR")]
Archive = Annotated[bool, Param(flag="--zip")]
Date = Annotated[str | None, Param(metavar="DATE")]


@dataclass(frozen=True)
class Publication(Shown, JsonResult):
    """What was published, or would be.

    Attributes:
        plan: the repository, and its files.
        changes: what becomes of each file.
        commit: the commit; None if nothing had to be changed, or nothing was published.
        dry_run: whether nothing was to be published.
        details: more of its JSON.
    """

    plan: Plan
    changes: Sequence[Change]
    commit: Commit | None
    dry_run: bool
    details: Mapping[str, object] = field(default_factory=dict)

    def to_dict(self) -> dict[str, object]:
        repository = self.plan.repository
        commit = self.commit
        files = [
            {"path": change.path, "size": change.size, "change": change.kind}
            for change in self.changes
        ]
        return {
            "repository": repository.id,
            "kind": repository.kind,
            "url": repository.url,
            "dry_run": self.dry_run,
            "files": files,
            "changed": commit is not None and commit.changed,
            "commit": None if commit is None else {"sha": commit.sha, "url": commit.url},
            **self.details,
        }

    def _to_grids(self, style: Style = "table") -> Iterator[Grid]:
        sizes = [change.size for change in self.changes if change.kind != "deleted"]
        if self.dry_run:
            ending = "Dry run: nothing was published."
        elif self.commit is None:
            ending = f"Nothing to publish: {self.plan.repository.url} has these files already."
        else:
            ending = f"Published: {self.commit.url}"
        rows = [[change.path, f"{change.size:,}", change.kind] for change in self.changes]
        notes = [f"{pluralize(len(sizes), 'file')}, {sum(sizes):,} bytes.", Whole(ending)]
        yield Grid(str(self.plan.repository), ["file", "bytes", "change"], rows, notes)


def publish_dataset(
    corpus: AnyCorpus,
    repository: HubName,
    *,
    configs: Configs = (),
    data_dir: arg.Folder = None,
    private: bool = False,
    dry_run: bool = False,
) -> Publication:
    """Publish a corpus as a dataset.

    The dataset, Parquet and a dataset card, is loaded by `datasets` without closeread. A corpus that may not be
    redistributed is published without its data: its card, the list of its released files with digests and addresses,
    and the sample that comes with closeread. Published Parquet files that are no longer part of it are deleted.

    On the command line:
      closeread publish dataset tne my-org/tne --dry-run
      python -c "import datasets; print(datasets.load_dataset('my-org/tne'))"

    Args:
        corpus: the name of a corpus or its procedure.
        repository: the dataset on the Hub, as "ORG/NAME".
        configs: Publish this config; may be repeated.  [default: all that may be published]
        data_dir: a folder with the corpus's files.
        private: whether to create a private repository, and to refuse one that is public.
        dry_run: whether to publish nothing, and only to list the files and what would change.

    Returns:
        The files, and what became of each.

    >>> print(closeread.publish_dataset("tne", "my-org/tne", dry_run=True))  # doctest: +SKIP
    """
    from closeread.hf.export import export, hiding_progress_in_pipes
    from closeread.hub import datasets

    place = Repository(repository, "dataset")
    declared = find_corpus(corpus)
    files_of_user = UserFiles(take_path(data_dir))
    names = datasets.choose_configs(declared, configs)
    if declared.redistribution:
        refusal = datasets.describe_refusal(declared)
        if data_dir is not None:
            raise RequestError(f"{refusal}: {name_option('data_dir')} can't be published")
        warn_all([f"{refusal}; publishing its card without its data."])
    if data_dir is None:
        datasets.require_all_splits(declared, names)
    with scratch_folder() as scratch:
        folder = scratch / "repository"
        with hiding_progress_in_pipes():
            export(declared.name, folder, configs=names, files=files_of_user)
        files = datasets.collect_files(declared, repository, folder)
        details = {"redistribution": declared.redistribution or None}
        plan = Plan(place, files, datasets.owned_paths(declared))
        return _publish(plan, declared.title, details, private=private, dry_run=dry_run)


def publish_metric(
    name: AnyModule, repository: HubName, *, private: bool = False, dry_run: bool = False
) -> Publication:
    """Publish a metric as a static Space.

    Such a Space is free. `evaluate.load("ORG/NAME")` loads the metric from it, and it has the metric card. It
    contains no scoring code: whoever loads the metric needs closeread.

    On the command line:
      closeread publish metric coref_lea my-org/coref_lea --dry-run
      python -c "import evaluate; print(evaluate.load('my-org/coref_lea'))"

    Args:
        name: the name of an evaluate module.
        repository, private, dry_run: as for `closeread.publish_dataset`; the repository is a Space.

    Returns:
        The files, and what became of each.

    >>> print(closeread.publish_metric("coref_lea", "my-org/coref_lea", dry_run=True))  # doctest: +SKIP
    """
    from closeread.files import package_folder
    from closeread.hf.modules import class_name, find_module
    from closeread.hub.spaces import metric_files

    place = Repository(repository, "space")
    module = find_module(name)
    folder = package_folder(f"closeread.evaluate_modules.{module}")
    card = (folder / "README.md").read_text("utf-8")
    requirements = (folder / "requirements.txt").read_bytes()
    files = metric_files(module, class_name(module), card, requirements, repository)
    return _publish(Plan(place, files), module, private=private, dry_run=dry_run)


def publish_model(
    run: RunDirectory,
    *,
    repo: HubName,
    report: Files = (),
    private: bool = False,
    dry_run: bool = False,
) -> Publication:
    """Publish a trained model.

    The repository has what `from_pretrained` reads: the weights of the best epoch as safetensors, the configuration and
    the tokenizer. Its card tells the data, the settings and the scores; those of reports that `closeread score --json`
    has written have intervals and a signature.

    On the command line:
      closeread predict mctaco run --split test -o predictions.jsonl
      closeread score mctaco predictions.jsonl --split test --json -o report.json
      closeread publish model run --repo my-org/my-model --report report.json --dry-run

    Args:
        run: the folder of a training run.
        repo: Publish to this model repository of the Hub.
        report: Show the scores of this report, with their intervals; may be repeated.
        private, dry_run: as for `closeread.publish_dataset`.

    Returns:
        The files, and what became of each.

    >>> print(closeread.publish_model("run", repo="my-org/my-model", dry_run=True))  # doctest: +SKIP
    """
    from closeread.hub.models import model_files

    place = Repository(repo, "model")
    reports = [load_report(path) for path in report]
    files = model_files(Path(run), reports, repo)
    if not reports:
        advice = f"{name_option('report')} adds those of closeread score"
        warn_all([f"the card has scores on validation data only, without intervals; {advice}."])
    return _publish(Plan(place, files), "a model", private=private, dry_run=dry_run)


def publish_leaderboard(
    store: Store,
    repository: HubName,
    *,
    gold: Golds = (),
    private: bool = False,
    dry_run: bool = False,
) -> Publication:
    """Publish a leaderboard as a static Space.

    Such a Space is free. It has the page of the leaderboard, the pages that it links, and its results as JSON and CSV.
    STORE is a folder or a dataset of the Hub, hf://datasets/ORG/NAME. Publish again after each run of the judge.

    On the command line:
      closeread publish leaderboard my-board my-org/my-board --dry-run

    Args:
        store: the folder of the leaderboard, or hf://datasets/ORG/NAME.
        gold: as for `closeread.build_leaderboard`.
        repository, private, dry_run: as for `closeread.publish_dataset`; the repository is a Space.

    Returns:
        The files, and what became of each.

    >>> print(closeread.publish_leaderboard("board", "my-org/board", dry_run=True))  # doctest: +SKIP
    """
    from closeread.hub.spaces import leaderboard_files
    from closeread.leaderboard.page import Ranking
    from closeread.leaderboard.store_files import write_json

    place = Repository(repository, "space")
    with open_store(store) as opened:
        pages = draw_pages(opened, gold, address=opened.place)
    index = pages.index
    corpora = {board["corpus"] for board in index["boards"] if board["corpus"]}
    is_on_hub = opened.place.startswith(HUB)
    dataset = opened.place.removeprefix(HUB) if is_on_hub else None
    languages = sorted({load_corpus(corpus).language for corpus in corpora})
    files = leaderboard_files(
        index,
        board=write_json(index),
        page=pages.page.encode(),
        table=Ranking(index).to_csv().encode(),
        dataset=dataset,
        languages=languages,
    )
    for path, page in pages.systems.items():
        files[path] = page.encode()
    return _publish(Plan(place, files), "the leaderboard", private=private, dry_run=dry_run)


def _publish(
    plan: Plan,
    title: str,
    details: Mapping[str, object] | None = None,
    *,
    private: bool,
    dry_run: bool,
) -> Publication:
    """Publish files, or with `dry_run` only compare them; if the Hub can't be asked, list them without what changes."""
    hub = Hub()
    commit = None
    if not dry_run:
        message = f"Publish {title} with closeread"
        changes, commit = publish(hub, plan, message=message, private=private)
    else:
        try:
            changes = compare(hub, plan)
        except RequestError as error:
            warn_all([f"{plan.repository.id} can't be compared: {error}"])
            changes = [Change(path, size, "unknown") for path, size in plan.sizes().items()]
    return Publication(plan, changes, commit, dry_run, details or {})


def publish_codabench(
    corpus: AnyCorpus,
    folder: Folder,
    *,
    config: arg.Config = None,
    split: arg.Split = None,
    gold: File = None,
    data_dir: arg.Folder = None,
    title: str | None = None,
    start: Date = None,
    end: Date = None,
    per_day: arg.Number = 5,
    max_submissions: arg.Number = 100,
    option: Options = None,
    docker_image: arg.Name = None,
    wheel: Files = (),
    public_gold: bool = False,
    archive: Archive = False,
) -> list[Path]:
    """Write the bundle of a shared task on Codabench.

    It has competition.yaml, pages, gold and a scoring program. CORPUS is a corpus; or coref or tlinks, with --gold KEY.
    The bundle contains the gold, so don't publish it: upload it, and only the platform reads it.

    On the command line:
      closeread publish codabench mctaco my-task --config sample --zip
      closeread publish codabench coref my-task --gold key.conll \\
        --start '2027-01-10 00:00:00'

    Args:
        corpus: the name of a corpus or a procedure.
        folder: where to write; it must be empty or not exist.
        config, split, data_dir: the part of the corpus, as for `closeread.score`.
        gold: Use your own gold: a file in the corpus's format, .jsonl or .parquet; for coref and tlinks, the key.
        title: Title of the competition.
        start: Accept submissions from this time on, 'YYYY-MM-DD HH:MM:SS' in UTC.  [default: open at once]
        end: Accept submissions until this time, 'YYYY-MM-DD HH:MM:SS' in UTC.  [default: none]
        per_day: Accept this many submissions per participant per day.
        max_submissions: Accept this many submissions per participant in total.
        option: options of the procedure by name.
        docker_image: Score submissions in this image.  [default: Codabench's image with Python 3.12]
        wheel: Add this wheel, of closeread or of a library, to the scoring program; may be repeated.
        public_gold: Show participants in coreference the mentions of the gold beside their own.
        archive: Also write the zip file to upload, DIR.zip.

    Returns:
        The files that were written.

    >>> "my-task/competition.yaml" in map(str, closeread.publish_codabench("mctaco", "my-task", config="sample"))
    True
    """
    from closeread.leaderboard.codabench.bundle import (
        DOCKER_IMAGE,
        START,
        BundleSettings,
        describe_licence,
        make_bundle,
    )

    image = docker_image or DOCKER_IMAGE
    wheels = tuple(map(Path, wheel))
    settings = BundleSettings(
        title, start or START, end, per_day, max_submissions, image, wheels, public_gold
    )
    bundle = Path(folder)
    written = make_bundle(
        corpus,
        bundle,
        settings,
        gold=take_path(gold),
        config=config,
        split=split,
        data_dir=data_dir,
        options=option,
        archive=archive,
    )
    warn_all(
        [
            f"{bundle / 'reference_data'} is the gold: upload the bundle, but publish it nowhere.",
            *describe_licence(corpus, gold, config),
            f"submissions are scored in {settings.docker_image}; {bundle / 'README.md'} says which libraries it needs.",
        ]
    )
    return written


OPERATIONS: Operations = {
    "publish": {
        "codabench": publish_codabench,
        "dataset": publish_dataset,
        "leaderboard": publish_leaderboard,
        "metric": publish_metric,
        "model": publish_model,
    }
}
