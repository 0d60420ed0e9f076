"""The names that users type most, as editors complete them; a test compares them with what there is.

Names that third parties add are accepted as well: every name is a string, and at run time nothing else is said.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    Corpus: TypeAlias = Literal[
        "bookcoref",
        "corefud",
        "crac2025",
        "crac2026",
        "gum",
        "litbank",
        "marmara_coref",
        "matres",
        "mctaco",
        "narrativetime",
        "ontogum",
        "ontonotes",
        "preco",
        "semeval2015_timeline",
        "tddauto",
        "tddman",
        "timebank_dense",
        "tne",
        "wikipossessions",
    ]
    Procedure: TypeAlias = Literal[
        "coref", "mctaco", "timeline", "tlinks", "tne", "wikipossessions"
    ]
    Module: TypeAlias = (
        Literal[
            "coref",
            "coref_alpha",
            "coref_b3",
            "coref_blanc",
            "coref_ceafe",
            "coref_ceafm",
            "coref_conll",
        ]
        | Literal[
            "coref_lea", "coref_muc", "mctaco", "possession", "timeline_awareness", "tne_links"
        ]
    )
    Family: TypeAlias = (
        Literal[
            "mentions",
            "muc",
            "b3",
            "ceafm",
            "ceafe",
            "blanc",
            "lea",
            "conll",
            "mor",
            "zeros",
            "non_referring",
        ]
        | Literal[
            "bridging_anaphors",
            "bridging_mentions",
            "bridging_entities",
            "exact_match",
            "f1",
            "awareness",
        ]
        | Literal[
            "events",
            "anchor_accuracy",
            "links",
            "unlabeled",
            "triplets",
            "iprep",
            "uprep",
            "possessor",
        ]
        | Literal["possessor_certainty", "anchor", "relation", "relation_certainty", "ordering"]
    )
    Preset: TypeAlias = Literal[
        "conll2012",
        "corefud",
        "crac2023",
        "crac2024",
        "crac2025",
        "crac2026",
        "codicrac_anaphora",
        "codicrac_deixis",
        "codicrac_bridging",
    ]
    AnyCorpus: TypeAlias = Corpus | Procedure | str
    """A corpus, or the procedure that scores it."""
    AnyModule: TypeAlias = Module | AnyCorpus
    AnyFamily: TypeAlias = Family | str
    AnyPreset: TypeAlias = Preset | str
else:
    AnyCorpus = AnyModule = AnyFamily = AnyPreset = str
