"""The functions of `closeread`, one module a noun: what the command line does, with objects as well as files."""
