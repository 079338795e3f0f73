"""Proofs about the first steps of executions, such as `converged within 8 rtt`, by certificates without an invariant.

The laws of all steps up to the time of the expectation decide the expectation. So either such a proof exists, or an
execution that refutes the expectation. The proof uses all laws.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from time import process_time
from typing import Any

from ccmatic import __version__, records
from ccmatic.answers.verification import HOLDS, VIOLATED, Judge, Part, Verifier
from ccmatic.base import Clock, InputError, counted
from ccmatic.contracts import WayToFail
from ccmatic.logic import Truth, certificates, isolated
from ccmatic.logic.solving import UNSAT, SolverOptions
from ccmatic.proving.invariants.saved import Saved, executions_of, require_expects
from ccmatic.questions.query import Query, from_record
from ccmatic.records import CertificateFile, ControllerRecord, FirstStepsFile, QueryRecord


@dataclass(frozen=True)
class FirstSteps(Saved):
    """A proof that no execution of a query breaks its expectation, with certificates."""

    #: The query: the network, the start of the executions, their number of steps, and the expectation.
    query: Query
    controller: Any
    certificates: Sequence[CertificateFile]

    FILE = FirstStepsFile
    WRONG = "no proof about first steps"

    @staticmethod
    @isolated
    def certified(query: Query, controller: Any) -> "FirstSteps | None":
        """Return the proof of a query; None if an execution breaks its expectation."""
        made = [certificates.certify(conditions) for conditions in failures(query, controller)]
        if None in made:
            return None
        return FirstSteps(query, controller, [records.convert(each, CertificateFile) for each in made])

    @property
    def executions(self) -> str:
        return executions_of(self.query)

    @property
    def claim(self) -> str:
        return str(self.query.property.expectations[0])  # type: ignore[attr-defined]

    @isolated
    def fault(self) -> str | None:
        """Return the reason why this data does not prove the expectation, or None. The certificates need no solver.

        A solver only decides that some execution begins as the query states. Otherwise the proof would be vacuous.
        """
        questions = list(failures(self.query, self.controller))
        if len(self.certificates) != len(questions):
            return f"it has {counted(len(self.certificates), 'certificate')}; expected {len(questions)}"
        for conditions, certificate in zip(questions, self.certificates, strict=True):
            outcome = certificates.check_certificate(conditions, records.data(certificate))
            if outcome.fault:
                return f"the first steps: {outcome.fault}"
        return None if has_execution(self.query, self.controller) else "no execution begins like this"

    def record(self) -> FirstStepsFile:
        return FirstStepsFile(
            made_by=f"ccmatic {__version__}",
            controller=ControllerRecord(self.controller.name, self.controller.source),
            query=records.convert(self.query.record(), QueryRecord),
            certificates=list(self.certificates),
        )

    @classmethod
    def of_record(cls, read: FirstStepsFile, allow_code: bool = False) -> "FirstSteps":
        query = from_record(records.data(read.query), allow_code)
        about: Any = require_expects(query)
        if query.network.delay != "executions":
            raise InputError(f"the delay is '{query.network.delay}'; expected 'executions'")
        if len(about.expectations) != 1 or about.expectations[0].by is None:
            raise InputError(f"'{about.what}' is about no first steps; expected such as 'converged within 8 rtt'")
        controller = query.read_controller(read.controller.source, read.controller.name)
        return FirstSteps(query, controller, read.certificates)


def failures(query: Query, controller: Any) -> Iterator[list[Truth]]:
    """Yield the conditions of an execution that breaks the expectation, for each way to fail."""
    yield from Verifier(query, own_reads(query, controller), state=controller.state).questions(controller).values()


def own_reads(query: Query, controller: Any) -> set[str]:
    return query.units().keys() & set(controller.parameters)


def has_execution(query: Query, controller: Any) -> bool:
    """Return whether the premises of the query have an execution."""
    reads = own_reads(query, controller)
    for way in query.property.ways_to_fail(query.model, query.buffer):
        whole = Part(query, WayToFail(way.name, way.formula, reads=way.reads), SolverOptions(), reads, controller.state)
        if whole.execution(controller, way.premise) == UNSAT:
            return False
    return True


def search(query: Query, controller: Any, seconds: float) -> tuple[FirstSteps | None, Any]:
    """Return the proof of a query and the trace that breaks its expectation. Both are None if the solver timed out."""
    query = query.on(delay="executions")
    judgement = Judge(query, options=SolverOptions(timeout=Clock(seconds, process_time))).judge(controller)
    if judgement.verdict == VIOLATED:
        return None, judgement.trace
    return FirstSteps.certified(query, controller) if judgement.verdict == HOLDS else None, None
