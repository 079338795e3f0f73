"""The family cc_probe_slow_k(f, T*) on the plane of loss, convergence time and utilisation, beside Theorem 6.1's bound."""

from dataclasses import dataclass
from fractions import Fraction
from math import ceil, isqrt

from ccmatic.errors import InputError
from ccmatic.tradeoff.cycle import paths
from ccmatic.tradeoff.fluid import FluidLink
from ccmatic.tradeoff.probe_slow import JITTER, PROPAGATION, ProbeSlow, run

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

    loss: the most that a probe loses, at most 2·f(C). allowed: f(C). convergence: until the first loss is seen. utilisation, and
    utilisation_least: in the steady state on the link, and on the link that is worst of those it then cannot tell
    apart. round_trips: F⁻¹(C). bound: F⁻¹(C)·(R_m + β_s), before which no sender that risks f reaches C."""

    allowance: str
    probe: Fraction
    cycles: int
    loss: Fraction
    allowed: Fraction
    convergence: Fraction
    utilisation: Fraction
    utilisation_least: Fraction
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
    loss, utilisation = _steady(sender, link)
    worst = paths(sender.rate, sender.probe)["P2"]
    return Point(name, probe, cycles, loss, Fraction(allowance(rate)), convergence, utilisation,
                 _steady(sender, worst)[1], round_trips, time)


def _steady(sender, link):
    """The most that a probe loses, also before, and the share of the link that is used, over some cycles from now on."""
    most, time, served = link.lost, link.time, link.served
    for _ in range(STEADY_CYCLES):
        most = max(most, sum(each.lost for each in run(sender, link)))
    return most, (link.served - served) / (link.rate * (link.time - time))


def row(point):
    """As data for JSON; exact numbers as strings."""
    return {name: value if isinstance(value, int) else str(value) for name, value in vars(point).items()}


def markdown(found):
    """The points, Markdown."""
    lines = ["| f | T* (R_m) | loses (packets) | f(C) | sees a loss after (R_m) | the bound | times the bound "
             "| utilisation | at least |", "|" + "---|" * 9]
    for point in found:
        numbers = (point.probe, point.loss, point.allowed, point.convergence, point.bound,
                   point.convergence / point.bound, point.utilisation, point.utilisation_least)
        lines.append(f"| {point.allowance} | {' | '.join(f'{float(number):.4g}' for number in numbers)} |")
    return "\n".join(lines) + "\n"
