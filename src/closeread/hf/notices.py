"""What users should know about what they loaded, said once and at the line of theirs that asked for it."""

from __future__ import annotations

import sys
import warnings

LIBRARIES = {"closeread", "datasets", "evaluate"}


def warn(message: str) -> None:
    """Warn at the nearest line outside of us and of Hugging Face's libraries, however deep in them we are."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] in LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
