"""The query of a training that ends with a proof: a TOML file."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path
from typing import Any

from ccmatic import controllers
from ccmatic.base import InputError, definitions, exact, load_toml, located, shown, suggest
from ccmatic.learning.envs import Environment, make_environment
from ccmatic.learning.provable.network import LOWER, UPPER, WAIT
from ccmatic.proving.invariants import Claim
from ccmatic.questions.query import Network, Query

#: The claims as users write them, such as `queue <= 8 bdp` and `utilisation >= 1/2 within 8`.
_CLAIM = re.compile(r"(\w+) *(<=|>=) *([\d./]+) *(%|bdp|)(?: +within +([\d./]+))?", re.ASCII)

#: The distance from the ends of an envelope that training keeps, in units of C_L.
MARGIN = 1 / 16

#: The number K of a utilisation without `within`: an interval of t steps lacks at most K·C·R_m of its share.
WITHIN = Fraction(8)


@dataclass(frozen=True)
class ProvableTraining:
    """A training of a network of ReLU units over beliefs, which ends with a proof."""

    name: str  #: the name of the file
    environment: Environment  #: the Environment. Its actions are rates
    proof: Mapping[str, Any]  #: of the section [proof]: the network, and the start of the executions
    claims: tuple[Claim, ...]
    scale: tuple[Fraction, Fraction] = (Fraction(16), Fraction(16))  #: Mbit/s, and R_m in ms, to repeat a violation
    envelope: str = "cc_qdel_wide"  #: the name of the envelope to which the training turns if a proof fails
    layers: tuple[int, ...] = (16,)  #: the number of units of each hidden layer
    generations: int = 300  #: the number of generations of each round
    links: int = 32  #: the number of links in a generation
    learning_rate: float = 0.02  #: Adam's learning rate
    rounds: int = 5  #: the largest number of rounds
    seconds: float = 60  #: the time limit of each proof
    #: lowest and highest C_L, each without and with a delay; None before a failure
    guard: tuple[Any, Any] | None = None

    def query(self, what: str = "queue <= 1 bdp", horizon: int = 4) -> Query:
        """Return the query about the network. Proofs use only the network and the start of the executions."""
        named = {name: str(self.proof[name]) for name in ("jitter",) if name in self.proof}
        model = str(self.proof.get("model", definitions.chosen("models", "WITH_JITTER")))
        buffer = str(self.proof.get("buffer", "infinite"))
        network = Network(model, buffer=buffer, horizon=horizon, **named)
        return Query(
            network,
            definitions.chosen("properties", "EXPECTS"),
            what=what,
            start=str(self.proof.get("start", "informed")),
            given="",
        )

    def guarded(self) -> "ProvableTraining":
        """Return the training whose networks keep inside the envelope."""
        envelope = controllers.load(self.envelope)
        sure = {LOWER: 1, UPPER: 2, "R_m": 1, "MSS": 0, "D": 1}
        at = [envelope.rates({**sure, WAIT: delay}) for delay in (0, 1)]
        lows, highs = [float(ends.low) + MARGIN for ends in at], [float(ends.high) - MARGIN for ends in at]
        return replace(self, guard=(lows, highs))


#: The keys of the sections [agent] and [proof].
AGENT = ("layers", "generations", "links", "learning_rate", "rounds")
PROOF = ("model", "buffer", "jitter", "start", "expect", "envelope", "seconds")


def load(file: str | Path) -> ProvableTraining:
    sections, _ = load_toml(file)
    with located(str(file)):
        _check_keys(sections)
        environment = make_environment({**sections.get("environment", {}), "act": "rate"})
        proof = dict(sections.get("proof", {}))
        expected = proof.pop("expect", ())
        if not isinstance(expected, list) or not expected:
            raise InputError(f"expect is {shown(expected)}; expected a list such as ['queue <= 8 bdp']")
        agent = sections.get("agent", {})
        layers = agent.get("layers", [16])
        if not isinstance(layers, list) or not layers or not all(type(n) is int and 0 < n <= 64 for n in layers):
            raise InputError(f"layers is {shown(layers)}; expected a list of whole numbers from 1 to 64, such as [16]")
        given = {**agent, **{name: proof[name] for name in ("envelope", "seconds") if name in proof}}
        training = ProvableTraining(
            Path(file).stem,
            environment,
            proof,
            tuple(map(claim, expected)),
            _scale(sections.get("environment", {})),
            **{**given, "layers": tuple(layers)},
        )
        for name in ("generations", "links", "rounds", "seconds", "learning_rate"):
            value = getattr(training, name)
            if isinstance(value, bool) or not isinstance(value, int | float) or not value > 0:
                raise InputError(f"{name} is {shown(value)}; expected a number above 0")
        return training


def claim(text: str) -> Claim:
    """Return the claim that a text such as `queue <= 8 bdp` or `utilisation >= 1/2 within 8` describes."""
    found = _CLAIM.fullmatch(str(text).strip())
    if not found:
        raise InputError(f"'{shown(text)}' is no claim; expected such as queue <= 8 bdp or utilisation >= 1/2 within 8")
    subject, relation, amount, unit, within = found.groups()
    k = exact(within) if within else WITHIN if subject == "utilisation" else None
    return Claim(subject, "<=" if relation == "<=" else ">=", exact(amount) / (100 if unit == "%" else 1), k)


def _scale(environment: Mapping[str, Any]) -> tuple[Fraction, Fraction]:
    values = (environment.get(name, 16) for name in ("rate", "rtt"))
    first = [value[0] if isinstance(value, list) else value for value in values]
    rate, rtt = (Fraction(value) if isinstance(value, int) else Fraction(16) for value in first)
    return rate, rtt


def _check_keys(sections: Mapping[str, Any]) -> None:
    known: dict[str, Sequence[str] | None] = {"environment": None, "agent": AGENT, "proof": PROOF}
    for section, keys in sections.items():
        if section not in known or not isinstance(keys, dict):
            raise InputError(f"unknown section [{section}]; {suggest(section, known)}")
        names = known[section]
        for key in keys if names is not None else ():
            if names is not None and key not in names:
                raise InputError(f"unknown key '{key}' in [{section}]; {suggest(key, names)}")
