"""The senders cc_probe_slow_k(f, T*): loss, convergence time and utilisation, and the bound of Theorem 6.1."""

from fractions import Fraction
from math import ceil, isqrt

from ccmatic.base import InputError
from ccmatic.records import FamilyLine
from ccmatic.tradeoffs.cycle import paths
from ccmatic.tradeoffs.probe_slow import JITTER, PROPAGATION, FluidLink, ProbeSlow, run

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


def points(allowances=ALLOWANCES, probes=PROBES, rate=1000, start=10, buffer=1):
    """Yield a FamilyLine for each allowance (a function from a rate to packets, by name) and each T*.

    The ramp is from C_0 (`start`) to C (`rate`), in packets per R_m, on a link with the buffer β_s as a time in R_m.
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
    """Return F⁻¹(C) and F⁻¹(C)·(R_m + β_s), by exact iteration of F."""
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
    return FamilyLine(
        "cc_probe_slow",
        name,
        probe,
        cycles,
        convergence,
        max(loss, loss_P2),
        used,
        used_P2,
        Fraction(allowance(rate)),
        round_trips,
        time,
    )


def _steady(sender, link):
    """Follow the steady state for some cycles. Return the largest loss of a probe so far, and the utilisation."""
    most, time, served = link.lost, link.time, link.served
    for _ in range(STEADY_CYCLES):
        most = max(most, sum(each.lost for each in run(sender, link)))
    return most, (link.served - served) / (link.rate * (link.time - time))


def markdown(points):
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
