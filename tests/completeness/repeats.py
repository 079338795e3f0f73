"""Periodic executions from simulation, against the results of `worst --period`.

A network with periodic choices leads a deterministic controller into a cycle. Byte positions in a sender's state may
move with its bytes or stay. Everything else must be as it was a period before.
"""

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

PERIODIC = tuple(
    Case(
        f"{name}, period {period}",
        source,
        network,
        buffer,
        2 * period + 1 + 4 * (source is BELIEVES),
        of,
        period=period,
        given=GIVEN,
    )
    for name, source, network, buffer, of in (
        ("eight packets, utilisation", CAPPED_RENO, "cbr_delay_windows", "infinite", "utilisation"),
        ("one packet, utilisation", ONE_PACKET, "ccac_windows", "infinite", "utilisation"),
        ("a long queue", KEEPS_QUEUE, "cbr_delay_windows", "infinite", "queue"),
        ("a long delay", LONG_DELAY, "ccac_windows", "infinite", "queue"),
        ("a mark", MARKS, "cbr_delay_windows", "1", "utilisation"),
        ("a limit", LIMIT, "ideal_windows", "infinite", "queue"),
        ("constant", CONSTANT, "cbr_delay_windows", "1/4", "utilisation"),
        ("constant loses", CONSTANT, "ccac_windows", "1/4", "loss"),
        ("beliefs", BELIEVES, "ccac_windows", "1", "utilisation"),
    )
    for period in (1, 2)
)

#: Of so many steps at the end each is as the one a period before: many times what any period keeps.
STEADY, STEPS = 40, 90


class PeriodicRun(Run):
    """A Run whose network repeats its choices periodically."""

    def __init__(self, network, period, seed, horizon, written=None, **given):
        self.period = period
        super().__init__(network, seed, STEPS, horizon, written, **given)

    def _path(self, rng, wrong):
        P, flows = self.period, self.network.flows
        holds = [[Fraction(rng.choice((0, 0, 1, 2, 2)), 2) for _ in range(flows)] for _ in range(P)]
        hides = [Fraction(rng.randint(0, 1)) for _ in range(P)]
        orders = [rng.sample(range(flows), flows) for _ in range(P)]
        return Path(
            self.network.kind,
            self.D,
            self.buffer,
            flows,
            lambda n: hides[n % P],
            lambda n, flow: holds[n % P][flow],
            lambda n: 0,
            lambda n: orders[n % P],
            self.network.own_boxes,
        )

    def _before_sending(self):
        for flow, sender in enumerate(self.senders):
            sender.seeds = lambda n, flow=flow: hash((self.seed, flow, n % self.period))

    def repeats(self, places=None):
        """Whether its last steps are each as the one a period before, all that is kept included. State that is a place
        among bytes may stay or move on, by the same in each period. places: names of such state; None: any bytes."""
        path, P, end = self.path, self.period, self.path.now
        steps = range(end - STEADY, end + 1)
        counted = [path.K]
        for flow, sender in enumerate(self.senders):
            counted += [path.A[flow], path.S[flow], path.L[flow], sender.lost, sender.found]
            for name, (unit, _) in sender.program.state.items():
                if unit == "bytes" and (places is None or name in places):
                    counted.append([each[name] for each in sender.state])
        if any(
            len({column[n] - column[n - P] for n in steps if n % P == m}) > 1 for column in counted for m in range(P)
        ):
            return False
        return all(self._is_as_before(flow, n) for flow in path.flows for n in steps)

    def _is_as_before(self, flow, n):
        path, sender, P = self.path, self.senders[flow], self.period
        then, now = ({k: v for k, v in sender.state[m].items() if not self._is_place(sender, k)} for m in (n - P, n))
        steps = [waited and waited[0] for waited in (path.wait(flow, n), path.wait(flow, n - P))]
        waits = path.admitted(flow, n) - path.S[flow][n], path.admitted(flow, n - P) - path.S[flow][n - P]
        same = sender.window[n] == sender.window[n - P] and sender.rate[n] == sender.rate[n - P]
        return same and then == now and waits[0] == waits[1] and steps[0] == steps[1]

    def _is_place(self, sender, name):
        return name in sender.program.state and sender.program.state[name][0] == "bytes"

    def last_window(self):
        """The window that ends with the run."""
        return self.window(self.path.now - self.horizon + 1)


def worse_for_ever(case, runs, seed=0):
    """Return how many of the runs are periodic, and each (window, value) worse than the reported worst value."""
    told, repeat, found = worst(case), 0, []
    buffer = None if case.buffer == "infinite" else Fraction(case.buffer)
    network = NETWORKS[case.network]
    for number in range(runs):
        given = {"packet": Fraction(case.packet), "buffer": buffer, "D": network.D[0]}
        run = PeriodicRun(network, case.period, seed + number, case.horizon, [Written(case.source)], **given)
        if run.repeats():
            repeat += 1
            bad = value(case, run.last_window())
            if is_worse(bad, told):
                found.append((run.last_window(), bad))
    return repeat, found
