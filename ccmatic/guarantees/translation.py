"""The one translation of a proof into statements about a path.

A proof counts in steps. A deployed step is R_m + D: the least round trip and the jitter. In the models nothing
propagates, so a proof for a jitter of J steps covers a path whose delay, but for queueing, is at most J steps. Each of
its steps is then (R_m + D)/J long. A proof's C(R_m + D) is the rate times 1 + J steps.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil, floor, inf, log10
from typing import Any

from ccmatic import records
from ccmatic.base import InputError, quantities
from ccmatic.contracts import Buffer, load_definition
from ccmatic.guarantees.results import Result

#: A packet of the models is smaller than this share of C times a step.
LARGEST_PACKET = Fraction(1, 5)

#: The relative error of floats that stand for whole numbers, at most.
SLACK = Fraction(1, 10**9)


@dataclass(frozen=True)
class DeployedPath:
    """A path, as far as it is known. None: unknown; bounds are then reported in multiples of C·R_m, which is a BDP.

    Attributes:
        jitter: D in R_m: by how much the delay may vary, but for queueing.
        rtt: R_m in seconds: the least round trip of a packet, with its own transmission time.
        rate: C in bytes per second.
        packet: MSS in bytes.
        buffer: The size of the buffer in C·R_m; math.inf: it never fills.
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


def path(
    *,
    rtt: str | None = None,
    jitter: str | None = None,
    rate: str | None = None,
    buffer: str | None = None,
    mss: int | None = None,
) -> DeployedPath:
    """Return the DeployedPath of quantities as people write them; see `ccmatic.api.guarantee`. Raises InputError."""
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
    bdp = Fraction(deployed.bdp or 10**9)
    return replace(deployed, buffer=quantities.size(buffer, bdp) / bdp)


@dataclass(frozen=True)
class Guarantee:
    """What a proof says of a path. Amounts of bytes are in C·R_m. None: the proof says nothing about it.

    Attributes:
        result: The result of the proof.
        path: The path.
        step: The length of a step in R_m.
        utilisation: The share of C that is used, at least, in every window and so in the long run.
        inflight: The bytes in flight, at most, at the end of each step. The link serves them in this many R_m, so a
            packet queues no longer.
        lost_in_step: The packets lost in a step, at most.
        lossless_buffer: The buffer from which on no packet is lost.
        buffer: The buffer that the proof requires; 0 if any will do.
        missing: Conditions that the proof requires and the path does not meet.
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
        """The steps of a window."""
        return self.result.horizon - self.result.proof.common

    def bounds(self) -> str:
        """Return what is guaranteed, in words."""
        return "; ".join(self._bounds())

    def conditions(self) -> str:
        """Return what must be so for the guarantee to hold, in words."""
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
        """Return the GuaranteeLine for a path of known rate. basis: where the path was taken from."""
        bdp = self.path.bdp
        assert bdp is not None and self.path.rtt is not None
        inflight, lossless = (
            (None if each is None else float(each) * bdp) for each in (self.inflight, self.lossless_buffer)
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
            share = _digits(100 * self.utilisation, up=False)
            yield f"at least {share} % of C is used in each window of {self.window} steps"
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
        """A time that is given in R_m, in words, rounded up, or down."""
        rtt = self.path.rtt
        return f"{_digits(rounds, up)} R_m" if rtt is None else f"{_digits(rounds * rtt * 1000, up)} ms"

    def _amount(self, of_bdp, up=True):
        """Bytes that are given in C·R_m, in words, rounded up, or down."""
        bdp, packet = self.path.bdp, self.path.packet
        said = f"{_digits(of_bdp, up)} BDP"
        if bdp is None:
            return said
        packets = f", {_digits(float(of_bdp) * bdp / packet, up)} packets" if packet else ""
        return f"{said} ({_digits(float(of_bdp) * bdp, up)} bytes{packets})"


def translate(result: Result, path: DeployedPath) -> Guarantee:
    """Translate a proof into what it says of a path.

    All published bounds come from here: those of `fit`, `emulate`, `evaluate`, exported headers, policy files, README
    and docs.

    Args:
        result: The result of the proof, which is about a network with jitter.
        path: The path. What is unknown of it stays a condition.

    Returns:
        The Guarantee. Its `missing` lists the conditions that the path does not meet; if it lists any, the bounds hold
        only where those are met.

    Raises:
        InputError: The proof is about a network without jitter.
    """
    proof, values = result.proof, result.constants
    if not proof.jitter:
        raise InputError(f"{result.file} is about a network without jitter, which is no path: every path delays")
    steps, window = proof.jitter, result.horizon - proof.common
    step = (1 + path.jitter) / steps
    rounds = (1 + steps) * step  # a proof's C(R_m + D), in C·R_m
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


def sentence(line: Any) -> str:
    """Return a GuaranteeLine in words: which proof, on which path, whether it covers it, and with which bounds."""
    named = f"{line.controller}, {line.proof}" if line.proof else line.controller
    missing = "; ".join(line.missing)
    if line.step is None:
        return f"{named}: not covered; what is missing: {missing}"
    jitter, step = (f"{each * 1e3:.4g} ms" for each in (line.jitter, line.step))
    verdict = f"not covered; what is missing: {missing}. With that" if missing else "covered"
    about = f"{named} ({line.model}), {line.basis}, D {jitter}, in steps of {step}"
    return f"{about}: {verdict}: {line.says}. Required: {line.conditions}"


def _missing(made, needed):
    result, path = made.result, made.path
    for lemma in result.proof.all_lemmas(None):
        verdict = result.verdicts.get(lemma.name)
        if not lemma.paper and verdict != "holds":
            yield f"the lemma '{lemma.name}', which is {verdict or 'not decided'}"
    if needed.kind == "infinite" and made.inflight is None and path.buffer != inf:
        yield "a bound of what waits, which the buffer has to hold"
    if path.buffer is not None and path.buffer < made.buffer:
        yield f"a buffer of {made._amount(made.buffer)}; it holds {made._amount(path.buffer, up=False)}"
    if path.packet and path.bdp and path.packet >= LARGEST_PACKET * made.step * path.bdp:
        yield f"a step of more than five packets; it is of {float(made.step * path.bdp / path.packet):.2g}"


def _digits(number, up=True):
    """A number in words: in four digits, or in all of its whole ones, so that a bound stays true."""
    if not number:
        return "0"
    unit = Fraction(10) ** min(0, floor(log10(abs(number))) - 3)
    count = Fraction(number) / unit
    whole = ceil(count * (1 - SLACK)) if up else floor(count * (1 + SLACK))
    return f"{float(whole * unit):.15g}"
