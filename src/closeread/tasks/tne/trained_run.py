"""What came of a training run: the scores of every epoch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from closeread.corpus.figures import SHOWN as DRAWN
from closeread.counts.results import Result
from closeread.neural.run_files import read_run
from closeread.tables import Grid, Style, percent
from closeread.tasks.tne.procedure import PROCEDURE

SHOWN = ("links/precision", "links/recall", "links/f1", "unlabeled/f1", "iprep", "uprep")


@dataclass(frozen=True, repr=False)
class TrainedRun(Result):
    """What came of a training run.

    Attributes:
        folder: of the run.
        run: what its `run.json` holds.
    """

    folder: Path
    run: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Read it from its folder.

        Raises:
            FormatError: the folder has no run, or it is damaged.
        """
        return cls(folder, read_run(folder))

    @property
    def best(self) -> Mapping[str, Any]:
        """The scores on validation of the best epoch, from 0 to 1, and its number, `epoch`."""
        best: Mapping[str, Any] = self.run["best"]
        return best

    def __repr__(self) -> str:
        return f"<TrainedRun {self.folder}: best epoch {self.best['epoch']} of {len(self.run['epochs'])}>"

    def describe(self) -> str:
        """Say how it went, in a line."""
        scores = [
            f"{name} {100 * value:.1f}" for name, value in self.best.items() if name in DRAWN and value is not None
        ]
        epochs = f"best epoch {self.best['epoch']} of {len(self.run['epochs'])}"
        return f"{self.folder}: {', '.join([epochs, *scores])}"

    def to_grids(self, style: Style = "table") -> Iterator[Grid]:
        """Yield the table of epochs."""
        del style
        titles = {metric.name: metric.title for metric in PROCEDURE.metrics}
        rows = [
            [str(epoch["number"]), f"{epoch['loss']:.4f}", *(percent(epoch["scores"][name]) for name in SHOWN)]
            for epoch in self.run["epochs"]
        ]
        header = ["epoch", "loss", *(titles[name] for name in SHOWN)]
        yield Grid(f"Scores on validation; the best epoch is {self.best['epoch']}", header, rows, labels=1)

    def to_rows(self) -> tuple[list[str], list[list[object]]]:
        """Return a row for each epoch, with all scores from 0 to 1."""
        names = [metric.name for metric in PROCEDURE.metrics]
        return ["epoch", "loss", "seconds", *names], [
            [epoch["number"], epoch["loss"], epoch["seconds"], *(epoch["scores"].get(name) for name in names)]
            for epoch in self.run["epochs"]
        ]

    def to_json(self) -> dict[str, Any]:
        """Return what `run.json` holds."""
        return dict(self.run)
