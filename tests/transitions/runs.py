"""Executions of a row's controller: the network's choices are random, or chosen to harm."""

import random
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path as File

from completeness.path import Path
from completeness.sender import Impossible, RateSender, WindowSender

ZERO = Fraction(0)

#: The steps of an execution.
STEPS = 14

#: The steps of the shortest execution. An execution ends before a step that its controller assumes not to occur.
LEAST = 6


class Sender(WindowSender):
    """A sender that always has something to send, and whose execution begins at step 0.

    Args:
        first: The first step at which it decides. Before, it lacks an observation.
        about: As in WindowSender.
    """

    def __init__(self, first, *about):
        self._first = first
        super().__init__(*about)
        self.constants["app_limited"] = False

    def _updated(self, n, begin=0):
        return self.state[n - 1] if n < self._first else super()._updated(n, begin)

    def _observed(self, name, n):
        if name == "before_trace":
            return self._acked(n) < self.path.admitted(self.flow, 0)
        return super()._observed(name, n)


class OracleSender(Sender):
    """A sender that detects each loss a step later. If nothing is in flight, its timer may fire before."""

    def _find(self, n):
        A, L, S = (getattr(self.path, name)[self.flow] for name in "ALS")
        self.found.append(self.rng.choice((ZERO, L[n - 1])))
        empty = S[n - 1] == A[n - 1] - L[n - 1]
        self.timeouts.append(empty and self.lost[-1] < L[n - 1] and self.found[-1] < L[n - 1])
        self.lost.append(L[n - 1])


@dataclass(frozen=True)
class Choices:
    """The choices of a network.

    Attributes:
        hide: For each step, the share of unused tokens that the link keeps.
        hold: For each step, the share of the bytes which could leave that leave.
        seed: The seed of all else: the packets, the first state, and what laws leave open to the controller.
    """

    hide: tuple[Fraction, ...]
    hold: tuple[Fraction, ...]
    seed: int

    @staticmethod
    def drawn(seed):
        """Return random choices, often extreme ones."""
        rng = random.Random(seed)
        shares = [Fraction(n, 4) for n in rng.choice(((0, 4), (0, 0, 0, 4), (0, 4, 4, 4), (0, 1, 2, 3, 4)))]
        hide, hold = (tuple(rng.choice(shares) for _ in range(STEPS + 2)) for _ in range(2))
        return Choices(hide, hold, seed)

    def changed(self, rng):
        """Return these choices with a few others."""
        columns = [list(self.hide), list(self.hold)]
        for _ in range(rng.randint(1, 3)):
            column = rng.choice(columns)
            column[rng.randrange(len(column))] = Fraction(rng.choice((0, 0, 1, 1, Fraction(1, 2))))
        return replace(self, hide=tuple(columns[0]), hold=tuple(columns[1]))


@dataclass(frozen=True)
class Execution:
    """An execution as exact columns.

    Attributes:
        columns: The columns by name. Q is the delay of the last served byte in whole steps; None if it is unknown.
        packet: MSS.
        buffer: The buffer, or None.
    """

    columns: dict
    packet: Fraction
    buffer: Fraction | None

    @property
    def steps(self):
        """The number of steps, with the first one."""
        return len(self.columns["A"])


@dataclass(frozen=True)
class Subject:
    """A row's controller.

    Attributes:
        source: Its source.
        first: The first step at which it decides; 0 for a sender by a rate.
    """

    source: str
    first: int = 0

    @staticmethod
    def of(row):
        """Return the Subject of a row."""
        query = row.query()
        controller = query.controller(row.controller)
        source = File(controller.file).read_text()
        if not row.by_window:
            return Subject(source)
        return Subject(source, controller.first_decision(query.execution(state=controller.state).flows[0]))


def run(row, subject, choices, informed=True):
    """Return an execution; None if the controller has none with these choices.

    Args:
        row: The Row.
        subject: Its controller.
        choices: The Choices.
        informed: Whether the execution begins as the claims assume.
    """
    rng = random.Random(f"{row} {choices.seed}")
    buffer = None if row.buffer == "infinite" else Fraction(row.buffer)
    packet = Fraction(rng.choice(row.packets))
    kind = "cbr" if row.model.startswith("cbr") else "ccac"
    path = Path(
        kind, row.D, buffer, 1, lambda n: choices.hide[n], lambda n, flow: choices.hold[n], lambda n: 0, lambda n: [0]
    )
    try:
        simulate = _by_windows if row.by_window else _by_rates
        return Execution(simulate(row, subject, path, packet, rng, informed), packet, buffer)
    except Impossible:
        return None


def _by_rates(row, subject, path, packet, rng, informed):
    path.step([ZERO if informed else Fraction(rng.choice((0, 1, 2, 5)))])
    sender = RateSender(subject.source, path, packet, row.model, rng)
    first = sender.beliefs[-1]
    if informed:
        first["C_L"] = max(first["C_L"], Fraction(rng.choice((3, 4, 6)), 6))
    for _ in range(STEPS):
        path.step([sender.decide()])
        sender.look()
    waits = [path.wait(0, n) for n in range(1, path.now + 1)]
    served = path.S[0][1]
    columns = {name: [each - served for each in getattr(path, name)[0][1:]] for name in "AS"}
    columns |= {
        "L": path.L[0][1:],
        "K": [each - served for each in path.K[1:]],
        "r": sender.rate[1:],
        "Ld": path.L[0][:-1],
        "Q": [w and w[0] for w in waits],
    }
    beliefs = sender.beliefs[1:]
    return columns | {name: [each[name] for each in beliefs] for name in ("C_L", "qdel_L")}


def _by_windows(row, subject, path, packet, rng, informed):
    kind = OracleSender if "oracle" in row.model else Sender
    sender = kind(subject.first, subject.source, path, 0, 1, packet, rng, False)
    if "window" in sender.state[0]:
        size = rng.choice((1, 2, 5, 10)) if informed else rng.choice((1, 7, 30, 90))
        sender.state[0]["window"] = size * packet
        sender.window.clear()
        sender.rate.clear()
        sender._send(sender.state[0], 0)
    for _ in range(STEPS):
        lost = path.step([sender.decide()])
        sender.sent([(position, bytes_) for _, position, bytes_ in lost])
    steps = sender.assumed.index(False) if False in sender.assumed else STEPS + 1
    if steps < LEAST:
        raise Impossible
    columns = {name: getattr(path, name)[0] for name in "ALS"}
    columns |= {"W": [t - K for t, K in enumerate(path.K)], "Ld": sender.lost, "found": sender.found}
    columns |= {"cwnd": sender.window, "r": sender.rate, "time": [Fraction(t) for t in range(STEPS + 1)]}
    columns |= {"Q": [(w := path.wait(0, n)) and w[0] for n in range(STEPS + 1)]}
    columns |= {name: [each[name] for each in sender.state] for name in sender.program.state}
    return {name: column[:steps] for name, column in columns.items()}
