"""The laws of links that delay packets (docs/reference/fit.md), as formulas of unknowns; and logs of simulated runs."""

from fractions import Fraction
from random import Random

import numpy as np

from ccmatic.contracts import load_definition
from ccmatic.fitting import least, packet_log
from ccmatic.fitting.log import NEVER
from ccmatic.logic import every, real, some
from ccmatic.logic.solving import SAT, Checker
from ccmatic.networks.simulation import HIDING, JITTER, Path, simulate

#: Nanoseconds in a tick of the simulator.
TICK = 1000


def may_be(model, log, jitter):
    """Whether some link of the model, by its name, with this jitter, in seconds, leaves the log: by the solver."""
    model = load_definition("models", "MODEL", model)
    checker = Checker()
    per_byte, propagation = real("x"), real("p")
    checker.add(per_byte >= 0)
    before = real("K_0")
    kept = np.flatnonzero(~log.lost)
    if not log.two_clocks:
        early = Fraction(log.early or 0, 10**9)
        own = per_byte * (0 if log.early is None else int(log.size.max()))
        checker.add(propagation + own >= -early)
    for i, packet in enumerate(kept.tolist(), 1):
        delivered = Fraction(int(log.delivered[packet]), 10**9)
        own, through = per_byte * int(log.size[packet]), real(f"K_{i}")
        fixed = model.name == "cbr_delay"
        checker.add(through - own / model.variation >= before)
        if log.sent[packet] == NEVER:
            checker.add(through - own <= before)
        else:
            sent = Fraction(int(log.sent[packet]), 10**9)
            checker.add(some(through - own <= sent, through - own <= before))
            checker.add(through - own >= sent if fixed else sent + propagation <= delivered)
        checker.add(every(through + propagation <= delivered, delivered <= through + propagation + jitter))
        before = through
    return checker.check() == SAT


def simulated(model, seed, bdp, steps, fewest=1):
    """Return a run with random rates (at least some packets per step), buffer, jitter and hidden tokens."""
    random = Random(f"{model} {seed}")
    jitter, room = random.randint(1, 2), random.choice([None, None, 2 * bdp, bdp])
    path = Path(model, rate=bdp, jitter=jitter, buffer=room)
    counts = [random.choice([fewest, bdp - 1, bdp, bdp + 1, 2 * bdp]) for _ in range(steps)]
    return simulate(
        path,
        lambda seen: counts[seen.step],
        steps,
        seed=seed,
        initial_queue=random.choice([0, 0, bdp]),
        jitter=random.choice(sorted(JITTER)),
        hiding=random.choice(sorted(HIDING)),
    )


def logged(run):
    """The log of a run, of packets that it lost or delivered. Its link lets whole packets through at once."""
    decided = run.lost | (run.released <= run.steps * run.path.step)
    delivered = np.where(run.lost, NEVER, run.released * TICK)
    size = np.full(len(run.sent), run.path.packet)
    return packet_log("a run", run.sent[decided] * TICK, delivered[decided], size[decided], early=0)


def whole(log, model):
    """The least jitter of all of a log, in seconds, on the link of a model, by its name; and the rate that gives it."""
    kept = log.kept()
    stretch = np.array([0]), np.array([len(kept.sent)])
    jitter, rate = least(kept, load_definition("models", "MODEL", model), *stretch)
    return jitter[0], rate[0]
