"""Controllers that keep state, for example a congestion window.

Once per step, such a controller updates its state from its sender's observations. Such a controller sends by a window,
at a rate, or by both.
"""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property
from math import lcm

from ccmatic.base import CONDITION, InputError, markup, syntax_tree
from ccmatic.contracts import FlowView
from ccmatic.controllers.signal import observations_in
from ccmatic.language import (
    Bounded,
    Comparison,
    Declaration,
    Name,
    NextState,
    Past,
    Tree,
    comparisons,
    leaves,
    leaves_outside_tests,
    nodes,
    observations_and_beliefs,
    read_stateful,
    value,
)
from ccmatic.logic import Truth, equal, every, implies, no, some
from ccmatic.worlds.encoder import Encoder
from ccmatic.worlds.exact import Lines, Program
from ccmatic.worlds.forever import forever
from ccmatic.worlds.step import OpenStep, Step
from ccmatic.worlds.text import Text, text


class Memory(Declaration):
    @property
    def says(self):
        """The possible initial values, as words that follow the name of the state."""
        if self.unit == CONDITION and self.terms:
            return f"= {value(self.terms[0])}"
        terms = [text(term) for term in self.terms]
        match self.kind:
            case "above":
                return f"above {terms[0]}"
            case "between":
                return f"between {terms[0]} and {terms[1]}"
            case "any_of":
                return f"one of {', '.join(terms)}"
            case "equal":
                return f"= {terms[0]}"
        return "any"

    def first(self, view, t):
        """Return the condition that the state at step t of a view has a possible initial value.

        If the state holds a belief, the initial value must also be true of the path.
        """
        declared = self._as_declared(view, t)
        if self.belief and self.belief.holds:
            return every(declared, self.belief.holds(view, t, view.state[self.name][t]))
        return declared

    def _as_declared(self, view, t):
        now = view.state[self.name][t]
        if self.unit == CONDITION and self.terms:
            return equal(now, int(value(self.terms[0])))
        observations = self.observations.items()
        constants = {name: observation.read(view, t) for name, observation in observations if observation.constant}
        encoder = Encoder({"R_m": view.R, "D": view.D, "MSS": view.alpha, **constants}, None)
        terms = [encoder.form(tree) for tree in self.terms]
        match self.kind:
            case "equal" | "any_of":
                return some([equal(now, term) for term in terms])
            case "above":
                return now > terms[0]
            case "between":
                return every(now >= terms[0], now <= terms[1])
        return True


#: The suffix of a controller's name if the controller may begin in any state.
_ANYWHERE = "_begun_anywhere"


