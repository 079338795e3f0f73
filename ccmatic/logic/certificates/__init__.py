"""Certificates that formulas have no common solution. The check of a certificate trusts no solver."""

from ccmatic.logic.certificates.check import check_certificate, check_refutation
from ccmatic.logic.certificates.search import certify, refute

__all__ = ["certify", "check_certificate", "check_refutation", "refute"]
