"""Trained policies: their files, their networks in NumPy, and their export to C and to ONNX. Nothing here needs JAX."""

from ccmatic.policies.export import PolicyExport, export
from ccmatic.policies.onnx_file import write_onnx
from ccmatic.policies.policy import ACTIONS, OBSERVATIONS, REWARDS, Policy, load, save

__all__ = ["ACTIONS", "OBSERVATIONS", "REWARDS", "Policy", "PolicyExport", "export", "load", "save", "write_onnx"]
