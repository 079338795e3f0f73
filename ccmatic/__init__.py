"""Formal synthesis and verification of congestion control algorithms."""

__version__ = "0.1.0"
