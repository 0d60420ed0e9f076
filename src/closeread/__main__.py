"""`python -m closeread` is `closeread`."""

import gc

from closeread.cli import main
from closeread.hf import register


def run() -> None:
    """Run the command line, where nobody loads a dataset or a metric by its bare name."""
    register.uninstall()
    try:
        main(prog_name="closeread")
    finally:
        # Python would look for cycles among all objects three times when it ends: a fifth of the time of a short command.
        gc.freeze()


if __name__ == "__main__":
    run()
