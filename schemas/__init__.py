"""The JSON Schema of each corpus: `$defs/document` is a gold record, `$defs/submission` what a system sends."""
