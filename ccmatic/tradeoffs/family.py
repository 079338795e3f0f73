"""The senders cc_probe_slow_k(f, T*): loss, convergence time and utilisation, and the bound of Theorem 6.1."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

from ccmatic.base import InputError
from ccmatic.tradeoffs.cycle import paths
from ccmatic.tradeoffs.fluid import FluidLink
from ccmatic.tradeoffs.probe_slow import JITTER, PROPAGATION, ProbeSlow, run

#: Loss allowances f in packets, computed exactly. The logarithm and the square root are rounded up.
ALLOWANCES = {
    "1": lambda rate: 1,
    "log2(C)": lambda rate: (ceil(rate) - 1).bit_length(),
    "sqrt(C)": lambda rate: isqrt(ceil(rate) - 1) + 1,
    "C/10": lambda rate: rate / 10,
    "C": lambda rate: rate,
}
PROBES = (Fraction(1, 4), Fraction(1), Fraction(4))

#: The largest number of round trips in the bound, and the number of simulated cycles in the steady state.
MOST_ROUND_TRIPS, STEADY_CYCLES = 1_000_000, 50


@dataclass(frozen=True)
class Point:
    """One member of the family. Units are packets and R_m.

    Attributes:
        allowance: The name of the allowance f.
        probe: The probe duration T*.
        cycles: The number of cycles until the sender's first loss.
        convergence: The time until the sender's first loss.
        loss: The largest loss of a probe, on the actual link or on the link P2. Among the links that agree with the
            sender's beliefs, P2 is the one with the lowest utilisation.
        utilisation: The utilisation of the link in the steady state.
        utilisation_P2: The utilisation of P2 in the steady state.
        allowed: The allowed loss f(C).
        round_trips: The number of round trips F⁻¹(C).
        bound: The time F⁻¹(C)·(R_m + β_s). No sender that risks at most f reaches C before this time.
    """

    allowance: str
    probe: Fraction
    cycles: int
    convergence: Fraction
    loss: Fraction
    utilisation: Fraction
    utilisation_P2: Fraction
    allowed: Fraction
    round_trips: int
    bound: Fraction


def points(allowances=ALLOWANCES, probes=PROBES, rate=1000, start=10, buffer=1):
    """Yield a Point for each allowance and each T*, for a ramp from C_0 to C.

    Args:
        allowances: Functions from a rate to packets, by name.
        probes: The values of the probe duration T*, in R_m.
        rate: The final rate C, in packets per R_m.
        start: The initial rate C_0, in packets per R_m.
        buffer: The buffer β_s as a time, in R_m.

    Raises:
        InputError: If the numbers describe no ramp, or an allowance does not reach C.
    """
    rate, start, buffer = Fraction(rate), Fraction(start), Fraction(buffer)
    if not start < rate:
        raise InputError(f"C_0 is {start} and C is {rate}; expected C_0 < C")
    if not 0 < buffer <= JITTER:
        raise InputError(f"β_s is {buffer} R_m; expected above 0 and at most D = {JITTER} R_m")
    for name, allowance in allowances.items():
        round_trips, time = bound(allowance, rate, start, buffer)
        for probe in probes:
            yield _point(name, allowance, Fraction(probe), rate, start, buffer, round_trips, time)


def bound(allowance, rate, start, buffer):
    """Return F⁻¹(C) and F⁻¹(C)·(R_m + β_s), by exact iteration of F. Raise InputError if F does not reach C."""
    ramp, round_trips = Fraction(start), 0
    while ramp < rate:
        if round_trips == MOST_ROUND_TRIPS or allowance(ramp) <= 0:
            raise InputError(f"the allowance does not reach {rate} in {round_trips} round trips; expected more than 0")
        ramp += Fraction(allowance(ramp)) / buffer
        round_trips += 1
    return round_trips, round_trips * (PROPAGATION + buffer)


def _point(name, allowance, probe, rate, start, buffer, round_trips, time):
    sender, link = ProbeSlow(allowance, probe, start), FluidLink(rate, rate * buffer)
    cycles = 0
    while not link.lost:
        run(sender, link)
        cycles += 1
    convergence = link.time
    loss, used = _steady(sender, link)
    loss_P2, used_P2 = _steady(sender, paths(sender.rate, sender.probe)["P2"])
    allowed = Fraction(allowance(rate))
    return Point(name, probe, cycles, convergence, max(loss, loss_P2), used, used_P2, allowed, round_trips, time)


def _steady(sender, link):
    """Follow the steady state for some cycles. Return the largest loss of a probe so far, and the utilisation."""
    most, time, served = link.lost, link.time, link.served
    for _ in range(STEADY_CYCLES):
        most = max(most, sum(each.lost for each in run(sender, link)))
    return most, (link.served - served) / (link.rate * (link.time - time))


def markdown(points):
    """Return the points as a Markdown table."""
    lines = [
        "| f | T* (R_m) | loses (packets) | f(C) | sees a loss after (R_m) | the bound | times the bound "
        "| utilisation | on P2 |",
        "|" + "---|" * 9,
    ]
    for point in points:
        numbers = (
            point.probe,
            point.loss,
            point.allowed,
            point.convergence,
            point.bound,
            point.convergence / point.bound,
            point.utilisation,
            point.utilisation_P2,
        )
        lines.append(f"| {point.allowance} | {' | '.join(f'{float(number):.4g}' for number in numbers)} |")
    return "\n".join(lines) + "\n"
