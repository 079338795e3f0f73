"""What a controller guarantees for all time: constants found, and checked."""

from ccmatic.proving.proof_check import check, make_certificates
from ccmatic.proving.prover import NoValue, Prover, search, verdicts
from ccmatic.proving.report import Progress, finding, verdict, write_report
from ccmatic.proving.result import begin_result, load_result
from ccmatic.proving.simulation_test import Trial

__all__ = [
    "NoValue",
    "Progress",
    "Prover",
    "Trial",
    "begin_result",
    "check",
    "finding",
    "load_result",
    "make_certificates",
    "search",
    "verdict",
    "verdicts",
    "write_report",
]
