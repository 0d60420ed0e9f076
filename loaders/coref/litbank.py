"""LitBank, declared.

`litbank.sha256` lists its files.  `litbank_folds.tsv` has the fold in whose test set a document is, from the repository
of the paper, dbamman/lrec2020-coref; that fold is the development set of the next one.
"""

from closeread.corpus.declaration import (
    DocumentTraits,
    PrintedFigure,
    SourceFolder,
    read_columns,
    read_manifest,
)
from closeread.loaders.coref import HERE, declare_corpus

COMMIT = "3e50db0ffc033d7ccbb94f4d88f6b99210328ed8"
RELEASE = f"https://raw.githubusercontent.com/dbamman/litbank/{COMMIT}"
MANIFEST = read_manifest(HERE / "litbank.sha256")
FOLDS = read_columns(HERE / "litbank_folds.tsv")
PAPER = "Bamman et al. (2020)"


def declare_documents(*folds: int) -> SourceFolder:
    """Declare the documents that are tested in some folds."""
    names: list[str] = []
    for fold in folds:
        names += [f"{name}.conll" for name in FOLDS[str(fold)]]
    return SourceFolder("coref/conll", tuple(sorted(names)), MANIFEST, RELEASE)


CONFIGS = {
    "default": (
        "All documents, as the paper scores them: the predictions of all folds together.",
        {"test": SourceFolder("coref/conll", ("*.conll",), MANIFEST, RELEASE)},
    )
}
for number in range(10):
    development = (number - 1) % 10
    others = [fold for fold in range(10) if fold not in (number, development)]
    CONFIGS[f"fold_{number}"] = (
        f"Fold {number} of ten: 80, 10 and 10 documents.",
        {
            "train": declare_documents(*others),
            "validation": declare_documents(development),
            "test": declare_documents(number),
        },
    )

CORPUS = declare_corpus(
    name="litbank",
    title="LitBank",
    description=(
        "The first 2,000 words or so of 100 works of English fiction from 1719 to 1922, with the coreference of people, "
        "places, organisations and vehicles, singletons included."
    ),
    language="en",
    homepage="https://github.com/dbamman/litbank",
    licence="CC BY 4.0",
    redistribution="",
    citation="""@inproceedings{bamman-etal-2020-annotated,
  title = {An Annotated Dataset of Coreference in {English} Literature},
  author = {Bamman, David and Lewke, Olivia and Mansoor, Anya},
  booktitle = {Proceedings of the Twelfth Language Resources and Evaluation Conference},
  year = {2020},
  pages = {44--54},
  url = {https://aclanthology.org/2020.lrec-1.6}
}""",
    form="conll",
    configs=CONFIGS,
    traits=DocumentTraits(
        group="fold", fields={"fold": FOLDS}, ending=r"_brat(?=; part \d+$|_\d+$|$)"
    ),
    preset="conll2012",
    figures={
        "default": {"test": (100, 210_532, 29_103, 7_927, 5_763)},
    },
    printed=(
        PrintedFigure("tokens", 210_532, PAPER),
        PrintedFigure("mentions", 29_103, PAPER),
    ),
    remarks=(
        "Singletons are annotated. Many papers drop them: --keep-singletons false; print both.",
        "The mean of the ten folds, which other papers print, is that of the groups: --group-by fold.",
        "CorefUD's English-LitBank has other words and another split; its scores are no scores of this corpus.",
    ),
)
