"""One folder an evaluate module.  `closeread.metrics()` lists them."""

from closeread._called import make_callable

make_callable(__name__)
