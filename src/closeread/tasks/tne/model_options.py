"""What models of links can be, and what they learn from unless users say otherwise."""

from __future__ import annotations

from types import MappingProxyType

VARIANTS = ("coupled", "decoupled")
"""One head with "no link" as one of the labels; or a head for links, and one for the prepositions of links."""

DECODINGS = ("links", "printed")
"""Which pairs a decoupled model links: those that its head for links finds, or every pair, as the paper's Table 3."""

DEFAULTS = MappingProxyType(
    {
        "epochs": 40,
        "patience": 10,
        "batch_size": 1,
        "accumulate": 1,
        "learning_rate": 1e-5,
        "head_learning_rate": 1e-3,
        "seed": 0,
    }
)
"""The numbers of `closeread.neural.training.Setting` that users set."""

SPLITS = MappingProxyType({"training": "train", "validation": "validation", "test": None})
"""What models learn from, and what they are chosen by."""
