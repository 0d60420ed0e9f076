"""The Marmara Turkish Coreference Corpus, declared.

Its text is the METU-Sabanci Turkish Treebank, whose licence lets nobody pass it on, and its annotation points into that
text.  So every user has both from their owners, and neither a download nor a digest is declared.  `facts.json` holds
figures of the sample.
"""

from pathlib import Path

from closeread.corpus.declaration import (
    Config,
    Corpus,
    ReadingOption,
    SourceFolder,
    UserFolder,
    UserFolders,
    read_facts,
    read_manifest,
)

REPOSITORY = "https://bitbucket.org/knowlp/marmara-turkish-coreference-corpus"
TREEBANK_PAGE = "http://ii.metu.edu.tr/corpus"
HERE = Path(__file__).parent
UD = ("*.conllu", "*.conllu.gz")

TREEBANK = UserFolder(
    "treebank",
    ("*.xml", *UD),
    "the METU-Sabanci Turkish Treebank",
    f"sign its licence at {TREEBANK_PAGE} to get it, and run: "
    "closeread prepare marmara_coref treebank FRAGMENTS -o treebank; "
    "or use the free files of UD_Turkish-IMST",
)
COREFERENCE = UserFolder(
    "coreference",
    ("*.xml",),
    "the coreference annotation of Marmara",
    f"to get it, run: git clone {REPOSITORY}",
    not_needed_with=tuple(f"treebank/{pattern}" for pattern in UD),
)

CORPUS_FILES = {
    "test": UserFolders(
        (TREEBANK, COREFERENCE),
        ("genres.tsv",),
        REPOSITORY,
        (
            ReadingOption(
                "unaligned",
                ("drop", "error"),
                "How to treat mentions that can't be located in the text of UD_Turkish-IMST.",
            ),
        ),
    )
}
SAMPLE = {
    "test": SourceFolder(
        "sample",
        ("treebank/*.xml", "coreference/*.xml", "genres.tsv"),
        read_manifest(HERE / "sample.sha256"),
    )
}

CORPUS = Corpus(
    name="marmara_coref",
    title="Marmara Turkish Coreference Corpus",
    description=(
        "Turkish documents of eight genres, from the METU-Sabanci Turkish Treebank, with mentions of entities and the "
        "coreference chains that were adjudicated automatically from eight or more annotations of each document."
    ),
    language="tr",
    homepage=REPOSITORY,
    licence="The text: METU-Sabanci Turkish Treebank, for research, under a signed licence. The annotation: see its "
    "repository.",
    redistribution="the licence of its text, the METU-Sabanci Turkish Treebank, forbids it",
    citation="""@article{schuller-etal-2018-marmara,
  title = {Marmara Turkish Coreference Corpus and Coreference Resolution Baseline},
  author = {Sch{\\"u}ller, Peter and C{\\i}ng{\\i}ll{\\i}, K{\\"u}bra and Tun{\\c{c}}er, Ferit and
            S{\\"u}rmeli, Bar{\\i}{\\c{s}} G{\\"u}n and Pekel, Ay{\\c{s}}eg{\\"u}l and
            Karatay, Ay{\\c{s}}e Hande and Karaka{\\c{s}}, Hacer Ezgi},
  journal = {arXiv preprint arXiv:1706.01863},
  year = {2018},
  doi = {10.48550/arXiv.1706.01863}
}""",
    configs={
        "default": Config(
            "The whole corpus; to train and test on it, leave one document out.", CORPUS_FILES
        ),
        "flat": Config(
            "The mentions of the whole corpus, one a row.",
            CORPUS_FILES,
            definition="flat",
            flattens="document",
        ),
        "sample": Config(
            "Invented documents that ship with the package, for trying things out offline.", SAMPLE
        ),
        "sample_flat": Config(
            "The mentions of the sample, one a row.", SAMPLE, definition="flat", flattens="document"
        ),
    },
    default_split="test",
    format="corpus_files",
    procedure="coref",
    package="marmara",
    key="document",
    not_in_digest=("sentences", "mentions", "genre"),
    facts=read_facts(HERE / "facts.json"),
)
