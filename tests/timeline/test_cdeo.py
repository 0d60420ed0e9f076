"""Our counts beside those of the organisers' tool, kept in `agreed/timeline_cdeo.json`."""

import json
import shutil
from pathlib import Path

import pytest
from agreed import timeline_cdeo as script
from shared.count_tables import score_table
from shared.timelines import entries, skip_unless_available

from closeread.operations.score import score
from closeread.tasks.timeline.procedure import PROCEDURE, count
from closeread.tasks.timeline.relations import TRACKS

AGREED = Path(__file__).parent.parent / "agreed"
AGREEMENT = json.loads((AGREED / "timeline_cdeo.json").read_text("utf-8"))
PRF = ("precision", "recall", "f1")


def counted(pairs, track):
    """The counts of pairs of gold and system, a row each."""
    gold, system = (
        [{"id": str(i), "entity": "", "entries": entries(pair[k])} for i, pair in enumerate(pairs)]
        for k in (0, 1)
    )
    return count(gold=gold, system=system, track=track)


def awareness(table):
    return [
        score
        for name, score in score_table(table, PROCEDURE).items()
        if name.startswith("awareness/")
    ]


@pytest.mark.parametrize("track", TRACKS)
def test_agrees_on_random_timelines(track):
    pairs = [script.random_pair(seed) for seed in range(script.N_RANDOM)]
    # A timeline without an entry in gold is left out here; the tool has nothing to say of it.
    said = [
        figures
        for (gold, _), figures in zip(pairs, AGREEMENT["random"][track], strict=True)
        if gold
    ]
    table = counted(pairs, track)
    assert table.values[:, :4].tolist() == said
    assert len(said) > 350


@pytest.mark.parametrize("name", script.FOLDERS)
@pytest.mark.parametrize("track", TRACKS)
def test_agrees_on_changed_gold(name, track, corpora):
    skip_unless_available(name)
    gold = script.gold_of(corpora, name)
    assert len(gold) == {"trial": 6, "corpus_1": 13, "corpus_2": 11, "corpus_3": 13}[name]
    assert [
        key
        for key in AGREEMENT["corpora"]
        if key.startswith(f"{name}, ") and key.endswith(f", {track}")
    ] == [f"{name}, {change}, {track}" for change in script.CHANGES]
    for change in script.CHANGES:
        pairs = [(rows, script.system_of(rows, change, number)) for number, rows in enumerate(gold)]
        table = counted(pairs, track)
        said = AGREEMENT["corpora"][f"{name}, {change}, {track}"]
        assert table.values[:, :4].tolist() == said, change
        verified, predicted, found, of_gold = map(sum, zip(*said, strict=True))
        # 0/0 is 0, in the tool as here.
        precision, recall = verified / max(predicted, 1), found / max(of_gold, 1)
        f1 = 2 * precision * recall / (precision + recall) if precision + recall else 0
        assert awareness(table) == pytest.approx([precision, recall, f1], abs=1e-12), change
        if change == "everything":
            printed = [score / 100 for score in AGREEMENT["printed"][f"{name}, {change}, {track}"]]
            assert awareness(table) == pytest.approx(printed, abs=1e-6)


@pytest.mark.parametrize("track", TRACKS)
def test_agrees_on_the_evaluation_corpora_together(track, corpora, tmp_path):
    """The counts of all timelines are summed, as the official numbers are."""
    skip_unless_available("corpus_3")
    for name in script.EVALUATION:
        for number, (stem, rows) in enumerate(script.named_gold(corpora, name).items()):
            path = tmp_path / name / f"{stem}.txt"
            path.parent.mkdir(exist_ok=True)
            path.write_text(
                f"{stem}\n" + script.written(script.system_of(rows, "everything", number)), "utf-8"
            )
    scores = score("timeline", tmp_path, split="evaluation", track=track).total.scores
    printed = AGREEMENT["printed"][f"evaluation, everything, {track}"]
    assert [100 * scores[f"awareness/{name}"].value for name in PRF] == pytest.approx(
        printed, abs=1e-4
    )


@pytest.mark.parametrize("output", script.OUTPUTS)
@pytest.mark.parametrize("track", TRACKS)
def test_agrees_on_outputs_of_systems(output, track, corpora, tmp_path):
    skip_unless_available("corpus_3")
    folder = corpora / "cdeo" / script.COMBINED / output
    if not folder.exists():
        pytest.skip(f"{folder} is not there")
    for name in script.EVALUATION:
        (tmp_path / name).mkdir()
        for stem in script.named_gold(corpora, name):
            renamed = {place: other for other, place in script.RENAMED.items()}.get(
                f"{name}/{stem}", stem
            )
            shutil.copy(folder / f"{renamed}.txt", tmp_path / name / f"{stem}.txt")
    scores = score("timeline", tmp_path, split="evaluation", track=track).total.scores
    printed = AGREEMENT["printed"][f"{output}, {track}"]
    assert [100 * scores[f"awareness/{name}"].value for name in PRF] == pytest.approx(
        printed, abs=1e-4
    )
