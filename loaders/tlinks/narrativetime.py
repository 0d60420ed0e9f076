"""NarrativeTime, declared.

`narrativetime.sha256` lists its files, as far as they could be had.
"""

from closeread.corpus.declaration import SourceFolder, read_manifest
from closeread.loaders.tlinks import HERE, declare_corpus

COMMIT = "742735e5434ef46f2bb88ebb9126bab96af34647"
RELEASE = f"https://raw.githubusercontent.com/text-machine-lab/nt/{COMMIT}"
FOLDER = "corpus/timebank/nt_converted_to_tml"
MANIFEST = read_manifest(HERE / "narrativetime.sha256")
TEST = (
    "PRI19980115.2000.0186",
    "PRI19980213.2000.0313",
    "PRI19980121.2000.2591",
    "ABC19980114.1830.0611",
    "APW19980213.1380",
    "NYT19980402.0453",
)


def declare_splits(annotator: str) -> dict[str, SourceFolder]:
    """Declare the files of each split of an annotator."""
    folder = f"{FOLDER}/{annotator}"
    names = [name.rpartition("/")[2] for name in MANIFEST if name.startswith(folder)]
    tests = tuple(f"{name}.tml" for name in TEST)
    others = tuple(name for name in names if name not in tests)
    return {
        "train": SourceFolder(folder, others, MANIFEST, RELEASE),
        "test": SourceFolder(folder, tests, MANIFEST, RELEASE),
    }


CORPUS = declare_corpus(
    name="narrativetime",
    title="NarrativeTime",
    description=(
        "English news of TimeBank-Dense, with all relations between events, and between events and times, from timelines "
        "that two annotators drew."
    ),
    homepage="https://github.com/text-machine-lab/nt",
    licence="MIT for the annotation; none stated for the texts, which are TimeBank's",
    redistribution="the texts are TimeBank's, whose licence does not allow it",
    citation="""@inproceedings{rogers-etal-2024-narrativetime,
  title = {{NarrativeTime}: Dense Temporal Annotation on a Timeline},
  author = {Rogers, Anna and Karpinska, Marzena and Gupta, Ankita and Lialin, Vladislav and
    Smelkov, Gregory and Rumshisky, Anna},
  booktitle = {Proceedings of the 2024 Joint International Conference on Computational Linguistics, Language
    Resources and Evaluation (LREC-COLING 2024)},
  year = {2024},
  pages = {12053--12073},
  url = {https://aclanthology.org/2024.lrec-main.1054}
}""",
    form="nt",
    configs={
        "a1": ("The first annotator.", declare_splits("a1")),
        "a2": ("The second annotator.", declare_splits("a2")),
    },
    figures={
        "a1": {"all": (34, 89_086)},
        "a2": {"all": (34, 89_086)},
    },
    remarks=(
        "Two of its 36 documents, AP900815-0044 and AP900816-0139, are not declared: no intact copy could be had.",
        "OVERLAP, a partial overlap in either direction, is no relation of TimeML and is not scored.",
        "The agreement of its annotators: closeread agreement tlinks a1/ a2/, with its two folders.",
    ),
)
