"""Controllers with state, and the beliefs of window senders: the next state, and the bytes that a sender sends."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from ccmatic.base import CONDITION, NUMBER, TIME, definitions, read_text
from ccmatic.contracts import load_definition
from ccmatic.controllers import load, parse
from ccmatic.deployment.exporting import header
from ccmatic.language import Name, as_sent, is_stateful
from ccmatic.worlds.c.update import LARGEST_KEPT, LINE_RATE, ONE
from ccmatic.worlds.exact import Program
from ccmatic.worlds.runtime.library import Library, StatefulSender
from ccmatic.worlds.step import Step
from conformance import drawn
from conformance.worlds import Kind, Number
from support.laws import cbrt, laws_in, that_follows_laws
from support.sequences import HORIZON, PACKET, Sequence

STRICT = ("-Wall", "-Wextra", "-Wconversion", "-Werror")

#: The model whose senders have one window.
MODEL = "ccac2021"

#: Beliefs that no shipped controller reads by itself, and forms of terms.
FORMS = {
    **{f"sends_by_{name}": f"def send({name}, R_m):\n    return 2 * {name} * R_m\n" for name in ("C_L", "C_U")},
    **{
        f"compares_{name}": f"""window: bytes = above(0)
def update(window, {name}, step, MSS):
    if {name} > 2 * step:
        window = window / 2
    elif {name} >= step:
        window = window + MSS
    elif {name} == 0 * step:
        window = 2 * MSS
def send(window):
    return window
"""
        for name in ("qdel_L", "qdel_U")
    },
    "over_windows": """window: bytes = above(0)
def update(window, ack_rate, delay, sent, acked, lost, MSS, R_m, step):
    if min_over(delay, 2) < max(delay, delay[step]):
        window = R_m * max_over(ack_rate, 2)
    elif max_over(delay, 3) <= step:
        window = between(MSS, MSS + window)
    else:
        window = max(MSS, sent - acked - lost)
def send(window):
    return window
""",
    "keeps_delays": """window: bytes = above(0)
base: time = between(0, 8 * R_m)
previous: time = 0
grown: time = 0
def update(window, base, previous, grown, delay, measured, MSS, R_m, D, step):
    grown = delay - delay[step]
    previous = delay
    if measured:
        base = min(base, 3 * delay / 4 + D)
    if previous > base + R_m and delay[step] < previous:
        window = max(MSS, window / 2)
    else:
        window = window + MSS
def send(window):
    return window
""",
    "keeps_extremes": """lowest: time = anything()
highest: time = anything()
target: time = anything()
def update(lowest, delay, R_m, D, step):
    highest = max(max(delay, delay[step]) - 2 * step, R_m, lowest)
    target = R_m - max(2 * lowest - delay[2 * step] * step / R_m, D)
    lowest = min_over(delay, 3)
def send(lowest, highest, MSS, R_m, step):
    return MSS + (MSS if lowest < highest else 0)
""",
    "keeps_choices": """near: time = anything()
about: time = anything()
def update(near, about, delay, R_m, step):
    about = between(delay - step, delay + max(0, near))
    near = any_of(delay - step, near)
def send(near, about, MSS):
    return MSS + (MSS if near < about else 0)
""",
    "counts": """window: bytes = above(0)
def update(window, sent, acked, lost, MSS):
    if sent + MSS > acked and not sent > acked:
        window = MSS
    elif sent + MSS > acked + 2 * MSS - MSS:
        window = 4 * MSS
    elif sent + lost >= acked + MSS + lost - MSS:
        window = 2 * MSS
    else:
        window = max(MSS, acked - sent)
def send(window):
    return window
""",
    "follows_a_law": """window: bytes = above(0)
def update(window, acked, lost, sent, MSS):
    if lost > acked:
        window = any_of(MSS, 2 * MSS)
    else:
        window = bounded(window * window / MSS / 64, MSS, max(MSS, sent - acked - lost))
def send(window):
    return window
