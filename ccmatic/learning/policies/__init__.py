"""Trained policies: their files, their networks as programs, and their export. Nothing here needs JAX."""

from ccmatic.learning.policies.export import GuidedExport, PolicyExport, export, exported, told, with_guarantees
from ccmatic.learning.policies.onnx_file import write_onnx
from ccmatic.learning.policies.policy import (
    ACTIONS,
    OBSERVATIONS,
    PROVED_HORIZON,
    Policy,
    arrays,
    check_layers,
    envelope,
    load,
    rewards,
    save,
)
from ccmatic.learning.policies.program import outputs, program

__all__ = [
    "ACTIONS",
    "OBSERVATIONS",
    "PROVED_HORIZON",
    "GuidedExport",
    "Policy",
    "PolicyExport",
    "arrays",
    "check_layers",
    "envelope",
    "export",
    "exported",
    "load",
    "outputs",
    "program",
    "rewards",
    "save",
    "told",
    "with_guarantees",
    "write_onnx",
]
