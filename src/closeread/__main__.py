"""`python -m closeread` is `closeread`."""

from closeread.cli import main
from closeread.hf import register


def run() -> None:
    """Run the command line, where nobody loads a dataset or a metric by its bare name."""
    register.uninstall()
    main(prog_name="closeread")


if __name__ == "__main__":
    run()