""",
}


def _shipped():
    names = [name for kind in definitions.CONTROLLERS for name in definitions.shipped(kind)]
    return [name for name in names if is_stateful(read_text(_file(name)))]


def _file(name):
    return definitions.find_file(definitions.CONTROLLERS, name, ".py")


@cache
def controller(name):
    """The controller of this name."""
    observations = load_definition("models", "MODEL", MODEL).observations
    if _is_text(name):
        return parse(source(name), name, observations=observations)
    return load(name, observations=observations)


#: What the name of a controller that is drawn at random begins with; its seed is the rest.
DRAWN = "drawn_"

#: The share of its terms by which a law in C may be off, at most; its header states it, from 2^-26 to 2^-29.
LAW_ERROR = Fraction(1, 2**25)

#: The least and the most that any sender sends by.
LIMITS = {"window": (PACKET, LARGEST_KEPT), "rate": (0, LINE_RATE)}


def _is_text(name):
    return name in FORMS or name.startswith(DRAWN)


def source(name):
    """The source of a controller that is not shipped."""
    return FORMS[name] if name in FORMS else drawn.update(name.removeprefix(DRAWN))


class Decision(NamedTuple):
    """One decision of a sender: what its state becomes at the end of a step, what it sends then, or whether a formula
    lets its state become this.

    what: `becomes`, `sends` or `may become`. sequence, t: what it has observed by which step. state: by name, before
    that step, or that it sends by. now: the state that it may become.
    """

    what: str
    sequence: Sequence
    t: int
    state: dict[str, Any]
    now: dict[str, Any] | None = None

    def __repr__(self):
        return f"{self.what} at step {self.t} of {vars(self.sequence)}, state {self.state}, now {self.now}"


def cases(name, rng, count) -> Iterator[Sequence]:
    """Yield possible observations of a sender, with events in any order."""
    for _ in range(count):
        yield Sequence(rng)


class _Python:
    """A controller's own Python, its laws followed."""

    def __init__(self, name):
        self.controller = controller(name)
        self.memories = {memory.name: memory for memory in self.controller.state}
        names, source = tuple(self.memories), self.controller.source
        self.python = Program(source, f"<{name}>", names, self.controller.beliefs)
        self.sent = {name: tree for name, tree in self.controller.sent().items() if tree != Name("line_rate")}
        self.laws = laws_in(self.controller.update) if names else set()
        self.follower = self.python
        if self.laws:
            self.follower = Program(that_follows_laws(source), f"<{name}>", names, self.controller.beliefs)
            self.follower._scope["cbrt"] = cbrt

    def arguments(self, decision):
        """Return the values that the controller reads, by name."""
        names = {*self.controller.parameters, "waited"}
        return {**decision.sequence.arguments(decision.t, names), **decision.state}

    def exact(self, decision):
        """As Kind.exact."""
        return getattr(self, f"_{decision.what.replace(' ', '_')}")(decision)

    def _becomes(self, decision):
        """Of a range the least; state stays as it is where what is assumed is not so. What follows a law is known to a
        unit, and a law reads delays themselves, where tests read their whole steps."""
        arguments = self.arguments(decision)
        outcome = self.follower.outcome(arguments) if self.memories else {}
        if outcome is None:
            return {name: self._number(decision, name, value) for name, value in decision.state.items()}
        if self.laws:
            waited = self.follower.outcome(arguments | {"delay": arguments["waited"]})
            outcome = {name: (waited if name in self.laws else outcome)[name] for name in outcome}
        return {name: self._number(decision, name, next(iter(options))) for name, options in outcome.items()}

    def _number(self, decision, name, value):
        memory = self.memories[name]
        if memory.unit == CONDITION:
            return Number(bool(value))
        value, unit = Fraction(value), Fraction(1, ONE[memory.unit])
        limited = max(-LARGEST_KEPT * unit, min(LARGEST_KEPT * unit, value))
        off = unit + abs(value) * LAW_ERROR if name in self.laws else Fraction(0)
        return Number(limited, unit, memory.is_upper, off, self._size(decision))

    def _size(self, decision):
        """That of the terms of a drawn controller: it takes differences of multiples of counts."""
        return max(*decision.sequence.A, *decision.sequence.S) if self.controller.name.startswith(DRAWN) else None

    def _sends(self, decision):
        """Within limits, whatever the controller says."""
        said = dict(zip(self.controller.sent(), self.python.sends(self.arguments(decision)), strict=True))
        size = self._size(decision)
        return {name: Number(_limited(name, Fraction(said[name])), size=size) for name in self.sent}

    def _may_send(self, decision):
        said = self.python.sends(self.arguments(decision))
        return {"sent": Number(all(amount == now for amount, now in zip(said, decision.now.values(), strict=True)))}

    def _may_become(self, decision):
        outcome = self.python.outcome(self.arguments(decision)) if self.memories else {}
        possible = outcome is not None and all(
            self._may_be(name, options, decision.now[name]) for name, options in outcome.items()
        )
        return {"state": Number(possible)}

    def _may_be(self, name, options, number):
        return number in (map(bool, options) if self.memories[name].unit == CONDITION else options)


