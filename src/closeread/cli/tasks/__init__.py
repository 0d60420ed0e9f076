"""The subcommands of each task, one module a task, found by walking this folder (`closeread.cli.task_group`)."""
