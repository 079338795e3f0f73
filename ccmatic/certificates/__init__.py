"""That formulas have no solution, written down so that no solver need be believed: certificates, made and checked."""

from ccmatic.certificates.check import check_certificate
from ccmatic.certificates.search import certify
from ccmatic.certificates.unit_propagation import check_refutation, refute

__all__ = ["certify", "check_certificate", "check_refutation", "refute"]
