"""Warnings about what was loaded, shown at the line of the user's code that loaded it, once each."""

from __future__ import annotations

import sys
import warnings

from closeread.errors import CloseReadWarning

LIBRARIES = {"closeread", "datasets", "evaluate"}

# After all other filters, so that those of the user are stronger: every cell of a notebook is a new place, at which
# Python would show the same warning again.
warnings.simplefilter("once", CloseReadWarning, append=True)


def warn(message: str) -> None:
    """Warn at the nearest calling line outside closeread and Hugging Face's libraries."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).split(".")[0] in LIBRARIES:
        level, frame = level + 1, frame.f_back
    warnings.warn(message, CloseReadWarning, stacklevel=level)
