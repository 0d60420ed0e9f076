"""Warnings about what was loaded, shown at the line of the user's code that loaded it."""

from __future__ import annotations

import sys
import warnings

LIBRARIES = {"closeread", "datasets", "evaluate"}


def warn(message: str) -> None:
    """Warn at the nearest calling line outside closeread and Hugging Face's libraries."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] in LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)
