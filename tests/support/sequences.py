"""Random sequences of observations, and what a controller with state makes of them, by formula, Python and C."""

from fractions import Fraction
from itertools import accumulate
from math import floor

from ccmatic.base import CONDITION
from ccmatic.compilers.c.update import ONE, kept
from ccmatic.contracts import Flow
from ccmatic.contracts.buffer import Buffer
from ccmatic.contracts.execution import Windows
from ccmatic.contracts.steps import Delay, Steps
from ccmatic.language.stateful import Step, program
from ccmatic.runtime.stateful_library import Seen
from support.laws import cbrt, laws_in, that_follows_laws

PACKET, HORIZON = 1500, 8
#: The first step by which it is observed.
FROM = {"acked": 1, "served": 1, "sent": 1, "delay": 1, "waited": 1, "measured": 2, "ack_rate": 2}
CONSTANTS = {
    **dict.fromkeys(("R_m", "D", "step", "second"), Fraction(1)),
    "MSS": Fraction(PACKET),
    "line_rate": Flow.unlimited,
}
MORE = (0, 0, 1, PACKET, PACKET, 2 * PACKET, 20 * PACKET)


class Sequence:
    """What a sender may see from its beginning on, R_m being a step, consistent or not: A, S, L, Ld, and delays, of
    which HORIZON is none. Bytes grow."""

    def __init__(self, rng):
        self.A, self.S, self.L, self.Ld = (
            list(accumulate([0, *(rng.choice(MORE) for _ in range(HORIZON - 1))])) for _ in range(4)
        )
        if rng.random() < 0.3:  # so that timeouts fire
            self.S = list(accumulate((a - lost for a, lost in zip(self.A, self.L, strict=True)), max))
        self.Q = [rng.choice((HORIZON, *range(t))) for t in range(HORIZON)]
        self.apart = [rng.randrange(-4095, 4096) for _ in range(HORIZON)]
        self.seen = [self._seen(t) for t in range(HORIZON)]
        self._known = {}

    def _seen(self, t):
        """What an exported sender is told at the end of step t."""
        then = max(0, t - 1)
        return Seen(
            acked=self.S[then],
            lost=self.Ld[t],
            sent=self.A[then],
            admitted=self.A[t] - self.L[t],
            time=t,
            delay=-1 if self.Q[then] == HORIZON else self.Q[then],
            timeout=self.S[then] < self.A[then] and self.S[then] == self.A[then] - self.L[then],
            measured=then > 0 and self.S[then] > self.S[then - 1],
            waited=0 if self.Q[then] == HORIZON else max(0, 4096 * self.Q[then] + self.apart[then]),
        )

    def arguments(self, t, names):
        """What the controller's own Python reads then, of these names."""
        return {name: CONSTANTS[name] if name in CONSTANTS else self._observed(name, t) for name in names}

    def _observed(self, name, t):
        if (name, t) not in self._known:
            self._known[name, t] = self._read(name, t)
        return self._known[name, t]

    def _read(self, name, t):
        def before(back):
            return self._observed(name, t - int(back))

        if name == "before_trace":
            return program.SeenTruth(False, before)
        if t < FROM.get(name, 0) or (name in ("delay", "waited") and self.seen[t].delay < 0):
            return program.Unmeasured(before)
        if name == "ack_rate":
            return program.Seen(self.seen[t].acked - self.seen[t - 1].acked, before)
        if name == "waited":
            return program.Seen(Fraction(self.seen[t].waited, 4096), before)
        value = getattr(self.seen[t], "acked" if name == "served" else name)
        if name in ("timeout", "measured"):
            return program.SeenTruth(bool(value), before)
        return program.Seen(value, before)

    def view(self, controller):
        """The same as an execution that laws are read from."""
        columns = {name: Steps(map(Fraction, getattr(self, name))) for name in ("A", "S", "L", "Ld")}
        nothing = Steps([Fraction(0)] * HORIZON)
        made = Flow(
            horizon=HORIZON,
            D=1,
            alpha=Fraction(PACKET),
            known=True,
            **columns,
            r=nothing,
            cwnd=nothing,
            Q=Delay.measured(self.Q, HORIZON),
            limited=Steps([False] * HORIZON),
            state={memory.name: Steps(nothing) for memory in controller.state},
        )
        Windows([made], Fraction(1), Buffer.parse("infinite"), None, {}, {})
        return made


class Agreement:
    """Of a controller, from the step on at which it decides."""

    def __init__(self, controller):
        self.controller = controller
        self.units = {memory.name: memory.unit for memory in controller.state}
        names = tuple(self.units)
        self.python = program.Program(controller.source, controller.file, names, controller.beliefs)
        self.laws = laws_in(controller.update)
        self.sender = self.python
        if self.laws:
            self.sender = program.Program(that_follows_laws(controller.source), "laws.py", names, controller.beliefs)
            self.sender._scope["cbrt"] = cbrt

    def check(self, sequence, sender, formula=range(HORIZON)):
        """Let an exported sender run through a sequence: its state is after each step what the controller's own Python
        makes of it first, rounded, and it sends what that says; and the formula, at some steps, says so. What follows a
        law may be one off, and follows it where what the controller assumes is not so. Returns how many steps were
        decided."""
        decided, state = 0, sender.kept()
        after = self._as_python(state)
        for t in range(1, HORIZON):
            before, outcome, assumed = after, None, False
            arguments = {**sequence.arguments(t, {*self.controller.parameters, "waited"}), **before}
            if t >= sender.export.first_decision:
                outcome = self._followed(arguments)
                assumed = self.python.outcome(arguments) is not None
            if outcome is not None:
                exact = {name: next(iter(became)) for name, became in outcome.items()}
                state = [kept(memory, exact[memory.name]) for memory in self.controller.state]
                decided += 1
            sender.step(sequence.seen[t])
            for memory, now, expected in zip(self.controller.state, sender.kept(), state, strict=True):
                assert abs(now - expected) <= (memory.name in self.laws), (t, before, vars(sequence))
            state = sender.kept()
            after = self._as_python(state)
            sent = self._sent({**arguments, **after})
            assert sender.window() == max(PACKET, floor(sent["window"]))
            if sender.export.is_paced:
                assert sender.rate_per_step() == max(0, floor(sent["rate"]))
            if t >= sender.export.first_decision and t in formula:
                self._check_formula(sequence, t, arguments, exact if assumed else None)
        return decided

    def _followed(self, arguments):
        """What a sender makes of its arguments. A law reads delays themselves, and tests their whole steps."""
        outcome = self.sender.outcome(arguments)
        for name in self.laws:
            outcome[name] = self.sender.outcome({**arguments, "delay": arguments["waited"]})[name]
        return outcome

    def _as_python(self, state):
        units = self.units.items()
        return {
            name: bool(each) if unit == CONDITION else Fraction(each, ONE[unit])
            for (name, unit), each in zip(units, state, strict=True)
        }

    def _sent(self, arguments):
        return dict(zip(self.controller.sent(), self.python.sends(arguments), strict=True))

    def _check_formula(self, sequence, t, arguments, after):
        view = sequence.view(self.controller)
        for name in self.units:
            view.state[name][t - 1] = Fraction(arguments[name])
        step = Step(self.controller, view, t, self.python)
        step.now = {name: Fraction((after or arguments)[name]) for name in self.units}
        assert step.becomes(self.controller.update) is (after is not None)
        sent = self._sent({**arguments, **step.now})
        step.values = {**step.values, **step.now}
        for name, tree in self.controller.sent().items():
            assert step.is_sent(tree, sent[name]) is True
