"""The data of the CRAC shared task of 2026, declared, as its organisers publish it.

Nobody could check the digests for closeread, so that it asks before it keeps a download.
"""

from closeread.corpus.declaration import DocumentTraits, OwnFiles, SourceFile
from closeread.loaders.coref import declare_corpus
from closeread.loaders.coref.corefud import CITATION, LICENCE, REDISTRIBUTION

RELEASE = "https://ufal.mff.cuni.cz/~mnovak/files/crac26"
INSTRUCTIONS = (
    f"The files are at {RELEASE}.",
    "closeread downloads what it needs, and asks before it keeps it; --unverified accept answers yes.",
    "Or download the archives, and pass an archive, or a folder with them, with --data-dir.",
)


def declare_split(archive: str, part: str) -> OwnFiles:
    """Declare the files of a split, which are in an archive."""
    name = f"unc-{archive}-{part}.zip"
    download = SourceFile(name, None, f"{RELEASE}/{name}")
    return OwnFiles((f"*-corefud-{part}*.conllu",), INSTRUCTIONS, (download,), url=RELEASE)


CORPUS = declare_corpus(
    name="crac2026",
    title="CRAC 2026",
    description=(
        "The data of the shared task on multilingual coreference resolution of 2026, from CorefUD 1.4: 27 datasets of "
        "19 languages. The validation data are minidev, which is a part of CorefUD's dev."
    ),
    language="mul",
    homepage="https://ufal.mff.cuni.cz/corefud/crac26",
    licence=LICENCE,
    redistribution=REDISTRIBUTION,
    citation=CITATION,
    form="corefud",
    configs={
        "default": (
            "Gold: train and minidev.",
            {
                "train": declare_split("gold", "train"),
                "validation": declare_split("gold", "minidev"),
            },
        ),
        "blind": (
            "What systems get of the test data, minitest, whose gold is not public.",
            {"test": declare_split("input_blind", "minitest")},
        ),
    },
    blind=("blind",),
    traits=DocumentTraits(group="treebank"),
    default_split="validation",
    preset="crac2026",
    instructions=INSTRUCTIONS,
    remarks=(
        "The gold of minitest is not public: the config blind loads, and is not scored.",
        "minidev is not CorefUD's dev, but a part of it.",
    ),
)
