"""The translation of a proof into statements about a path. No other code translates proofs.

A proof counts time in steps. A deployed controller takes a step every R_m + D: the shortest round trip plus the jitter.
The models have no separate propagation delay. So a proof for a jitter of J steps covers a path on which all delays
except queueing add up to at most J steps. On such a path a step lasts (R_m + D)/J. The quantity C(R_m + D) of the proof
is then the rate times 1 + J steps.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from itertools import groupby
from math import ceil, floor, inf, log10
from pathlib import Path
from textwrap import fill
from typing import Any

from ccmatic import controllers, records
from ccmatic.base import InputError, aligned, counted, definitions, located, parse_json, quantities, read_text
from ccmatic.contracts import Buffer, Proof, load_definition
from ccmatic.records import ProofFile

_SHIPPED = "results.proofs"


@dataclass(frozen=True)
class Result:
    """The content of one result file of a proof."""

    file: Path
    proof: Proof
    #: The name or the path of the proof's definition.
    definition: str
    controller: Any
    #: The horizon T, the number of points of a window, which spans T - 1 steps.
    horizon: int
    constants: Mapping[str, Fraction]
    verdicts: Mapping[str, str]


def read_result(file: str | Path, allow_code: bool = False) -> Result:
    """Read a result file. This function does not prove the numbers again; `ccmatic check` does."""
    file = definitions.find_file([_SHIPPED], file, ".json")
    with located(str(file)):
        data = parse_json(read_text(file), str(file))
        records.require_format(data, ProofFile)
        saved = records.convert(data, ProofFile, what="not a proof of ccmatic")
        proof = load_definition("proofs", "PROOF", saved.proof, allow_code)
        observations = load_definition("models", "MODEL", proof.model, allow_code).observations
        controller = controllers.parse(saved.controller.source, saved.controller.name, observations=observations)
    return Result(
        file=file,
        proof=proof,
        definition=saved.proof,
        controller=controller,
        horizon=saved.horizon,
        constants={name: constant.value for name, constant in saved.constants.items()},
        verdicts={answer.lemma: answer.verdict for answer in saved.lemmas},
    )


@cache
def shipped() -> tuple[Result, ...]:
    """Return the shipped results for controllers that read beliefs, on networks with jitter.

    In the models, the propagation of a path is part of the jitter. A network without jitter therefore describes no
    path. Results without constants give no bounds, so they are omitted. In a clone, `prove` also writes invariants and
    counterexamples to the folder of the shipped results.
    """
    files = (definitions.find_file([_SHIPPED], name, ".json") for name in definitions.shipped(_SHIPPED, ".json"))
    results = [read_result(file) for file in files if records.has_format(parse_json(read_text(file)), ProofFile)]
    of_beliefs = [made for made in results if made.constants and isinstance(made.controller, controllers.Controller)]
    return tuple(made for made in of_beliefs if made.proof.jitter)


def of_controller(
    controller: controllers.Controller, horizon: int | None = None, jitter: int | None = None
) -> Iterator[Result]:
    """Yield the shipped results for the text of a controller, whose name may differ."""
    for result in shipped():
        same = result.controller.body == controller.body
        if same and horizon in (None, result.horizon) and jitter in (None, result.proof.jitter):
            yield result


#: The models assume that a packet is smaller than this fraction of C·step.
LARGEST_PACKET = Fraction(1, 5)

#: The largest relative error of a float that stands for a whole number.
SLACK = Fraction(1, 10**9)


@dataclass(frozen=True)
class DeployedPath:
    """The known values of a path. None stands for an unknown value.

    If the rate or R_m is unknown, reports state bounds in multiples of one BDP, which is C·R_m.

    Attributes:
        jitter: D in R_m: the largest variation of delay that has causes other than queueing.
        rtt: R_m in seconds: the shortest round trip of a packet, including its own transmission time.
        rate: C in bytes per second.
        packet: MSS in bytes.
        buffer: The size of the buffer in C·R_m; math.inf if it never fills.
    """

    jitter: Fraction | float = Fraction(1)
    rtt: Fraction | float | None = None
    rate: Fraction | float | None = None
    packet: int | None = None
    buffer: Fraction | float | None = None

    @property
    def bdp(self) -> float | None:
        """C·R_m in bytes; None if the rate or R_m is unknown."""
        return None if self.rate is None or self.rtt is None else float(self.rate * self.rtt)


def _path(rtt: str | None, jitter: str | None, rate: str | None, buffer: str | None, mss: int | None) -> DeployedPath:
    seconds = None if rtt is None else quantities.duration(rtt)
    if seconds == 0:
        raise InputError(f"the rtt is '{rtt}'; expected more than 0")
    if jitter is not None and not seconds:
        raise InputError(f"the jitter is '{jitter}' of an unknown R_m; expected an rtt, such as 40ms")
    deployed = DeployedPath(
        jitter=Fraction(1) if jitter is None or seconds is None else quantities.duration(jitter) / seconds,
        rtt=seconds,
        rate=None if rate is None else quantities.rate(rate),
        packet=mss,
    )
    if buffer is None:
        return deployed
    if buffer == "infinite":
        return replace(deployed, buffer=inf)
    if deployed.bdp is None and not buffer.endswith("bdp"):
        raise InputError(f"the buffer is '{buffer}' of an unknown C·R_m; expected such as 2bdp")
    bdp = Fraction(deployed.bdp or 1)
    return replace(deployed, buffer=quantities.size(buffer, bdp) / bdp)


@dataclass(frozen=True)
class Guarantee:
    """The guarantee that a proof gives for a path. Bytes are in C·R_m. A bound is None if no bound is proved.

    Attributes:
        result: The result of the proof.
        path: The path.
        step: The length of a step in R_m.
        utilisation: The lowest share of C that the sender uses in any window, and so in the long run.
        inflight: The largest number of bytes in flight at the end of a step. The link serves C·R_m bytes per R_m, so
            the same number bounds the queueing time of every packet, in R_m.
        lost_in_step: The largest number of packets lost in a step.
        lossless_buffer: The smallest buffer with which no packet is lost.
        buffer: The smallest buffer that the proof requires; 0 if every buffer suffices.
        missing: The conditions of the proof that the path does not meet.
    """

    result: Result
    path: DeployedPath
    step: Fraction | float
    utilisation: Fraction | None
    inflight: Fraction | float | None
    lost_in_step: int | None
    lossless_buffer: Fraction | float | None
    buffer: Fraction | float
    missing: tuple[str, ...] = ()

    @property
    def window(self) -> int:
        return self.result.horizon - self.result.proof.common

    def bounds(self) -> str:
        """Return the guaranteed bounds in words."""
        return "; ".join(self._bounds())

    def conditions(self) -> str:
        """Return the conditions of the guarantee in words."""
        variation = load_definition("models", "MODEL", self.result.proof.model).variation
        rate = "the rate stays C" if variation == 1 else f"the rate stays between C and {float(variation):g}·C"
        conditions = [
            "the flow is alone and always has something to send",
            "its beliefs have converged",
            rate,
            f"the jitter is at most {self._time(self.path.jitter, up=False)}",
            f"a packet is smaller than {self._amount(LARGEST_PACKET * self.step, up=False)}",
        ]
        if self.buffer:
            conditions.append(f"the buffer holds at least {self._amount(self.buffer)}")
        return "; ".join(conditions)

    def sentence(self) -> str:
        """Return the guarantee in words: its bounds, the length of a step, and its conditions."""
        return f"{self.bounds()}. A step is {self._time(self.step)}. Required: {self.conditions()}."

    def record(self, controller: str, basis: str) -> Any:
        """Return the GuaranteeLine for a path whose rate is known."""
        bdp = self.path.bdp
        assert bdp is not None and self.path.rtt is not None
        inflight, lossless = (
            (None if amount is None else float(amount) * bdp) for amount in (self.inflight, self.lossless_buffer)
        )
        return records.GuaranteeLine(
            controller=controller,
            proof=self.result.file.stem,
            model=self.result.proof.model,
            basis=basis,
            jitter=float(self.path.jitter * self.path.rtt),
            rate=float(self.path.rate),
            step=float(self.step * self.path.rtt),
            utilisation=None if self.utilisation is None else float(self.utilisation),
            inflight=inflight,
            lost_in_step=self.lost_in_step,
            lossless_buffer=lossless,
            buffer=float(self.buffer) * bdp or None,
            covered=not self.missing,
            missing=list(self.missing),
            says=self.bounds(),
            conditions=self.conditions(),
        )

    def _bounds(self):
        if self.utilisation is not None:
            share = digits(100 * self.utilisation, up=False)
            yield f"at least {share} % of C is used in each window of {counted(self.window, 'step')}"
        if self.inflight is not None:
            queueing = f"a packet queues for at most {self._time(self.inflight)}"
            yield f"at most {self._amount(self.inflight)} are in flight, so {queueing}"
        if self.lost_in_step is not None:
            yield (
                f"at most {self.lost_in_step} packets are lost in a step" if self.lost_in_step else "no packet is lost"
            )
        elif self.lossless_buffer is not None:
            yield f"no packet is lost if the buffer holds {self._amount(self.lossless_buffer)}"

    def _time(self, rounds, up=True):
        """Return a time in words, rounded up or down. The time is given in R_m."""
        rtt = self.path.rtt
        return f"{digits(rounds, up)} R_m" if rtt is None else f"{digits(rounds * rtt * 1000, up)} ms"

    def _amount(self, of_bdp, up=True):
        """Return a number of bytes in words, rounded up or down. The number is given in C·R_m."""
        bdp, packet = self.path.bdp, self.path.packet
        text = f"{digits(of_bdp, up)} BDP"
        if bdp is None:
            return text
        packets = f", {digits(float(of_bdp) * bdp / packet, up)} packets" if packet else ""
        return f"{text} ({digits(float(of_bdp) * bdp, up)} bytes{packets})"


def guarantee(
    result: str | Path,
    *,
    rtt: str | None = None,
    jitter: str | None = None,
    rate: str | None = None,
    buffer: str | None = None,
    mss: int | None = None,
    allow_code: bool = False,
) -> Guarantee:
    """Translate a proof into a guarantee for a path: the share of the link, bytes, packets and milliseconds.

    `fit`, `emulate`, exported headers and policy files report the same guarantee. A deployed controller takes a step
    every R_m + D.

    Args:
        result: A result file of `prove`, or the name of a shipped result. Its numbers are trusted; `check` verifies
            them.
        rtt: R_m, the smallest round-trip time, such as "40ms". Without R_m, times are in R_m.
        jitter: D, such as "40ms". By default D is R_m.
        rate: C, such as "24mbit". Without C, bytes are in BDP, which is C·R_m.
        buffer: The size of the buffer, such as "2bdp", "30000" (bytes) or "infinite".
        mss: The size of a packet in bytes.
        allow_code: Whether to run the file that the result names as its proof. Otherwise only shipped proofs are
            accepted.

    Returns:
        The Guarantee. `sentence()` states the guarantee in words. `missing` lists the conditions that the path does not
        meet.

    Raises:
        InputError: If the file is no result, a quantity cannot be read, or the proof is for a network without jitter.

    Examples:
        >>> cm.guarantee("cc_qdel_T10", rate="24mbit", rtt="40ms", jitter="40ms").sentence()
    """
    return translate(read_result(result, allow_code), _path(rtt, jitter, rate, buffer, mss))


def translate(result: Result, path: DeployedPath) -> Guarantee:
    """Translate a proof into its guarantee on a path.

    All published bounds come from this function: the bounds in `fit`, `emulate`, `evaluate`, exported headers, policy
    files, README and docs.
    """
    proof, values = result.proof, result.constants
    if not proof.jitter:
        raise InputError(f"{result.file} is about a network without jitter, which is no path: every path delays")
    steps, window = proof.jitter, result.horizon - proof.common
    step = (1 + path.jitter) / steps
    rounds = (1 + steps) * step  # the proof's C(R_m + D), in C·R_m
    needed = Buffer.parse(proof.buffer)
    share, inflight, lossless, loss = map(values.get, ("utilisation", "inflight", "lossless_buffer", "loss"))
    most = None if inflight is None else inflight * rounds
    holds = (most or 0) if needed.kind == "infinite" else (needed.size or 0) * step
    lost = None if loss is None else int(loss)
    if lossless is not None and path.buffer is not None and path.buffer >= lossless * rounds:
        lost = 0
    made = Guarantee(
        result=result,
        path=path,
        step=step,
        utilisation=None if share is None else share * Fraction(window - steps, window),
        inflight=most,
        lost_in_step=lost,
        lossless_buffer=None if lossless is None else lossless * rounds,
        buffer=holds,
    )
    return replace(made, missing=tuple(_missing(made, needed)))


def _missing(made, needed):
    result, path = made.result, made.path
    for lemma in result.proof.all_lemmas(None):
        verdict = result.verdicts.get(lemma.name)
        if not lemma.paper and verdict != "holds":
            yield f"the lemma '{lemma.name}', which is {verdict or 'not decided'}"
    if needed.kind == "infinite" and made.inflight is None and path.buffer != inf:
        yield "a bound on the waiting bytes, which the buffer has to hold"
    if path.buffer is not None and path.buffer < made.buffer:
        yield f"a buffer of {made._amount(made.buffer)}; it holds {made._amount(path.buffer, up=False)}"
    if path.packet and path.bdp and path.packet >= LARGEST_PACKET * made.step * path.bdp:
        yield f"a step of more than five packets; it has {float(made.step * path.bdp / path.packet):.2g}"


def digits(number, up=True):
    """Return a number as text with four digits, or with all digits of its whole part. Rounding keeps a bound true."""
    if not number:
        return "0"
    unit = Fraction(10) ** min(0, floor(log10(abs(number))) - 3)
    count = Fraction(number) / unit
    whole = ceil(count * (1 - SLACK)) if up else floor(count * (1 + SLACK))
    return f"{float(whole * unit):.15g}"


#: The width of a terminal of the usual size.
WIDTH = 80


def text(lines: Iterable[Any]) -> str:
    """Return GuaranteeLines of a controller as text: a table for each path, and the conditions of the best guarantee.

    Covered paths come first. The best guarantee has the largest utilisation, and then the shortest queueing delay.
    """
    ranked = sorted(lines, key=_rank)
    best, more = ranked[0], "The other guarantees have conditions of their own, which --json states."
    parts = []
    for (basis, missing), rows in groupby(ranked, lambda line: (line.basis, line.missing)):
        verdict = "not covered; what is missing:" if missing else "covered, the best guarantee first:"
        parts.append(f"{best.controller}, {f'{basis}: ' if basis else ''}{verdict}")
        parts += [fill(each, WIDTH, initial_indent="- ", subsequent_indent="  ") for each in missing]
        table = [row for row in rows if row.step is not None]
        parts += _table(table) if table else []
        if best in table:
            means = (
                f"{'With that, ' if missing else ''}{best.proof} ({best.model}), in steps of {best.step * 1000:.4g} ms"
            )
            required = f"{best.says}. Required: {best.conditions}. {more if len(ranked) > 1 else ''}"
            parts.append(fill(f"{means}: {required}", WIDTH))
    return "\n".join(parts)


def _rank(line: Any) -> tuple[Any, ...]:
    queueing = inf if line.inflight is None else line.inflight / line.rate
    return not line.covered, line.basis or "", line.missing, -(line.utilisation or 0), queueing


def _table(lines: list[Any]) -> list[str]:
    """Return the bounds of guarantees. They are rounded so that they stay true."""
    columns = {
        "D ms": [digits(1000 * line.jitter, up=False) for line in lines],
        "C used": ["-" if not line.utilisation else f"{digits(100 * line.utilisation, up=False)}%" for line in lines],
        "queue ms": ["-" if line.inflight is None else digits(1000 * line.inflight / line.rate) for line in lines],
        "buffer kB": ["any" if line.buffer is None else digits(line.buffer / 1000) for line in lines],
        "lost/step": ["-" if line.lost_in_step is None else str(line.lost_in_step) for line in lines],
    }
    told = {head: cells for head, cells in columns.items() if {*cells} != {"-"}}
    return aligned([("proof", *told), *zip((line.proof for line in lines), *told.values(), strict=True)], left=1)