def _limited(name, amount):
    low, high = LIMITS[name]
    return max(low, min(high, amount))


@cache
def _python(name):
    return _Python(name)


def exact(name):
    """By the controller's own Python, on Fractions; the cube roots of laws have 200 bits."""
    return _python(name).exact


@cache
def library(name):
    """The C of a controller, built without warnings."""
    if not _is_text(name):
        return Library(header.make(name), (*STRICT, "-O0"))
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.py"
        file.write_text(source(name))
        return Library(header.make(str(file), MODEL), ("-O0",))


def in_c(name, begin=StatefulSender):
    """An exported sender that steps through the sequence. Its state is what it kept, rounded. begin: makes a sender of
    a Library and a packet's size."""
    built, own = library(name), _python(name)

    def run(sequence):
        flow = begin(built, PACKET)
        for t in range(1, HORIZON):
            before = _read(own, flow)
            flow.step(sequence.seen[t])
            if t >= flow.export.first_decision:
                yield Decision("becomes", sequence, t, before), _read(own, flow)
            yield Decision("sends", sequence, t, _read(own, flow)), _sent(own, flow)

    return run


def _read(own, flow):
    return {
        name: bool(kept) if memory.unit == CONDITION else Fraction(kept, ONE[memory.unit])
        for (name, memory), kept in zip(own.memories.items(), flow.kept(), strict=False)
    }


def _sent(own, flow):
    amounts = {"window": flow.window(), "rate": flow.rate_per_step()}
    return {name: amounts[name] for name in own.sent}


def _states(own, sequence):
    """(step, state before it) from the first decision on: at first drawn by the sequence, then what the controller's
    own Python makes of it, the first or least of what it may be."""
    numbers = {CONDITION: (False, True), NUMBER: (0, 1, Fraction(5, 4), 3), TIME: (0, 1, 2, Fraction(1, 2))}
    amounts = (0, PACKET, 3 * PACKET, 10 * PACKET, Fraction(7 * PACKET, 2))
    state = {name: sequence.rng.choice(numbers.get(memory.unit, amounts)) for name, memory in own.memories.items()}
    for t in range(_first_decision(own.controller.name), HORIZON):
        yield t, state
        state = {name: number.value for name, number in own.exact(Decision("becomes", sequence, t, state)).items()}


@cache
def _first_decision(name):
    """The first step at whose end a controller decides."""
    return _python(name).controller.first_decision(Sequence(Random(0)).view(controller(name))) or 0


def in_formula(name):
    """Evaluate the encoding of a step: the possible next states, and the bytes sent then."""
    own = _python(name)

    def run(sequence):
        view = sequence.view(own.controller)
        for t, state in _states(own, sequence):
            for name, number in state.items():
                view.state[name][t - 1] = Fraction(number)
            step = Step(own.controller, view, t, own.python)
            for now in _choices(own, sequence, t, state):
                step.now = {name: Fraction(number) for name, number in now.items()}
                yield Decision("may become", sequence, t, state, now), {"state": step.becomes(own.controller.update)}
            step.values = step.values | {name: Fraction(number) for name, number in state.items()}
            for now in _amounts(own, sequence, t, state):
                sent = all(step.is_sent(tree, now[name]) is True for name, tree in own.controller.sent().items())
                yield Decision("may send", sequence, t, state, now), {"sent": sent}

    return run


