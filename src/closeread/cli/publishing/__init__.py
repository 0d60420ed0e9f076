"""The subcommands of `closeread publish`, each in a module of its own."""
