"""Executions that repeat themselves for ever, against what `worst --period` says of those: found by simulation.

A network whose choices repeat leads a controller that chooses nothing to a cycle. What a sender remembers as a place
among its bytes may move with them or stay where it is; all else has to be as it was a period before.
"""

from dataclasses import replace
from fractions import Fraction

from .path import Path
from .runs import NETWORKS, Run
from .worsts import BELIEVES, CAPPED_RENO, CONSTANT, KEEPS_QUEUE, LONG_DELAY, Case, is_worse, value, worst
from .writing import Written

ONE_PACKET = CAPPED_RENO.replace("8 * MSS", "MSS")

MARKS = """
window: bytes = above(0)
mark: bytes = anything()

def update(window, mark, acked, lost, MSS, R_m, step):
    if lost > lost[step]:
        mark = acked
        window = MSS
    elif acked - mark >= 4 * window:
        window = min(window + MSS, 4 * MSS)
    else:
        window = 2 * MSS

def send(window):
    return window
"""

LIMIT = """
window: bytes = above(0)
mark: bytes = anything()

def update(window, mark, sent, lost, delay, MSS, R_m, step):
    if lost > lost[step]:
        mark = sent
    window = 6 * MSS if delay > 9 * R_m else 2 * MSS

def send(window):
    return window
"""

GIVEN = "alpha == 1/10"

#: With the place that a controller remembers, which may stay where it is.
PERIODIC = tuple(
    (Case(f"{name}, period {period}", source, network, buffer, 2 * period + 1, of, period=period, given=GIVEN), places)
    for name, source, network, buffer, of, places in (
        ("eight packets, utilisation", CAPPED_RENO, "cbr_delay_windows", "infinite", "utilisation", ("recover",)),
        ("one packet, utilisation", ONE_PACKET, "ccac_windows", "infinite", "utilisation", ("recover",)),
        ("a long queue", KEEPS_QUEUE, "cbr_delay_windows", "infinite", "queue", ()),
        ("a long delay", LONG_DELAY, "ccac_windows", "infinite", "queue", ()),
        ("a mark", MARKS, "cbr_delay_windows", "1", "utilisation", ("mark",)),
        ("a limit", LIMIT, "ideal_windows", "infinite", "queue", ("mark",)),
        ("constant", CONSTANT, "cbr_delay_windows", "1/4", "utilisation", ()),
        ("constant loses", CONSTANT, "ccac_windows", "1/4", "loss", ()),
        ("beliefs", BELIEVES, "ccac_windows", "1", "utilisation", ()),
    )
    for period in (1, 2)
)

#: Of so many steps at the end each is as the one a period before: many times what any period keeps.
STEADY = 40


class PeriodicRun(Run):
    """A Run whose network repeats its choices every so many steps."""

    def __init__(self, case, seed):
        self.period = case.period
        buffer = None if case.buffer == "infinite" else Fraction(case.buffer)
        network = replace(NETWORKS[case.network])
        given = {"packet": Fraction(case.packet), "buffer": buffer, "D": network.D[0]}
        super().__init__(network, seed, 120, case.horizon, [Written(case.source)], **given)

    def _path(self, rng, wrong):
        holds = [Fraction(rng.randint(0, 2), 2) for _ in range(self.period)]
        hides = [Fraction(rng.randint(0, 1)) for _ in range(self.period)]
        return Path(
            self.network.kind,
            self.D,
            self.buffer,
            1,
            lambda n: hides[n % self.period],
            lambda n, flow: holds[n % self.period],
            lambda n: 0,
            lambda n: [0],
        )

    def repeats(self, places):
        """Whether its last steps are each as the one a period before, all that is kept included, positions aside."""
        path, (sender,), P, end = self.path, self.senders, self.period, self.path.now
        steps = range(end - STEADY, end + 1)
        counted = [path.A[0], path.S[0], path.L[0], path.K, sender.lost, sender.found]
        for column in counted:
            grown = {column[n] - column[n - P] for n in steps}
            if len(grown) > 1:
                return False
        kept = [name for name in sender.state[end] if name not in places]
        return all(
            sender.window[n] == sender.window[n - P]
            and sender.rate[n] == sender.rate[n - P]
            and all(sender.state[n][name] == sender.state[n - P][name] for name in kept)
            and path.A[0][n] - path.L[0][n] - path.S[0][n] == path.A[0][n - P] - path.L[0][n - P] - path.S[0][n - P]
            and path.wait(0, n) == path.wait(0, n - P)
            for n in steps
        )


def late_losses(window, period):
    """Whether a loss is found later than a period after it, which docs/limits.md leaves out."""
    L, Ld = window.columns["L"], window.columns["Ld"]
    return any(Ld[t] < L[t - period] for t in range(window.horizon - 1 - period, window.horizon))


def worse_for_ever(case, places, runs, seed=0):
    """Of so many runs (those that repeat themselves, those left out, the windows that are worse than any is said to be;
    of each its value)."""
    told = worst(case)
    repeat, left_out, found = 0, 0, []
    for number in range(runs):
        run = PeriodicRun(case, seed + number)
        if not run.repeats(places):
            continue
        window = run.window(run.path.now - 2 * case.period)
        if late_losses(window, case.period):
            left_out += 1
            continue
        repeat += 1
        bad = value(case, window)
        if is_worse(bad, told):
            found.append((window, bad))
    return repeat, left_out, found
