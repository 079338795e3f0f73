"""Certificates that formulas have no common solution. The check of a certificate trusts no solver."""

from ccmatic.certificates.check import check_certificate
from ccmatic.certificates.search import certify
from ccmatic.certificates.unit_propagation import check_refutation, refute

__all__ = ["certify", "check_certificate", "check_refutation", "refute"]
