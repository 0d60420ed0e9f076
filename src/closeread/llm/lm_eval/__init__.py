"""Tasks for lm-evaluation-harness, in files that it reads with `--include_path`."""
