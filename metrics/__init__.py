"""One folder an evaluate module.  `closeread.metrics()` lists them."""
