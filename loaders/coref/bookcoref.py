"""BOOKCOREF, declared.

The annotation is on the Hub, and its digest could not be checked for closeread.  Its texts are not in it; those of the
three books of the test set come from the authors' predictions.
"""

from closeread.corpus.declaration import DocumentTraits, OwnFiles, SourceFile
from closeread.loaders.coref import declare_corpus

REVISION = "2c2587aca956a4225712abdcf1af72b93f18a28f"
HUB = f"https://huggingface.co/datasets/sapienzanlp/bookcoref/resolve/{REVISION}/bookcoref_annotations"
WORDS = "predictions/off_the_shelf/maverick_xl.jsonl"
WORDS_FILE = SourceFile(
    WORDS,
    "5630c93caf8fc0dc13db0a75e443012eb86e900012e485de909fbe2b2d259180",
    f"https://raw.githubusercontent.com/SapienzaNLP/bookcoref/fc4e5c034423c4053a53aa16d1e8bb65f5baca1a/{WORDS}",
    size=2_322_683,
)
INSTRUCTIONS = (
    "The annotation is sapienzanlp/bookcoref on the Hugging Face Hub (lattice-nlp/bookcoref is another corpus).",
    "closeread downloads what it needs, and asks before it keeps it; --unverified accept answers yes.",
    "Or put its folder bookcoref_annotations somewhere, and pass that folder with --data-dir.",
    "Scores need no words. Those of the test books come from the authors' repository, SapienzaNLP/bookcoref.",
    "The words of the other books, whose annotation is automatic, are to be built from Project Gutenberg.",
)


def declare_file(name: str, *extras: SourceFile) -> OwnFiles:
    """Declare a file of the annotation."""
    download = SourceFile(name, None, f"{HUB}/{name}")
    words = tuple(extra.name for extra in extras)
    return OwnFiles((name,), INSTRUCTIONS, (download, *extras), words, url=HUB)


CORPUS = declare_corpus(
    name="bookcoref",
    title="BOOKCOREF",
    description=(
        "Whole English books with the coreference of their characters: three by hand, for testing, and fifty "
        "automatically. The config split has the same in pieces of some 1,500 words."
    ),
    language="en",
    homepage="https://github.com/SapienzaNLP/bookcoref",
    licence="CC BY-SA 4.0 says the card, CC BY-NC 4.0 the badge in the README, CC BY-NC-SA 4.0 its text",
    redistribution="its authors name three licences, two of which forbid commercial use",
    citation="""@inproceedings{martinelli-etal-2025-bookcoref,
  title = {{BOOKCOREF}: Coreference Resolution at Book Scale},
  author = {Martinelli, Giuliano and Bonomo, Tommaso and Huguet Cabot, Pere-Llu{\\'i}s and Navigli, Roberto},
  booktitle = {Proceedings of the 63rd Annual Meeting of the Association for Computational Linguistics (Volume 1: Long
               Papers)},
  year = {2025},
  pages = {24526--24544},
  url = {https://aclanthology.org/2025.acl-long.1197}
}""",
    form="jsonl",
    configs={
        "default": (
            "Whole books.",
            {
                "train": declare_file("full/train.jsonl"),
                "validation": declare_file("full/validation.jsonl"),
                "test": declare_file("full/test.jsonl", WORDS_FILE),
            },
        ),
        "split": (
            "Books in pieces.",
            {
                "train": declare_file("split/train_split.jsonl"),
                "validation": declare_file("split/validation_split.jsonl"),
                "test": declare_file("split/test_split.jsonl"),
            },
        ),
    },
    traits=DocumentTraits(words=WORDS),
    instructions=INSTRUCTIONS,
    remarks=(
        "The paper scores whole books, pieces (the config split), and whole books in windows: --windows 1500, or "
        "--windows bookcoref:1500 for its script's numbers, with --metrics muc,b3,ceafe,conll.",
        "The test set has three books: no interval over so few documents says much.",
    ),
)
