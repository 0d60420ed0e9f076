"""Our evaluate modules, as their tasks declare them."""

from closeread.tasks import find_all, load_procedure, procedure_names

SCORING = sorted(module for name in procedure_names() for module in load_procedure(name).modules)
"""Those of procedures, which score predictions by references."""

AGREEMENT = sorted(
    module for agreement in find_all("agreement") for module in getattr(agreement, "MODULES", ())
)
"""Those that compare annotators with each other."""
