"""The trade-off between loss and convergence time (Theorem 6.1 of the paper; sections 6.2 and Appendix D)."""

from ccmatic.tradeoffs.findings import reproduce_tradeoff

__all__ = ["reproduce_tradeoff"]
