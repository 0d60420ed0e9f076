"""Libraries that take a second or more to import, for tests to import as late as they use one of their names."""

import sys
from importlib import import_module


class Late:
    def __init__(self, name):
        self.library = name

    def __getattr__(self, name):
        if name.startswith("_"):  # pytest asks all that a module has for its marks
            raise AttributeError(name)
        # `evaluate` would import it, and with it torch.
        hidden = self.library == "evaluate" and not {"evaluate", "transformers"} & set(sys.modules)
        if hidden:
            sys.modules["transformers"] = None
        try:
            return getattr(import_module(self.library), name)
        finally:
            if hidden:
                del sys.modules["transformers"]


datasets, evaluate, pandas, stats = map(Late, ("datasets", "evaluate", "pandas", "scipy.stats"))
