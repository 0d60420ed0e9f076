"""`python -m closeread` is `closeread`."""

from closeread.cli import main

if __name__ == "__main__":
    main(prog_name="closeread")
