"""What classifiers can be, and what they learn from unless users say otherwise."""

from __future__ import annotations

from types import MappingProxyType

OFF = "off"

UNIT_NORMALIZATIONS = (OFF, "proper", "official")
"""How answers may be normalized: not at all, or by one of the rules of
`closeread.tasks.mctaco.perturbation.units.normalize_units`."""

HELD_OUT = 0.1
"""The share of the questions by which the best epoch is chosen."""

DEFAULTS = MappingProxyType(
    {
        "epochs": 3,
        "patience": 3,
        "batch_size": 32,
        "accumulate": 1,
        "learning_rate": 2e-5,
        "head_learning_rate": 2e-5,
        "seed": 0,
    }
)
"""The numbers of `closeread.neural.training.Setting` that users set."""

SPLITS = MappingProxyType({"training": "validation", "validation": None, "test": None})
"""What models learn from, what they are chosen by, and what they are scored on."""
