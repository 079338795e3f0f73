"""Certificates that formulas have no solution: their search, and their check, which trusts no solver."""

from ccmatic.certificates.check import check_certificate
from ccmatic.certificates.search import certify
from ccmatic.certificates.unit_propagation import check_refutation, refute

__all__ = ["certify", "check_certificate", "check_refutation", "refute"]
