"""The trade-off between loss and convergence time (Theorem 6.1, section 6.2 and Appendix D of the paper)."""

from ccmatic.tradeoffs.findings import reproduce_tradeoff

__all__ = ["reproduce_tradeoff"]
