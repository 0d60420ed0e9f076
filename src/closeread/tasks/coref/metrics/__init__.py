"""Coreference metrics, as in the papers that define them."""
