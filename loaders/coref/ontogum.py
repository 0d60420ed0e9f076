"""OntoGUM, declared: GUM's coreference in the form of OntoNotes.

`ontogum.sha256` lists its files; the splits are GUM's.
"""

from closeread.corpus.declaration import DocumentTraits, Repair
from closeread.loaders.coref import declare_corpus
from closeread.loaders.coref.gum import LICENCE, REDISTRIBUTION, WITHHELD, declare_splits

UNREADABLE = "one mention can't be read: it opens as 2 and closes as 3"
ROAD = "GENTLE_poetry_road.conll"

CORPUS = declare_corpus(
    name="ontogum",
    title="OntoGUM 11.1",
    description=(
        "GUM and GENTLE with coreference as OntoNotes has it: without singletons, appositions and other links that "
        "OntoNotes does not annotate. The genres of the split test2, GENTLE, are in no other split."
    ),
    language="en",
    homepage="https://github.com/amir-zeldes/gum",
    licence=LICENCE,
    redistribution=REDISTRIBUTION,
    citation="""@inproceedings{zhu-etal-2021-ontogum,
  title = {{OntoGUM}: Evaluating Contextualized {SOTA} Coreference Resolution on 12 More Genres},
  author = {Zhu, Yilun and Pradhan, Sameer and Zeldes, Amir},
  booktitle = {Proceedings of ACL-IJCNLP 2021},
  year = {2021},
  pages = {461--467},
  doi = {10.18653/v1/2021.acl-short.59}
}""",
    form="conll",
    configs={
        "default": (
            "The released files.",
            declare_splits("coref/ontogum/conll", ".conll", "ontogum.sha256"),
        )
    },
    traits=DocumentTraits(
        group="genre",
        repairs=(
            Repair(ROAD, 11, "\t(2", "\t_", UNREADABLE),
            Repair(ROAD, 21, "\t3)", "\t_", ""),
        ),
    ),
    preset="conll2012",
    figures={
        "default": {
            "train": (191, 190_161, 25_134, 5_746, 10),
            "validation": (32, 29_874, 4_082, 948, 2),
            "test": (32, 30_255, 3_832, 925, 1),
            "test2": (26, 17_799, 1_909, 457, 2),
            "all": (281, 268_089, 34_957, 8_076, 15),
        }
    },
    remarks=(
        "Nine mentions are in two entities, and count as the reference scorer counts them, so that a perfect response "
        "does not get 100.",
        "The files have 14 singletons, although OntoNotes has none; one more is what a broken mention leaves.",
        "Its tokens are not numbered as GUM's, which has 119 empty nodes.",
        WITHHELD,
    ),
)
