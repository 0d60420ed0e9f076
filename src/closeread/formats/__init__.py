"""One module a file format: `read_*` from files to records, `write_*` back."""
