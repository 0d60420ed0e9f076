"""The replacement rules of Zhou et al. (2019), appendix, Table 3, as data.

"early": ("late",) means that "early" in an answer is replaced by "late".  A word may be in several groups ("night");
its replacements are then concatenated in the order of the groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

WORD_RULES: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType(
    {
        "adjective": {
            "early": ("late",),
            "late": ("early",),
            "morning": ("late night",),
            "night": ("early morning",),
            "evening": ("morning",),
            "everlasting": ("periodic",),
            "initial": ("last",),
            "first": ("last",),
            "last": ("first",),
            "overdue": ("on time",),
            "belated": ("punctual",),
            "long-term": ("short-term",),
            "delayed": ("early",),
            "punctual": ("belated",),
        },
        "frequency": {
            "always": ("sometimes", "never"),
            "occasionally": ("always", "never"),
            "often": ("rarely",),
            "usually": ("rarely",),
            "rarely": ("always",),
            "constantly": ("sometimes",),
            "never": ("sometimes", "always"),
            "regularly": ("occasionally", "never"),
        },
        "period": {
            "night": ("day",),
            "day": ("night",),
        },
        "typical time": {
            "now": ("later",),
            "today": ("yesterday",),
            "tomorrow": ("yesterday",),
            "tonight": ("last night",),
            "yesterday": ("tomorrow",),
            "am": ("pm",),
            "pm": ("am",),
            "a.m.": ("p.m.",),
            "p.m.": ("a.m.",),
            "afternoon": ("morning",),
            "morning": ("evening",),
            "night": ("morning",),
            "after": ("before",),
            "before": ("after",),
        },
    }
)

UNIT_SETS: tuple[tuple[str, ...], ...] = (
    ("second", "hour", "week", "year"),
    ("minute", "day", "month", "century"),
)
"""A unit is replaced by each of the other three of its set, singular by singular, plural by plural."""
