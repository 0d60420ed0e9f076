"""What a user can do, each thing once: the functions of `closeread`, from which its commands are derived."""

COMMANDS = dict.fromkeys(("export", "install-modules", "schema", "stats"), "data")
"""The modules of this folder that have the operations of commands without subcommands."""
