"""Trained policies: their files, their networks as programs, and their export. This package does not need JAX."""

from ccmatic.learning.policies.export import GuidedExport, PolicyExport, commanded, export, exported, with_guarantees
from ccmatic.learning.policies.formulas import exportable
from ccmatic.learning.policies.onnx_file import write_onnx
from ccmatic.learning.policies.policy import (
    PROVED_HORIZON,
    Layers,
    Policy,
    arrays,
    check_layers,
    envelope,
    load,
    save,
)
from ccmatic.learning.policies.program import outputs, program

__all__ = [
    "PROVED_HORIZON",
    "GuidedExport",
    "Layers",
    "Policy",
    "PolicyExport",
    "arrays",
    "check_layers",
    "commanded",
    "envelope",
    "export",
    "exportable",
    "exported",
    "load",
    "outputs",
    "program",
    "save",
    "with_guarantees",
    "write_onnx",
]
