"""What every message to a user must be, whatever it says."""

from closeread.exceptions import SHOWN


def check_message(error):
    """Check that an error lists problems, is fit for a terminal, and isn't too long."""
    assert error.problems
    assert str(error).replace("\n", "").isprintable()
    assert len(str(error).splitlines()) <= SHOWN + 1
