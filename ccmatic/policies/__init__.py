"""Trained policies: their files, their networks in NumPy, and their export to C and to ONNX. Nothing here needs JAX."""

from ccmatic.policies.export import GuidedExport, PolicyExport, export, exported, told
from ccmatic.policies.onnx_file import write_onnx
from ccmatic.policies.policy import (
    ACTIONS,
    OBSERVATIONS,
    PROVED_HORIZON,
    REWARDS,
    Policy,
    check_layers,
    envelope,
    load,
    save,
)

__all__ = [
    "ACTIONS",
    "OBSERVATIONS",
    "PROVED_HORIZON",
    "REWARDS",
    "GuidedExport",
    "Policy",
    "PolicyExport",
    "check_layers",
    "envelope",
    "export",
    "exported",
    "load",
    "save",
    "told",
    "write_onnx",
]
