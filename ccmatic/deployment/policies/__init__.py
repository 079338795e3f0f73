"""Trained policies: their files, their networks as programs, and their export. This package does not need JAX."""

from ccmatic.deployment.policies.asked import actions
from ccmatic.deployment.policies.export import (
    GUARDED,
    GuidedExport,
    PolicyExport,
    commanded,
    export,
    exported,
    guarded,
    with_guarantees,
)
from ccmatic.deployment.policies.formulas import exportable, unknown_to_senders
from ccmatic.deployment.policies.formulas import function as formula_function
from ccmatic.deployment.policies.formulas import parts as formula_parts
from ccmatic.deployment.policies.formulas import places_of as formula_places
from ccmatic.deployment.policies.onnx_policy import write_onnx
from ccmatic.deployment.policies.policy import (
    DEEPEST,
    LARGEST,
    PROVED_HORIZON,
    TASK,
    Layers,
    Policy,
    arrays,
    check_layers,
    envelope,
    is_policy,
    load,
    save,
)
from ccmatic.deployment.policies.program import Cell, activations_of, outputs, program, remembered

__all__ = [
    "DEEPEST",
    "GUARDED",
    "LARGEST",
    "PROVED_HORIZON",
    "TASK",
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
