"""The scores of CRAC's shared tasks on multilingual coreference, year by year, with their datasets.

The score of a task is the mean over its datasets, without weights, of the CoNLL F1 of each, which is micro over its
documents.  Only mentions of entities with at least two count.
"""

from __future__ import annotations

from closeread.corpus.citing import papers
from closeread.counts.procedure import Preset

ZABOKRTSKY_2022 = papers("zabokrtsky-etal-2022-findings")

METRICS = ("muc", "b3", "ceafe", "conll")

COREFUD = {
    "duplicates": "last",
    "average": "groups",
    "undefined": "zero",
    "keep_singletons": "false",
    "blanc_edge": "luo2014",
    "matching": "head",
    "zeros": "corefud",
}
"""The options of corefud-scorer since 2024, when it began to match zeros by their dependencies."""

SECONDARY = {
    "head": {"matching": "head"},
    "partial": {"matching": "partial"},
    "exact": {"matching": "exact"},
    "singletons": {"matching": "head", "keep_singletons": "true"},
}
"""The four columns of the tables of CRAC's findings, in which nothing else differs."""

IN_2023 = (
    "ca_ancora",
    "cs_pcedt",
    "cs_pdt",
    "de_parcorfull",
    "de_potsdamcc",
    "en_gum",
    "en_parcorfull",
    "es_ancora",
    "fr_democrat",
    "hu_korkor",
    "hu_szegedkoref",
    "lt_lcc",
    "no_bokmaalnarc",
    "no_nynorsknarc",
    "pl_pcc",
    "ru_rucor",
    "tr_itcc",
)
IN_2024 = tuple(sorted((*IN_2023, "cu_proiel", "en_litbank", "grc_proiel", "hbo_ptnk")))
IN_2025 = tuple(
    sorted(
        {*IN_2024, "fr_ancor", "hi_hdtb", "ko_ecmt"}.difference({"de_parcorfull", "en_parcorfull"})
    )
)
NEW_IN_2026 = ("cs_pdtsc", "en_fantasycoref", "fr_litbankfr", "la_coreflat", "nl_openboek")
IN_2026 = tuple(sorted((*IN_2025, *NEW_IN_2026)))

PRESETS = {
    "crac2023": Preset(
        {**COREFUD, "zeros": "linear"},
        METRICS,
        "CRAC 2023, 17 datasets of CorefUD 1.1, corefud-scorer 1.1: zeros are matched by place; digits may differ "
        "where several mentions have one head",
        ZABOKRTSKY_2022,
        IN_2023,
    ),
    "crac2024": Preset(
        COREFUD,
        METRICS,
        "CRAC 2024, 21 datasets of CorefUD 1.2, corefud-scorer 1.2: zeros are matched by their dependencies",
        ZABOKRTSKY_2022,
        IN_2024,
    ),
    "crac2025": Preset(
        COREFUD,
        METRICS,
        "CRAC 2025, 22 datasets of CorefUD 1.3, as 2024: without ParCorFull, with French, Hindi and Korean",
        ZABOKRTSKY_2022,
        IN_2025,
    ),
    "crac2026": Preset(
        COREFUD,
        METRICS,
        "CRAC 2026, 27 datasets of CorefUD 1.4, as 2024: with five more, of Czech, Dutch, English, French and Latin",
        ZABOKRTSKY_2022,
        IN_2026,
    ),
}
