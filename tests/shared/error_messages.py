"""What every message to a user must be, whatever it says."""

from closeread.exceptions import MAX_PROBLEMS_SHOWN


def check_message(error):
    """Check that an error lists problems, is fit for a terminal, and isn't too long."""
    assert error.problems
    assert str(error).replace("\n", "").isprintable()
    assert len(str(error).splitlines()) <= MAX_PROBLEMS_SHOWN + 1
