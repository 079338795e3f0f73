"""Saved invariants: a claim, its invariant and certificates, as a file that a check accepts without the search."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar, Self

from pysmt.typing import BOOL

from ccmatic import __version__, records
from ccmatic.base import (
    InputError,
    counted,
    definitions,
    located,
    parse_json,
    read_text,
    shown,
    writable_folder,
    write_text,
)
from ccmatic.logic import Condition, Linear, Truth, certificates, isolated, no, some
from ccmatic.proving.invariants.claims import Claim, Implication, Problem
from ccmatic.proving.invariants.forms import Replaced
from ccmatic.proving.invariants.transition import derive
from ccmatic.questions.query import Query, from_record
from ccmatic.records import CertificateFile, ClaimRecord, ControllerRecord, InvariantFile, LiteralRecord, QueryRecord

#: The clauses of an invariant, each a list of literals.
Literals = Sequence[Sequence[LiteralRecord]]


def literals(clause: Truth, names: Mapping[Any, str]) -> list[LiteralRecord]:
    if not isinstance(clause, Condition):
        raise ValueError(f"the clause {clause} is no condition")
    parts = clause.node.args() if clause.node.is_or() else (clause.node,)
    return [_literal(part, True, names) for part in parts]


def _literal(node: Any, holds: bool, names: Mapping[Any, str]) -> LiteralRecord:
    if node.is_not():
        return _literal(node.arg(0), not holds, names)
    if node.is_symbol():
        return LiteralRecord({names[node]: Fraction(1)}, "holds" if holds else "fails")
    term = Replaced({}).walk(node.arg(0)) - Replaced({}).walk(node.arg(1))
    strict = node.is_lt() if holds else node.is_le()
    sign = 1 if holds else -1
    terms = {names[symbol]: sign * number for symbol, number in term.coefficients.items()}
    return LiteralRecord(dict(sorted(terms.items())), "<" if strict else "<=", -sign * term.constant)


def clause_of(parts: Sequence[LiteralRecord], unknowns: Mapping[str, Any]) -> Truth:
    """Return the clause that records describe."""
    return some([_condition(part, unknowns) for part in parts])


def _condition(part: LiteralRecord, unknowns: Mapping[str, Any]) -> Truth:
    for name in part.terms:
        if name not in unknowns:
            raise InputError(f"the invariant is about '{name}'; expected unknowns of the state: {', '.join(unknowns)}")
    kinds = {unknowns[name].symbol_type() is BOOL for name in part.terms}
    if part.relation in ("holds", "fails"):
        if len(part.terms) != 1 or kinds != {True}:
            raise InputError(f"{records.data(part)} is no condition of the state")
        [symbol] = (unknowns[name] for name in part.terms)
        return Condition(symbol) if part.relation == "holds" else no(Condition(symbol))
    if True in kinds or part.bound is None:
        raise InputError(f"{records.data(part)} is no inequality between numbers of the state")
    total = Linear({unknowns[name]: number for name, number in part.terms.items() if number})
    return total < part.bound if part.relation == "<" else total <= part.bound


class Saved:
    """A proof of a claim that certificates decide, in a file of its own."""

    #: The record of the file, and what is said of a file that has another content.
    FILE: ClassVar[Any]
    WRONG: ClassVar[str]

    def record(self) -> Any:
        raise NotImplementedError

    @classmethod
    def of_record(cls, read: Any, allow_code: bool = False) -> Self:
        """Return the proof that a file contains. Only with `allow_code` may it name files, whose code then runs."""
        raise NotImplementedError

    @classmethod
    def read(cls, file: str | Path, data: object, allow_code: bool = False) -> Self:
        """Return the proof of a file from its JSON data. Raise InputError if it is another kind of proof."""
        with located(str(file)):
            records.require_format(data, cls.FILE, str(file))
            return cls.of_record(records.convert(data, cls.FILE, str(file), cls.WRONG), allow_code)

    @classmethod
    def load(cls, file: str | Path, allow_code: bool = False) -> Self:
        return cls.read(file, parse_json(read_text(Path(file)), str(file)), allow_code)

    def save(self, folder: str | Path, name: str) -> Path:
        file: Path = writable_folder(Path(folder)) / f"{name}.json"
        write_text(file, json.dumps(records.data(self.record()), separators=(",", ":")) + "\n")
        return file


@dataclass(frozen=True)
class Invariant(Saved):
    """An inductive invariant with its certificates."""

    query: Query
    controller: Any
    claim: Claim
    clauses: Literals
    #: The certificates of the implications, in the order of `Problem.implications`.
    certificates: Sequence[CertificateFile]
    #: The names of laws that the proof does not need, as in `derive`.
    without: tuple[str, ...] = ()

    FILE = InvariantFile
    WRONG = "no invariant of ccmatic"

    @property
    def executions(self) -> str:
        return executions_of(self.query)

    @staticmethod
    @isolated
    def certified(
        query: Query, controller: Any, claim: Claim, clauses: Literals, without: tuple[str, ...] = ()
    ) -> "Invariant | None":
        """Return an invariant with certificates; None if one of its implications does not hold."""
        made = []
        for implication in implications_of(query, controller, claim, clauses, without):
            certificate = certificates.certify(implication.refuted)
            if certificate is None:
                return None
            made.append(records.convert(certificate, CertificateFile))
        return Invariant(query, controller, claim, clauses, made, without)

    @isolated
    def fault(self) -> str | None:
        """Return the reason why this data does not prove the claim, or None.

        The certificates need no solver. The derivation of the system asks a solver which laws hold at each step.
        """
        if len(self.certificates) != len(self.clauses) + 2:
            return f"it has {counted(len(self.certificates), 'certificate')}; expected {len(self.clauses) + 2}"
        implications = list(implications_of(self.query, self.controller, self.claim, self.clauses, self.without))
        for implication, certificate in zip(implications, self.certificates, strict=True):
            outcome = certificates.check_certificate(implication.refuted, records.data(certificate))
            if outcome.fault:
                return f"{implication.name}: {outcome.fault}"
        return None

    def record(self) -> InvariantFile:
        claim = ClaimRecord(self.claim.subject, self.claim.relation, self.claim.amount, self.claim.within)
        return InvariantFile(
            made_by=f"ccmatic {__version__}",
            controller=ControllerRecord(self.controller.name, self.controller.source),
            query=records.convert(self.query.record(), QueryRecord),
            claim=claim,
            clauses=[list(clause) for clause in self.clauses],
            certificates=list(self.certificates),
            without=self.without,
        )

    @classmethod
    def of_record(cls, read: InvariantFile, allow_code: bool = False) -> "Invariant":
        query = from_record(records.data(read.query), allow_code)
        require_expects(query)
        controller = query.read_controller(read.controller.source, read.controller.name)
        claim = Claim(read.claim.subject, read.claim.relation, read.claim.amount, read.claim.within)
        return Invariant(query, controller, claim, read.clauses, read.certificates, read.without)


def implications_of(
    query: Query, controller: Any, claim: Claim, clauses: Literals, without: tuple[str, ...]
) -> Iterator[Implication]:
    """Return the implications of an invariant about the definitions as they are now."""
    problem = Problem(derive(query, controller, without), claim)
    return problem.implications(clauses_of(clauses, problem))


def clauses_of(clauses: Literals, problem: Problem) -> list[Truth]:
    """Return the clauses of an invariant as conditions on the state of a problem."""
    unknowns = {name: symbol for symbol, name in problem.names.items()}
    return [clause_of(clause, unknowns) for clause in clauses]


def executions_of(query: Query) -> str:
    """Return the executions that a query is about: their network, their start, and further conditions."""
    record = query.record()
    about = record["property"]
    parts = [record["model"], f"buffer {record['buffer']}", f"jitter {record['jitter']}", f"from {about['start']}"]
    return "; ".join(parts + ([f"given {about['given']}"] if about["given"] else []))


def require_expects(query: Query) -> Any:
    """Return the property of a query, which may restrict its executions only by their start, as the claim states."""
    about: Any = query.property
    name = definitions.chosen("properties", "EXPECTS")
    if query.names["property"] != name:
        raise InputError(f"the property is '{shown(str(query.names['property']))}'; expected '{name}'")
    if about.repeats or any(each.conditions for each in about.expectations):
        raise InputError("its executions repeat, or satisfy a condition after 'while'; expected all from a start")
    return about
