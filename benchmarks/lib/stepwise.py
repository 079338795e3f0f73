"""A sender with a window on a link of given rates, computed step by step in exact arithmetic.

The result is an execution of the model `smooth_windows`.
"""

from copy import copy
from fractions import Fraction

from ccmatic.contracts import CONDITION
from ccmatic.worlds.encoder import Encoder
from ccmatic.worlds.exact import ObservedNumber, ObservedTruth, UnknownNumber

COLUMNS = ("A", "S", "L", "Ld", "r", "cwnd", "Q", "G", "V", "found")


class Stepwise:
    """The execution of a sender so far. It begins with an empty link.

    If the controller leaves a choice, the sender takes the first option, or the middle of a range.

    Attributes:
        columns: The columns by name, as in a Trace.
    """

    def __init__(self, controller, decides, packet, buffer):
        """Begin an execution.

        Args:
            controller: The Stateful controller.
            decides: The first step in which the controller decides.
            packet: The packet size MSS in C·R_m.
            buffer: The buffer β in C·R_m.
        """
        self.controller, self.decides, self.packet, self.buffer = (
            controller,
            decides,
            Fraction(packet),
            Fraction(buffer),
        )
        self._constants = {"R_m": Fraction(1), "D": Fraction(0), "MSS": self.packet}
        encoder = Encoder({**self._constants, "step": Fraction(1), "line_rate": Fraction(100)}, None)
        begun = {memory.name: _number(encoder, memory) for memory in controller.state}
        self.columns = {name: [Fraction(0)] for name in COLUMNS} | {name: [value] for name, value in begun.items()}
        window, rate = self._sends()
        self.columns["cwnd"][0], self.columns["r"][0] = window or Fraction(1), rate

    def copy(self):
        """Return a copy of this execution that can continue differently."""
        made = copy(self)
        made.columns = {name: list(column) for name, column in self.columns.items()}
        return made

    def __len__(self):
        return len(self.columns["A"])

    def step(self, rate):
        """Compute the next step. `rate` is the link's rate in that step, in units of C."""
        x, rate, t = self.columns, Fraction(rate), len(self)
        before = x["G"][-1] - x["G"][-2] if t > 1 else rate
        x["G"].append(x["G"][-1] + rate)
        x["V"].append(x["V"][-1] + abs(rate - before))
        self._finds(x)
        for name, value in self._becomes(t).items():
            x[name].append(value)
        window, rate_sent = self._sends()
        allowed = x["A"][-1] + rate_sent if window is None else x["S"][-1] + x["Ld"][-1] + window
        x["cwnd"].append(window or max(self.packet, allowed - x["S"][-1] - x["Ld"][-1]))
        x["r"].append(rate_sent)
        x["A"].append(min(max(x["A"][-1], allowed), x["A"][-1] + rate_sent))
        came = x["A"][-1] - x["L"][-1]
        x["S"].append(min(x["S"][-1] + rate, came))
        x["L"].append(x["L"][-1] + max(Fraction(0), came - x["S"][-1] - self.buffer))
        self._measures(x)

    def used(self, begin):
        """Return the use of the link and the mean delay from a step on.

        Returns:
            Two numbers. The first number is the served bytes as a share of the bytes that the link could serve. The
            second number is the mean delay in R_m. By Little's law, this delay is the sum of the bytes that wait at the
            ends of steps, divided by the served bytes.
        """
        x = self.columns
        served = x["S"][-1] - x["S"][begin]
        waited = sum(self._admitted(t) - x["S"][t] for t in range(begin + 1, len(self)))
        return served / (x["G"][-1] - x["G"][begin]), waited / served if served else Fraction(0)

    def goes_on(self, columns):
        """Return a copy extended by the given columns of further steps. The copy recomputes the delays."""
        whole = self.copy()
        for name, column in whole.columns.items():
            column += columns[name] if name != "Q" else []
        while len(whole.columns["Q"]) < len(whole):
            whole._measures(whole.columns)
        return whole

    def _measures(self, x):
        """Add the delay measured in the next step: the waiting time of the last served byte in whole steps."""
        t = len(x["Q"])
        waited = next((k for k in range(t) if x["S"][t] > self._admitted(t - k - 1)), t)
        x["Q"].append(waited if x["S"][t] > x["S"][t - 1] else x["Q"][-1])

    def _admitted(self, t):
        return self.columns["A"][t] - self.columns["L"][t]

    def _finds(self, x):
        """Add the losses that the sender detects in the next step, by acknowledgements or by a timeout."""
        t, served = len(x["A"]), x["S"][-1]
        last = next((u for u in range(t - 1, -1, -1) if self._admitted(u) + 3 * self.packet <= served), None)
        x["found"].append(max(x["found"][-1], x["L"][last] if last is not None else 0))
        lost = x["L"][-1]
        self._timeout = served == self._admitted(t - 1) and x["Ld"][-1] < lost and x["found"][-1] < lost
        x["Ld"].append(lost if self._timeout else max(x["Ld"][-1], x["found"][-1]))

    def _becomes(self, t):
        """Return the state after the next step, by name."""
        names = [memory.name for memory in self.controller.state]
        before = {name: self.columns[name][-1] for name in names}
        if not names or t < self.decides:
            return before
        outcome = self.controller._program.outcome({**self._constants, **before, **self._observed(t)})
        if outcome is None:
            raise ArithmeticError(f"an assumption of {self.controller.name} fails in step {t}")
        return {name: _first(outcome[name]) for name in names}

    def _sends(self):
        """Return the pair (window, rate) for the latest state. The window is None if the sender has no window."""
        state = {memory.name: self.columns[memory.name][-1] for memory in self.controller.state}
        arguments = {**self._constants, **state, "line_rate": Fraction(100)}
        sent = dict(zip(self.controller.sent(), self.controller._program.sends(arguments), strict=True))
        return sent.get("window"), Fraction(sent.get("rate", 100))

    def _observed(self, t):
        """Return the sender's observations by step t, by name. `[d]` reads the observation d steps earlier."""
        x = self.columns
        reads = {
            "step": lambda t: Fraction(1),
            "line_rate": lambda t: Fraction(100),
            "time": lambda t: Fraction(t),
            "acked": lambda t: x["S"][t - 1],
            "ack_rate": lambda t: x["S"][t - 1] - x["S"][t - 2] if t >= 2 else None,
            "sent": lambda t: x["A"][t - 1],
            "lost": lambda t: x["Ld"][t],
            "served": lambda t: x["S"][t - 1],
            "delay": lambda t: x["Q"][t - 1] if x["S"][t - 1] else None,
            "measured": lambda t: t >= 2 and x["S"][t - 1] > x["S"][t - 2],
            "before_trace": lambda t: False,
            "timeout": lambda t: self._timeout,
            "app_limited": lambda t: False,
        }

        def observed(name, t):
            value = reads[name](t) if t >= 1 else None
            if value is None:
                return UnknownNumber(lambda more: observed(name, t - int(more)))
            return (ObservedTruth if isinstance(value, bool) else ObservedNumber)(
                value, lambda more: observed(name, t - int(more))
            )

        return {name: observed(name, t) for name in reads}


def _number(encoder, memory):
    """Return the initial value of a state variable."""
    if memory.unit == CONDITION:
        return Fraction(encoder.condition(memory.chosen))
    return Fraction(encoder.form(memory.chosen).constant)


def _first(options):
    """Return the middle of the first range of a state variable."""
    ends = [Fraction(end) for end in options.ranges[0] if end is not None]
    return sum(ends) / len(ends) if ends else Fraction(0)
