"""Certificates that formulas have no common solution. The check of a certificate trusts no solver."""

from ccmatic.logic.certificates.check import check_certificate
from ccmatic.logic.certificates.search import certify
from ccmatic.logic.certificates.unit_propagation import check_refutation, refute

__all__ = ["certify", "check_certificate", "check_refutation", "refute"]
