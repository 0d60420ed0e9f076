"""Our evaluate modules, as their tasks declare them."""

from closeread.tasks import find, load_procedure, procedure_names

SCORING = sorted(module for name in procedure_names() for module in load_procedure(name).modules)
"""Those of procedures, which score predictions by references."""

AGREEMENT = sorted(
    module
    for name in procedure_names()
    for module in getattr(find(name, "agreement"), "MODULES", ())
)
"""Those that compare annotators with each other."""
