"""An oracle for `fit`: the least jitter of a small log, from the packets' laws alone, in exact numbers; and logs.

It shares no code with ccmatic: the laws of docs/reference/fit.md are written anew, and Z3 looks for the least D over
every link rate, every propagation delay, every queue before the log, and every choice of tokens.
"""

from dataclasses import dataclass
from fractions import Fraction
from random import Random

import z3

#: Z3's units of work for one query. They do not depend on the machine, so the same queries time out everywhere.
WORK = 400_000


@dataclass(frozen=True)
class Packets:
    """The behaviour of a link.

    Each packet has its arrival, its delivery (None: lost) in ms, and its bytes. `jitter` is D of the link in ms, and
    `propagation` is its propagation delay in ms.
    """

    sent: list
    delivered: list
    size: list
    jitter: Fraction
    propagation: int


def link_runs(seed, model, most=12):
    """Simulate a small link at random, with 5 to `most` packets. A third of the links have a buffer and may lose some.

    model: "cbr_delay", "ccac" or "varying"."""
    random = Random(f"{model} {seed}")
    per_byte, propagation = random.choice([1, 2, Fraction(1, 2)]), random.choice([0, 0, 1, 5])
    jitter, room = random.choice([0, 3, 9, 15]), random.choice([None, None, 8])
    run = Packets([], [], [], Fraction(jitter), propagation)
    now = latest = 0
    free = random.choice([0, 0, 4])  # when the link has served what it has, in ms
    for _ in range(random.randint(5, most)):
        now += random.choice([0, 0, 1, 2, 10])
        size = random.choice([1, 3, 6])
        run.sent.append(now)
        run.size.append(size)
        if room is not None and free - now > room * per_byte:
            run.delivered.append(None)
            continue
        faster = random.choice([1, Fraction(2, 3), Fraction(3, 4)]) if model == "varying" else 1
        kept = random.choice([0, jitter]) if model == "ccac" else 0  # tokens of an idle link, as old as D at most
        free = max(now - min(kept, max(0, now - free)), free) + size * per_byte * faster
        held = random.choice([0, Fraction(random.randint(0, jitter * 4), 4)])
        latest = max(latest, max(free, now) + propagation + held)
        run.delivered.append(Fraction(latest))
    return run


def least_jitter(run, model, clocks):
    """Return the least D in ms with which a link of the model leaves the packets; None if Z3 gives up.

    clocks: 1 if one clock noted both instants, so that propagation is at least 0; 2 if any constant may be between."""
    kept = [packet for packet in zip(run.sent, run.delivered, run.size, strict=True) if packet[1] is not None]
    per_byte, propagation, jitter, before = z3.Reals("x p D K0")
    laws, choices = [per_byte >= 0, jitter >= 0], []
    if clocks == 1:
        laws.append(propagation >= 0)
    for number, (sent, delivered, size) in enumerate(kept, 1):
        sent, delivered, size = (z3.RealVal(str(value)) for value in (sent, delivered, size))
        served, own = z3.Real(f"K{number}"), size * per_byte
        waits = z3.And(before >= sent, served <= before + own)
        choices.append((waits, z3.And(before <= sent, served <= sent + own)))
        laws += [propagation + served <= delivered, delivered <= propagation + served + jitter]
        if model == "cbr_delay":
            laws += [served >= sent + own, served >= before + own]
        else:
            fastest = z3.Q(2, 3) if model == "varying" else 1
            laws += [served >= before + own * fastest, propagation + sent <= delivered]
        before = served
    return _least(jitter, laws, choices)


def _least(jitter, laws, choices):
    """The least value of a term under laws: that of the choices of one solution, until no solution has less."""
    solver, best = z3.Solver(), None
    solver.set("rlimit", WORK)
    solver.add(*laws, *(z3.Or(*choice) for choice in choices))
    while (answer := solver.check()) == z3.sat:
        model, linear = solver.model(), z3.Optimize()
        linear.add(laws)
        linear.add([yes if z3.is_true(model.eval(yes, model_completion=True)) else no for yes, no in choices])
        least = linear.minimize(jitter)
        assert linear.check() == z3.sat
        best = Fraction(str(linear.lower(least)))
        solver.add(jitter < z3.RealVal(str(best)))
    return best if answer == z3.unsat else None
