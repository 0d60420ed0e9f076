"""What a user can do, each thing once: the functions of `closeread`, from which its commands are derived."""

COMMANDS = {**dict.fromkeys(("export", "install-modules", "schema", "stats"), "data"), "submit": "leaderboard"}
"""The modules of this folder that have the operations of commands without subcommands."""

GROUPS = {"leaderboard": "leaderboard", "publish": "publishing"}
"""The modules of this folder that have all operations of a group, in the order in which help lists them."""