@dataclass(frozen=True)
class Stateful:
    """A controller with state that `parse` has read and checked.

    The controller decides from the first step at which all its inputs have been observed. Before this step, its state
    may have any value that the declaration allows.

    Attributes:
        parameters: The observations and constants that the controller, or one of its beliefs, reads.
        state: The controller's state (`Memory`), including the state of beliefs.
        update: A tree whose leaves are the next values of the state.
        window: The tree of the window; None if only the rate limits the sender.
        rate: The tree of the rate; None if only the window limits the sender.
    """

    name: str
    source: str
    parameters: tuple[str, ...]
    state: tuple[Memory, ...]
    update: Tree
    window: Tree | None
    rate: Tree | None
    observations: dict = field(compare=False, repr=False)
    beliefs: dict = field(compare=False, repr=False)
    file: str | None = field(default=None, compare=False)
    start = None
    is_envelope = False
    step_type = Step

    @property
    def meaning(self):
        """The controller's whole behaviour, for comparisons that ignore its name and its text."""
        return self.state, self.update, self.window, self.rate

    def laws(self, view: FlowView) -> Iterator[tuple[str, int, Truth]]:
        """Yield the laws of a sender with this controller, like a model's laws: (law name, t, formula).

        InputError if an observation is missing at the end of the view, so that the controller never decides.
        """
        decides, first = False, None
        program = self._program if view.numeric else None
        for t in range(view.horizon):
            step = self.step_type(self, view, t, program)
            decides = self._decides(step, decides)
            first = t if decides and first is None else first
            for memory in self.state:
                yield from step.truth(memory)
                if not decides:
                    yield f"{memory.name}_is_as_at_first", t, memory.first(view, t)
            if decides:
                yield "state_is_the_controllers", t, step.updated()
            yield from step.sends()
        if self.state and not decides:
            unseen = step.unseen(self.update)
            raise InputError(self._unseen(unseen.name, view), self.file, getattr(unseen, "line", None))
        if view.period:
            yield from forever(self, view, first)

    def _unseen(self, name, view):
        """Return the reason why an observation is missing at the end of a view.

        Every measurement is available within two R_m.
        """
        if view.horizon > 2 * view.R and self.observations[name].read(view, view.horizon - 1) is None:
            return f"`update` reads `{name}`, which this network does not measure; expected a network that does"
        return (
            f"`update` reads `{name}`, which is not observed within a horizon of {view.horizon}; expected a longer one"
        )

    def first_decision(self, view):
        """Return the first step of a view at which the controller decides; None without one."""
        steps = (Step(self, view, t, None) for t in range(view.horizon))
        return next((step.t for step in steps if self._decides(step, False)), None)

    def unseen(self, view, t):
        """Return the Name of an observation that the update may read, at any time, but is not known at step t; or None.

        The update may read such an observation although its tests of `time` exclude it for a view that begins at 0.
        """
        return Step(self, view, t, None).unseen(self.update, dated=False) if self.state else None

    def begun_anywhere(self, names):
        """Return this controller with any initial values for the state in `names`."""
        lines = self.source.encode().splitlines(keepends=True)
        for node in syntax_tree(self.source).body[::-1]:
            if isinstance(node, ast.AnnAssign) and node.target.id in names:
                value = node.value
                first, last = value.lineno - 1, value.end_lineno - 1
                text = lines[first][: value.col_offset] + b"anything()" + lines[last][value.end_col_offset :]
                lines[first : last + 1] = [text]
        name = f"{self.name.removesuffix(_ANYWHERE)}{_ANYWHERE}"
        return parse_stateful(b"".join(lines).decode(), name, self.file, self.observations | self.beliefs)

    def does_less_uninformed(self, view):
        """Return a formula: the state gets a value that it could get only because a delay is unknown.

        The formula is about the first step at which the controller decides, or the last step of the view. A delay is
        unknown if its bytes were sent before the trace. Every comparison with an unknown delay fails, so the state may
        get a value that it could not get otherwise. So a statement about a controller that may begin
        in any state must also cover such values. For a controller that reads only the delay of the current step,
        `before_trace` states whether the case occurs.
        """
        steps = dict.fromkeys((self.first_decision(view), view.horizon - 1))
        return some([self._does_less_uninformed(view, t) for t in steps])

    def _does_less_uninformed(self, view, t):
        informed, uninformed = OpenStep(self, view, t, f"informed_{t}"), OpenStep(self, view, t, f"uninformed_{t}")
        becomes = informed.becomes(self.update), no(uninformed.becomes(self.update))
        fewer = [implies(uninformed.holds[each], holds) for each, holds in informed.holds.items()]
        return every(*becomes, fewer, self._is_before_trace(view, t))

    def _is_before_trace(self, view, t):
        """Return the condition that acknowledged bytes are older than the trace.

        The condition is True if the controller reads earlier delays, or does not read `before_trace`.
        """
        few = {name for name, each in self.observations.items() if each.few}
        earlier = any(isinstance(leaf, Past) and leaf.name in few for leaf in leaves(self.update))
        reads_it = "before_trace" in self.parameters and not earlier
        return self.observations["before_trace"].read(view, t) if reads_it else True

    def treats_long_delays_alike(self, view, longest):
        """Return whether the controller treats all delays of at least `longest` steps alike."""
        if self.first_decision(view) is None:
            return True
        step = Step(self, view, view.horizon - 1, None)
        few = (each for each in comparisons(self.update) if step.few_in(each))
        return all(step.is_alike_from(each, longest) for each in few)

    def has_laws(self) -> bool:
        return any(isinstance(node, Bounded) for node in nodes(self.update))

    def delay_parts(self) -> int | None:
        """Return the number of equal parts of R_m to which the controller compares delays.

        The number is 8 for `delay > R_m / 8`, and 1 if no comparison is with a part of R_m. The number is None if any
        part of R_m can matter, as in `window * delay > 2 * MSS * R_m`.
        """
        few = {name for name, each in self.observations.items() if each.few}
        ends = [node.values for node in nodes(self.update) if isinstance(node, NextState)]
        delays = {name for values in ends for name, tree in values.items() if few & _read(leaves_outside_tests(tree))}
        delays |= few
        parts = [_parts_of_round_trip(each) for each in comparisons(self.update) if delays & _read(leaves(each))]
        return None if None in parts else lcm(*(part for part in parts if part))

    def followed(self, view):
        """Return the controller's state as columns by name, and 1 if the controller sends the view's bytes.

        The controller's own Python computes the state of a view of numbers, from the step at which the controller
        decides. Before, and wherever the controller leaves a choice to the network, the state comes from the view. The
        columns end at the first step at which the controller would send other bytes than the view. The second result is
        then the ratio of the view's window or rate at this step to the controller's, or 0 if there is no such ratio.
        """
        state = {memory.name: list(view.state[memory.name]) for memory in self.state}
        own, program, decides = replace(view, state=state), self._program, False
        for t in range(view.horizon):
            step = Step(self, own, t, program)
            decides = decides or self._decides(step, False)
            outcome = program.outcome(step.arguments()) if decides else None
            for name, options in (outcome or {}).items():
                if state[name][t] not in options:
                    step.now[name] = state[name][t] = Fraction(next(iter(options)))
            if any(law is not True for _, _, law in step.sends()):
                return state, step.part_of_sent()
        return state, 1

    def lines_run(self, view: FlowView) -> list[dict[int, bool]]:
        """As `Controller.lines_run`; before the first step at which the controller decides, only `send` runs."""
        lines = Lines()
        program, every, decides = self._compiled(lines), [], False
        for t in range(view.horizon):
            lines.clear()
            step = Step(self, view, t, program)
            decides = self._decides(step, decides)
            if decides:
                program.outcome(step.arguments())
            program.sends({**step.arguments(), **step.now})
            every.append(dict(lines))
        return every

    @cached_property
    def _program(self):
        return self._compiled()

    def _compiled(self, lines=None):
        names = tuple(memory.name for memory in self.state)
        return Program(self.source, self.file or f"<{self.name}>", names, self.beliefs, lines)

    def dated(self):
        """Return the names of inputs from which the controller can see where a trace begins, such as `time`."""
        return [name for name in self.parameters if name in self.observations and self.observations[name].dated]

    def line_of(self, name):
        """Return the number of the first line at which `update` reads a parameter."""
        update = next(each for each in syntax_tree(self.source).body if getattr(each, "name", "") == "update")
        names = (node for part in update.body for node in ast.walk(part) if isinstance(node, ast.Name))
        return min(node.lineno for node in names if node.id == name)

    def _decides(self, step, before):
        """Return whether the controller decides at this step.

        A controller decides as soon as the sender has observed all inputs of the controller, but only after the start.
        """
        if not self.state or step.t <= step.view.history:
            return False
        unseen = step.unseen(self.update)
        if unseen is None or not before:
            return unseen is None
        problem = f"reads `{unseen.name}` at step {step.t} by when it is not observed, but decides before"
        raise InputError(f"{problem}; expected to read it only later", self.file, getattr(unseen, "line", None))

    def pretty(self):
        """Return the controller as mathematics for people: the update of each step, then the window and the rate."""
        words = Text()
        lines = words.listing(self.update, words.became) if self.state else []
        for name, tree in self.sent().items():
            lines += words.listing(tree, lambda leaf, name=name: [f"{name} = {words.of(leaf)}"])
        return "\n".join([*lines, *words.definitions()])

    def sent(self):
        """Return the existing trees among `window` and `rate`, in the order in which `send` returns them."""
        both = {"window": self.window, "rate": self.rate}
        return {name: tree for name, tree in both.items() if tree is not None}

    def __repr__(self):
        return f"<controller {self.name}({', '.join(self.parameters)}) with state {self._names()}>"

    def _repr_html_(self):
        heading = f"{self.name}({', '.join(self.parameters)}), state {self._names()}"
        return markup.paragraphs([heading]) + markup.listing(self.pretty())

    def _names(self):
        return ", ".join(memory.name for memory in self.state) or "none"


def _read(several: Iterable[Tree]) -> set[str]:
    return {leaf.name for leaf in several if isinstance(leaf, Name)}


def _parts_of_round_trip(comparison: Comparison) -> int | None:
    words, parts = Text(), [1]
    for side in (comparison.left, comparison.right):
        for monomial, coefficient in words.walk(side, True).items():
            if monomial == (("R_m", 1),):
                parts.append(coefficient.denominator)
            elif "R_m" in dict(monomial):
                return None
    return lcm(*parts)


def parse_stateful(source, name, file, observations):
    """Return the controller with state that a source defines. Raise InputError if the source defines none."""
    observed, beliefs = observations_and_beliefs(observations)
    beliefs = beliefs | observations_in(source, file)
    parts = read_stateful(source, observed, beliefs, file)
    state = tuple(Memory(**vars(each)) for each in parts.state)
    pieces = parts.parameters, state, parts.update, parts.window, parts.rate
    return Stateful(name, source, *pieces, observed, beliefs, file)
