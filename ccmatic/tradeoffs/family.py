"""The family cc_probe_slow_k(f, T*): loss, convergence time and utilisation, beside Theorem 6.1's bound."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

from ccmatic.base import InputError
from ccmatic.tradeoffs.cycle import paths
from ccmatic.tradeoffs.fluid import FluidLink
from ccmatic.tradeoffs.probe_slow import JITTER, PROPAGATION, ProbeSlow, run

#: Loss allowances f that are exact, in packets; logarithm and root are rounded up.
ALLOWANCES = {
    "1": lambda rate: 1,
    "log2(C)": lambda rate: (ceil(rate) - 1).bit_length(),
    "sqrt(C)": lambda rate: isqrt(ceil(rate) - 1) + 1,
    "C/10": lambda rate: rate / 10,
    "C": lambda rate: rate,
}
PROBES = (Fraction(1, 4), Fraction(1), Fraction(4))

#: The most round trips of the bound, and for how many cycles the steady state is followed.
MOST_ROUND_TRIPS, STEADY_CYCLES = 1_000_000, 50


@dataclass(frozen=True)
class Point:
    """One of the family, in packets and R_m. allowance: its name. probe: T*. cycles: until the first loss is seen.

    convergence: until the first loss is seen. loss: the most that a probe loses, on the link or on P2, the corner of
    the belief set that is used least. utilisation, utilisation_P2: in the steady state on either. allowed: f(C).
    round_trips: F⁻¹(C). bound: F⁻¹(C)·(R_m + β_s), before which no sender that risks f reaches C."""

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
    """A Point for each allowance (a function from a rate to packets, by name) and T*: from C_0 = start to C = rate,
    packets per R_m, with β_s = buffer. Raises InputError."""
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
    """(F⁻¹(C), F⁻¹(C)·(R_m + β_s)), F by exact iteration. Raises InputError if F does not reach C."""
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
    """The most that a probe loses, also before, and the share of the link used, over some cycles from now on."""
    most, time, served = link.lost, link.time, link.served
    for _ in range(STEADY_CYCLES):
        most = max(most, sum(each.lost for each in run(sender, link)))
    return most, (link.served - served) / (link.rate * (link.time - time))


def markdown(points):
    """The points, Markdown."""
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