def _choices(own, sequence, t, state):
    """States that it may become by Python's own account, each with one number changed, and one that it is not."""
    outcome = own.python.outcome(own.arguments(Decision("becomes", sequence, t, state))) if own.memories else None
    for now in product(*outcome.values()) if outcome else ():
        now = {
            name: bool(number) if own.memories[name].unit == CONDITION else number
            for name, number in zip(outcome, now, strict=True)
        }
        yield now
        for name, number in now.items():
            other = not number if own.memories[name].unit == CONDITION else number + Fraction(1, 7)
            yield now | {name: other}
    yield {name: number if own.memories[name].unit == CONDITION else Fraction(5) for name, number in state.items()}


def _amounts(own, sequence, t, state):
    """Yield the amounts that it sends according to Python, and each amount changed."""
    amounts = own.python.sends(own.arguments(Decision("sends", sequence, t, state)))
    now = dict(zip(own.controller.sent(), map(Fraction, amounts), strict=True))
    yield now
    for name, amount in now.items():
        yield now | {name: amount + Fraction(1, 7)}


def in_arrays(name):
    """An update in floats, all steps of a sequence at once; bytes are the sums of two floats."""
    import jax.numpy as jnp

    from ccmatic.worlds.arrays import FloatPair, Values, to_float

    own = _python(name)
    fixed = {"R_m": 1.0, "D": 1.0, "step": 1.0, "MSS": float(PACKET), "second": 1.0}

    def counted(numbers):
        high = np.array([float(number) for number in numbers], np.float32)
        low = [float(number - Fraction(float(near))) for number, near in zip(numbers, high, strict=True)]
        return FloatPair(jnp.array(high), jnp.array(low, jnp.float32))

    def run(sequence):
        sequence = sequence.measured()
        steps = [*_states(own, sequence)]
        count = len(steps)
        steps += steps[-1:] * (HORIZON - count)  # arrays of one shape, which are compiled once
        times = [t for t, _ in steps]

        def observed(each):
            def back(steps_back):
                seen = [sequence.number(each, t - steps_back) for t in times]
                return jnp.array(seen) if isinstance(seen[0], bool) else counted(seen)

            return back

        remembered = {
            each: jnp.array([bool(state[each]) for _, state in steps])
            if memory.unit == CONDITION
            else counted([state[each] for _, state in steps])
            for each, memory in own.memories.items()
        }
        seen = {each: observed(each) for each in {*own.controller.parameters, "waited"} if each not in fixed}
        known = {**fixed, "line_rate": jnp.inf, **seen, **remembered}
        in_law = Values(known | {"delay": seen["waited"]}, Values(fixed))
        after = Values(known, Values(fixed), in_law).becomes(as_sent(own.controller.update), remembered)
        sent = Values(fixed | remembered | {"line_rate": jnp.inf})
        sent = {each: to_float(sent.of(tree)) for each, tree in own.sent.items()}
        for place, (t, state) in enumerate(steps[:count]):
            became = {each: _item(to_float(value), place) for each, value in after.items()}
            yield Decision("becomes", sequence, t, state), became
            amounts = {each: _limited(each, _item(value, place)) for each, value in sent.items()}
            yield Decision("sends", sequence, t, state), amounts

    return run


def _item(values, place):
    """One of several numbers or truths; one for all if it is one."""
    item = values if getattr(values, "ndim", 0) == 0 else values[place]
    return bool(item) if getattr(item, "dtype", "") == "bool" else float(item)


UPDATES = Kind(
    name="controllers with state",
    weight=6,
    definitions=(*_shipped(), *FORMS),
    cases=cases,
    exact=exact,
    worlds={"formula": in_formula, "C": in_c, "arrays": in_arrays},
)


def drawn_updates(seeds):
    """The Kind of the controllers that these seeds draw."""
    return replace(
        UPDATES,
        name="drawn controllers with state",
        definitions=tuple(f"{DRAWN}{seed}" for seed in seeds),
        refused={},
        may_refuse=("needs more than 64 bits", "a term of more than 200 names", "compares a choice"),
    )
