"""TimeLine, declared.

`facts.json` holds the figures of the released files.  `released.sha256` lists the files that are read; run
``sha256sum --check released.sha256`` in the corpus's folder to verify them.  `released.sizes` has their sizes in bytes.
"""

from pathlib import Path

from closeread.corpus.declaration import (
    Config,
    Corpus,
    SourceFolder,
    read_facts,
    read_manifest,
    read_sizes,
)

COMMIT = "d6518a5a79d940d749c95ee5b72830714b132238"
RELEASE = f"https://raw.githubusercontent.com/qiangning/StructTempRel-EMNLP17/{COMMIT}/data/SemEval2015-Task4-TimeLine"
HERE = Path(__file__).parent
RELEASED, SAMPLE = read_manifest(HERE / "released.sha256"), read_manifest(HERE / "sample.sha256")
SIZES = read_sizes(HERE / "released.sizes")

TRIAL_TIMELINES = "TimeLines_trial_data_task4_v1.2/*.txt"
TRIAL_DOCUMENTS = "Corpus-trial-data_task4_events_timelines/*.xml"
TRIAL_TITLES = "Corpus-trial-data_task4_events_timelines_TimeML/*.tml"
TIMELINES, DOCUMENTS = "TimeLines_Gold_Standard/*.txt", "corpus_trackB_CAT/*.xml"
TITLES, ENTITIES = "corpus_trackB_TimeML/*.tml", "list_target_entities_*.txt"
EVALUATION = ("corpus_1", "corpus_2", "corpus_3")
UNIONS = {"evaluation": EVALUATION}


def splits(trial: tuple[str, ...], evaluation: tuple[str, ...]) -> dict[str, SourceFolder]:
    """Declare all four splits, given the patterns of their files."""
    corpora = {
        name: SourceFolder(f"SemEval_Task4_data/{name}", evaluation, RELEASED, RELEASE, SIZES)
        for name in EVALUATION
    }
    return {"trial": SourceFolder(".", trial, RELEASED, RELEASE, SIZES), **corpora}


TIMELINES_OF = splits((TRIAL_TIMELINES, TRIAL_DOCUMENTS), (TIMELINES, DOCUMENTS, ENTITIES))
SAMPLE_TIMELINES = {"test": SourceFolder("sample", (TIMELINES, DOCUMENTS, ENTITIES), SAMPLE)}

CORPUS = Corpus(
    name="semeval2015_timeline",
    title="TimeLine (SemEval-2015 Task 4)",
    description=(
        "English Wikinews articles, with timelines of selected entities: the events that an entity takes part in, "
        "across all articles of a corpus, in order, each anchored to a date as far as known, with its coreferring "
        "mentions."
    ),
    language="en",
    homepage="http://alt.qcri.org/semeval2015/task4/",
    licence="CC-BY 3.0 (FBK, VUA, EHU)",
    redistribution="",
    citation="""@inproceedings{minard-etal-2015-semeval,
  title = {{SemEval}-2015 Task 4: {TimeLine}: Cross-Document Event Ordering},
  author = {Minard, Anne-Lyse and Speranza, Manuela and Agirre, Eneko and Aldabe, Itziar and van Erp, Marieke and
            Magnini, Bernardo and Rigau, German and Urizar, Rub{\\'e}n},
  booktitle = {Proceedings of the 9th International Workshop on Semantic Evaluation (SemEval 2015)},
  year = {2015},
  pages = {778--786},
  doi = {10.18653/v1/S15-2132}
}""",
    configs={
        "default": Config(
            "The timelines: of the trial data, of the three evaluation corpora, and of these together.",
            TIMELINES_OF,
            unions=UNIONS,
        ),
        "flat": Config(
            "The event mentions of the timelines, one a row.",
            TIMELINES_OF,
            definition="flat",
            flattens="document",
            unions=UNIONS,
        ),
        "documents": Config(
            "The articles, with the event mentions of track B.",
            splits((TRIAL_DOCUMENTS, TRIAL_TITLES), (DOCUMENTS, TITLES)),
            definition="text",
            format="cat_xml",
            unions=UNIONS,
        ),
        "sample": Config(
            "Invented articles with timelines that ship with the package, for trying things out offline.",
            SAMPLE_TIMELINES,
        ),
        "sample_flat": Config(
            "The event mentions of the sample's timelines, one a row.",
            SAMPLE_TIMELINES,
            definition="flat",
            flattens="document",
        ),
    },
    default_split="corpus_1",
    format="timeline_txt",
    submission_formats=("timeline_txt",),
    procedure="timeline",
    unique=("entity",),
    not_in_digest=("entries.spans",),
    facts=read_facts(HERE / "facts.json"),
    n_oddities=9,
)
