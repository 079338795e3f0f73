"""Trained policies: their files, their networks as programs, and their export. This package does not need JAX."""

from ccmatic.learning.policies.asked import actions
from ccmatic.learning.policies.export import (
    GUARDED,
    GuidedExport,
    PolicyExport,
    commanded,
    export,
    exported,
    guarded,
    with_guarantees,
)
from ccmatic.learning.policies.formulas import exportable, unknown_to_senders
from ccmatic.learning.policies.formulas import function as formula_function
from ccmatic.learning.policies.formulas import parts as formula_parts
from ccmatic.learning.policies.formulas import places_of as formula_places
from ccmatic.learning.policies.onnx_file import write_onnx
from ccmatic.learning.policies.policy import (
    DEEPEST,
    LARGEST,
    PROVED_HORIZON,
    Layers,
    Policy,
    arrays,
    check_layers,
    envelope,
    is_policy,
    load,
    save,
)
from ccmatic.learning.policies.program import Cell, activations_of, outputs, program, remembered

__all__ = [
    "DEEPEST",
    "GUARDED",
    "LARGEST",
    "PROVED_HORIZON",
    "Cell",
    "GuidedExport",
    "Layers",
    "Policy",
    "PolicyExport",
    "actions",
    "activations_of",
    "arrays",
    "check_layers",
    "commanded",
    "envelope",
    "export",
    "exportable",
    "exported",
    "formula_function",
    "formula_parts",
    "formula_places",
    "guarded",
    "is_policy",
    "load",
    "outputs",
    "program",
    "remembered",
    "save",
    "unknown_to_senders",
    "with_guarantees",
    "write_onnx",
]
