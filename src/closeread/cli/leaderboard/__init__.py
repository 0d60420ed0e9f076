"""The subcommands of `closeread leaderboard`, each a module."""
