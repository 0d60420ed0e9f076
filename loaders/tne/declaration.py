"""TNE, declared.

`facts.json` holds the figures of the released files; the figures that the paper prints are in
`tests/papers/tne.json`.  Those of the training split are the
paper's as well; of the training file, only the git object id is known, and no size.
"""

from pathlib import Path

from closeread.corpus.declaration import Config, Corpus, SourceFile, read_facts

COMMIT = "cf4a605366c29c39270b972c90421e3aeecf425e"
RELEASE = f"https://raw.githubusercontent.com/yanaiela/TNE/{COMMIT}/data"
FORUMS = {
    "AskHistorians": ("30ad9a08aca2495dc7d61cd914123ded3e0fe9069fac46a909434d60f6e55cda", 76_649),
    "LifeProTips": ("b57b696e6636f41652bf7573978e5df65283e8756e81c45daa4c2bb5b70dbb58", 82_546),
    "YouShouldKnow": ("eba39253e021024629787313039954bf3c58a0741bea6c6067df57e98a49e41e", 83_872),
    "asked_science": ("4551f996ee6a8809031a187965afb795066dd05f81170b247f2dcaa4a5c7bdc2", 19_640),
    "atheism": ("91709890327c22aa2db7f36339ee73aea321d13d24ce44ddebab419027013221", 35_356),
    "depressed": ("b28552ebc9dd000d05ca2234964f45b00cd997b110db177415ec1291a71a93c3", 31_337),
}


def _file(
    name: str, sha256: str | None, size: int | None = None, git_blob: str | None = None
) -> SourceFile:
    return SourceFile(name, sha256, f"{RELEASE}/{name}", git_blob, size)


RELEASED = {
    "train": _file(
        "train-v1.1.jsonl.gz", None, git_blob="5b647cdd9735cd77b2642a9eb744d57733edf426"
    ),
    "validation": _file(
        "dev-v1.1.jsonl.gz",
        "3f3e466330908270ee742725c6b68f92b3243b988aa8b8c9bfef69ad8e68fe14",
        1_466_591,
    ),
    "test": _file(
        "test.jsonl.gz",
        "c674bc0743e0ad5fe7c2bc3cb217e16f27bb8b54ce81aecef1f4e203b78e3e85",
        1_544_364,
    ),
    "ood": _file(
        "ood.jsonl.gz",
        "fe240dad5f20bef82a16f7148fd9332f57ec7bc5fb0b97a0b582b009b51c43dc",
        1_216_896,
    ),
}
SAMPLE = {
    "test": SourceFile(
        "sample.jsonl", "389b24cf5bc934bb5984f1fa0c9a16212098b6aff521025dba5fe6178edf2b9e"
    )
}

CORPUS = Corpus(
    name="tne",
    title="TNE (text-based NP enrichment)",
    description=(
        "English news stories, and for out-of-domain testing also books, film reviews and forum posts, annotated with "
        "all noun phrases, their coreference, and every relation between two noun phrases that a preposition can "
        "express, whether or not the text states it."
    ),
    language="en",
    homepage="https://github.com/yanaiela/TNE",
    licence="MIT (annotations), CC BY 2.5 (news texts, from Wikinews)",
    redistribution="",
    citation="""@article{elazar-etal-2022-text,
  title = {Text-based {NP} Enrichment},
  author = {Elazar, Yanai and Basmov, Victoria and Goldberg, Yoav and Tsarfaty, Reut},
  journal = {Transactions of the Association for Computational Linguistics},
  volume = {10},
  pages = {764--784},
  year = {2022},
  doi = {10.1162/tacl_a_00488}
}""",
    configs={
        "default": Config(
            "The labelled files: news for training, validation and test, other texts for out-of-domain testing.",
            RELEASED,
        ),
        "flat": Config(
            "The links of the labelled files, one a row.",
            RELEASED,
            definition="flat",
            flattens="document",
        ),
        "unlabeled": Config(
            "The files of the leaderboard, without links.",
            {
                "test": _file(
                    "test_unlabeled-v1.1.jsonl.gz",
                    "a461ef30beba25feefbb1777ecb42e63a1ce20f3675e2c551a442c393f4118c7",
                    781_824,
                ),
                "ood": _file(
                    "ood_unlabeled-v1.1.jsonl.gz",
                    "9278c13c381f1f3b6623e599086984695c00e31840c121c2053d3f466f2d2170",
                    811_018,
                ),
            },
        ),
        "ood_domains": Config(
            "The out-of-domain texts, by domain.",
            {
                "books": _file(
                    "ood_books.jsonl.gz",
                    "c85e35c35852bf2cdc537f9695a1d92743a257d329e64a4e8247b0f923773325",
                    446_467,
                ),
                "imdb": _file(
                    "ood_imdb.jsonl.gz",
                    "71406586859306d1b311c89140724312d29a7c81fae1dc738cf770c2f92ee56e",
                    444_110,
                ),
                "reddit": _file(
                    "ood_reddit.jsonl.gz",
                    "efb1c52e8887b00fb4198e0f4cb69a03f6634044ec7baa574189601bc14f42ee",
                    327_081,
                ),
            },
        ),
        "ood_forums": Config(
            "The forum posts, by forum.",
            # The names of the files lack the underscore that the names of the forums have elsewhere.
            {
                forum: _file(f"ood_reddit_{forum.replace('_', '')}.jsonl.gz", *known)
                for forum, known in FORUMS.items()
            },
        ),
        "sample": Config(
            "Invented texts that ship with the package, for trying things out offline.", SAMPLE
        ),
        "sample_flat": Config(
            "The links of the sample, one a row.", SAMPLE, definition="flat", flattens="document"
        ),
    },
    default_split="test",
    format="tne_jsonl",
    submission_formats=("tne_arrays",),
    procedure="tne",
    facts=read_facts(Path(__file__).with_name("facts.json")),
    n_oddities=6,
)
