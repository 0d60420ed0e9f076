"""A contract for import-linter that lists what modules may import; everything else is forbidden.

import-linter's own `forbidden` contract lists what is not allowed, so a new module or library slips through it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output
from importlinter.domain.helpers import module_expressions_to_modules


class AllowedContract(Contract):
    """Check that modules import nothing but each other, the allowed modules and the standard library.

    Configuration options:
        - source_modules:   packages or modules; wildcards are allowed. Each may import its own submodules.
        - allowed_modules:  packages or modules that they may import, ours or from other libraries.
    """

    type_name = "allowed"

    source_modules = fields.ListField(subfield=fields.ModuleExpressionField())
    allowed_modules = fields.ListField(subfield=fields.StringField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Compare the direct imports of every source module with the allowed ones."""
        sources = sorted(
            source.name for source in module_expressions_to_modules(graph, self.source_modules)
        )
        missing = [source for source in sources if source not in graph.modules]
        if missing or not sources:
            raise ValueError(f"no such modules: {', '.join(missing) or self.source_modules}")
        forbidden = [
            (importer, imported)
            for source in sources
            for importer in sorted({source, *graph.find_descendants(source)})
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if not _is_allowed(imported, (source, *self.allowed_modules))
        ]
        return ContractCheck(kept=not forbidden, metadata={"forbidden": forbidden})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Print every import that is not allowed."""
        output.print_error(
            f"Only these may be imported: {', '.join(self.allowed_modules)}.", bold=False
        )
        for importer, imported in check.metadata["forbidden"]:
            output.print_error(f"- {importer} -> {imported}", bold=False)


def _is_allowed(imported: str, allowed: Sequence[str]) -> bool:
    """Tell whether a module belongs to the standard library or to one of the allowed packages."""
    if imported.split(".")[0] in sys.stdlib_module_names:
        return True
    return any(imported == name or imported.startswith(f"{name}.") for name in allowed)
