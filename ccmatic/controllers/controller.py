"""Controllers that are functions from beliefs to a sending rate, and the controllers that files and values describe."""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache
from pathlib import Path
from textwrap import dedent
from typing import Any

from ccmatic.base import CONSTANTS, InputError, markup, shown
from ccmatic.contracts import FlowView
from ccmatic.controllers.several import ControllerGroup, ControllerText, parts
from ccmatic.controllers.signal import shipped_beliefs
from ccmatic.controllers.stateful import Stateful, parse_stateful
from ccmatic.language import (
    WITH_STATE,
    Between,
    Comparison,
    If,
    Tree,
    bare,
    comparisons,
    find_program,
    is_stateful,
    names,
    rate_line,
    reader,
)
from ccmatic.logic import Truth, every, isolated, linear, no, real
from ccmatic.worlds.encoder import Encoder, keeps_sign
from ccmatic.worlds.exact import Lines, Rates, run_exactly
from ccmatic.worlds.text import listing


@dataclass(frozen=True)
class Controller:
    """A controller that `parse` has read and checked.

    The inputs of a controller have consistent units, such as bytes, bytes per step and steps. With these units, R_m is
    in steps, and the rate is in bytes per step.

    Attributes:
        name: The controller's name, for messages.
        source: The source text.
        parameters: The beliefs and constants that the controller reads.
        body: The returned rate, as a tree of the classes in `ccmatic.language.tree`.
        file: The controller's file, for messages; None if the controller comes from no file.
        start: The name of the controller that a deployed flow runs until a large loss (section 6.4 of the paper), or
            None. Verification and proofs cover the time after that loss.
        is_envelope: Whether the controller is an envelope: some of its branches allow a range of rates.
        state: Always empty, because such a controller has no state.
    """

    name: str
    source: str
    parameters: tuple[str, ...]
    body: Tree
    file: str | None = field(default=None, compare=False)
    start: str | None = None
    is_envelope: bool = False
    state = ()

    @property
    def meaning(self):
        """The controller's whole behaviour. Comparisons of this value ignore the controller's name and text."""
        return self.body, self.start

    def rate(self, values: Mapping[str, Any]) -> Fraction:
        """Return the rate, a Fraction, at given values of the parameters.

        Args:
            values: A number for each parameter, by name.

        Raises:
            InputError: For the reasons of `rates`, or if the controller is an envelope with several rates at these
                values.
        """
        low, high = self.rates(values)
        if low != high:
            raise InputError(f"{self.name} is an envelope: it allows every rate from {low} to {high} here", self.file)
        return low

    def rates(self, values: Mapping[str, Any]) -> Rates:
        """Return the smallest and the largest rate that the controller's own Python returns, as Rates of Fractions.

        The two rates are equal unless the controller is an envelope.

        Args:
            values: A number for each parameter, by name.

        Raises:
            InputError: If the controller divides by 0; the error names the line.
        """
        given = {name: Fraction(values[name]) for name in self.parameters}
        try:
            returned = _run(self.source, self.file or f"<{self.name}>")(**given)
        except ZeroDivisionError as error:
            line = error.__traceback__.tb_next.tb_lineno
            message = "divides by 0 at these values, expected a divisor other than 0"
            raise InputError(message, self.file, line) from None
        return returned if isinstance(returned, Rates) else Rates(returned, returned)

    def allowed(self, values: Mapping[str, Any]) -> Rates | None:
        """Return the smallest and largest rate that a sender may choose. A sender sends at least one packet per R_m.

        Args:
            values: A number for each parameter, and for R_m and MSS.

        Returns:
            The Rates. None if every rate is allowed, because at these values the envelope's low end is above its high
            end.

        Raises:
            InputError: If `rates` raises it.
        """
        low, high = self.rates(values)
        floor = Fraction(values["MSS"]) / values["R_m"]
        return Rates(max(low, floor), max(high, floor)) if low <= high else None

    def laws(self, view: FlowView) -> Iterator[tuple[str, int, Truth]]:
        """Yield the laws of a sender with this controller, like a model's laws: (law name, t, formula).

        At each step the controller chooses its rate from its beliefs at the end of the previous step. The controller
        sends at least one packet per step. If the view holds numbers, the controller's own Python runs. With numbers,
        no rate satisfies an envelope whose low end is above its high end.
        """
        for t in range(1, view.horizon):
            inputs = _inputs(view, t)
            if view.numeric:
                allowed = self.allowed(inputs)
                chosen = allowed is not None and allowed.low <= view.r[t] <= allowed.high
            else:
                chosen = self.encode(inputs, view.r[t], view.alpha)
            yield "rate_is_the_controllers", t, chosen

    def branches(self) -> list[tuple[tuple[tuple[Tree, bool], ...], Tree]]:
        """Return each branch as (tests with their outcomes, tree); those that do not branch again come first."""
        pairs = [pair for pair in _parts_of(self.body) if pair[0]]
        return sorted(pairs, key=lambda pair: isinstance(pair[1], If))

    def stays(self, view: FlowView, tests: tuple[tuple[Tree, bool], ...]) -> Truth:
        """Return the condition that the given tests have the given outcomes at each decision, as in `branches`."""
        encoders = [Encoder(_inputs(view, t), self.file) for t in range(1, view.horizon)]
        outcomes = [(encoder.condition(test), holds) for encoder in encoders for test, holds in tests]
        return every([condition if holds else no(condition) for condition, holds in outcomes])

    def lines_run(self, view: FlowView) -> list[dict[int, bool]]:
        """Return, for each step of an execution of numbers, the lines of the source that ran to choose the rate.

        A line is mapped to whether the condition in it held, or True. The first step has no lines, because the
        controller chose its rate before the trace.
        """
        lines = Lines()
        rate, every = run_exactly(self.source, self.file or f"<{self.name}>", lines), [{}]
        for t in range(1, view.horizon):
            lines.clear()
            values = {**{name: column[t - 1] for name, column in view.beliefs.items()}, "R_m": 1, "D": view.D}
            values["MSS"] = view.alpha
            rate(**{name: Fraction(values[name]) for name in self.parameters})
            every.append(dict(lines))
        return every

    def encode(self, values: Mapping[str, Any], rate: Any, floor: Any) -> Any:
        """Return the formula rate = max(floor, the controller's rate), linear in the given terms.

        For an envelope, the rate lies between the rates of its two ends. If low > high, the formula allows any rate, so
        that no verdict depends on such values. R_m and D must be numbers. InputError if the controller can divide by 0,
        even if only for some values.
        """
        return Encoder(values, self.file).body(self.body, rate, floor)

    def is_alike_from(self, values, name, least):
        """Return whether neither a comparison nor a rate distinguishes a parameter's values from `least` on."""
        if any(name in names(leaf) for leaf in _returns(self.body)):
            return False
        here, further = (Encoder({**values, name: linear(number)}, self.file) for number in (least, least + 1))
        return all(keeps_sign(here.difference(tree), further.difference(tree)) for tree in comparisons(self.body))

    def unordered(self, values):
        """Yield (formula, line) for each `between(low, high)`: the decision reaches this line with low > high."""
        return Encoder(values, self.file).unordered(self.body)

    @isolated
    def shape(self) -> Any:
        """Return the part that all controllers of a class share (docs/reference/encoding.md, section 9, "Counting").

        These are the branches with only the coefficients of beliefs; None if the controller contains anything except
        branches and linear terms.
        """
        beliefs = {name: real(name) for name in self.parameters if name not in CONSTANTS}
        try:
            return _shape(Encoder({**beliefs, "R_m": 1, "D": 1, "MSS": 0}, self.file), self.body)
        except _NoShape:
            return None

    def pretty(self):
        """Return the controller as mathematics for people: lines of if, elif, else and `rate = …`."""
        return "\n".join(listing(self.body))

    def __repr__(self):
        return f"<controller {self.name}({', '.join(self.parameters)})>"

    def _repr_html_(self):
        return markup.paragraphs([f"{self.name}({', '.join(self.parameters)})"]) + markup.listing(self.pretty())


def parse(
    source, name="controller", file=None, beliefs=None, observations=None
) -> Controller | Stateful | ControllerGroup:
    """Parse the source of a controller.

    The result is a Controller, which may read `beliefs`, given by their units; by default those of all shipped models.
    It is a Stateful if a model's `observations` are given, and a ControllerGroup if the text has controllers for
    several flows. InputError names the file, the line, and what was expected there.
    """
    source = source.removeprefix("\ufeff")
    if several := parts(source):
        return ControllerGroup(tuple(parse(part, each, file, beliefs, observations) for each, part in several))
    if observations:
        if line := rate_line(source):
            raise OtherKind(_AT_RATES, file, line)
        return parse_stateful(source, name, file, observations)
    if is_stateful(source):
        raise OtherKind(_STATEFUL, file)
    reserved = shipped_beliefs()
    parameters, body = reader.read_controller(source, reserved if beliefs is None else beliefs, reserved, file)
    is_envelope = any(isinstance(tree, Between) for tree in _returns(body))
    return Controller(name, source, parameters, body, file, reader.read_start(source), is_envelope)


def load(name, beliefs=None, observations=None):
    """Read the controller in a file, given by a path or the name of a shipped controller, which names it."""
    path, source = find_program(name)
    return parse(source, path.stem, str(path), beliefs, observations)


_STATEFUL = (
    "it sends by a window (`send`), and senders of this model send at rates; "
    "expected a function `rate` of beliefs, or a model of windows"
)
_AT_RATES = (
    "it sends at a rate of beliefs (`rate`), and senders of this model send by a window; "
    f"expected {WITH_STATE}, or a model of rates"
)


class OtherKind(InputError):
    """The error that a controller sends by a window but senders send at rates, or the other way round."""


_run = lru_cache(maxsize=1024)(run_exactly)


def _inputs(view, t):
    beliefs = {name: column[t - 1] for name, column in view.beliefs.items()}
    return {**beliefs, "R_m": 1, "D": view.D, "MSS": view.alpha}


def _parts_of(tree, tests=()):
    """Yield (tests, tree) for a tree and each of its branches."""
    yield tests, tree
    if isinstance(tree, If):
        yield from _parts_of(tree.then, (*tests, (tree.test, True)))
        yield from _parts_of(tree.other, (*tests, (tree.test, False)))


class _NoShape(Exception):
    pass


def _shape(encoder, tree):
    match tree:
        case If(test, then, other):
            test = bare(test)
            if not isinstance(test, Comparison) or test.op in ("==", "!="):
                raise _NoShape
            difference = encoder.difference(test)
            part = _belief_part(difference if ">" in test.op else -difference)
            return part, _shape(encoder, then), _shape(encoder, other)
        case Between(low, high):
            return "between", _shape(encoder, low), _shape(encoder, high)
    return _belief_part(encoder.form(tree))


def _returns(tree):
    """Yield the trees that a body returns: one tree for each path through the body."""
    if not isinstance(tree, If):
        yield tree
        return
    yield from _returns(tree.then)
    yield from _returns(tree.other)


def _belief_part(form):
    if any(not node.is_symbol() for node in form.coefficients):
        raise _NoShape
    return tuple(sorted((node.symbol_name(), coefficient) for node, coefficient in form.coefficients.items()))


#: The forms in which callers may pass a controller; see `given`.
Given = Controller | Stateful | ControllerGroup | Callable[..., Fraction] | Path | str


def given(controller, beliefs=None, observations=None) -> Controller | Stateful | ControllerGroup:
    """Return the controller that a value describes.

    The value is a Controller, a ControllerText, a Python function from beliefs to a rate, the path of a file (a Path,
    or text that looks like a path), the name of a shipped controller, or source text of several lines. A list of these
    values gives the controllers of a path's flows, in order. A function must have a source, unlike one typed at a
    prompt.
    """
    if isinstance(controller, ControllerGroup):
        controller = controller.each
    if isinstance(controller, list | tuple) and controller:
        return _several([given(each, beliefs, observations) for each in controller])
    if isinstance(controller, Controller | Stateful | ControllerText):
        return parse(controller.source, controller.name, controller.file, beliefs, observations)
    if isinstance(controller, str) and "\n" in controller:
        return parse(controller, beliefs=beliefs, observations=observations)
    if isinstance(controller, str | Path):
        return load(controller, beliefs, observations)
    if inspect.isfunction(controller):
        name, source = _source(controller)
        return parse(source, name, beliefs=beliefs, observations=observations)
    expected = "a function, the name or path of a file, or source text"
    raise InputError(f"{shown(controller)} is no controller; expected {expected}")


def sends_by_window(controller) -> bool:
    """Return whether a controller, in a form that `given` accepts, sends by a window, so that it may have state."""
    if isinstance(controller, Stateful):
        return True
    if not isinstance(controller, str | Path):
        return False
    if isinstance(controller, str) and "\n" in controller:
        return is_stateful(controller)
    return is_stateful(find_program(controller)[1])


def _several(controllers):
    """Return the controllers of a path's flows as one ControllerGroup. A single controller is returned unchanged."""
    for each in controllers:
        if isinstance(each, ControllerGroup):
            raise InputError(f"{each.name} is of several flows itself; expected a controller of one")
    return ControllerGroup(tuple(controllers)) if len(controllers) > 1 else controllers[0]


def _source(function):
    """Return a function's name, and the function's source with the name replaced by `rate`."""
    name = function.__name__
    try:
        source = dedent(inspect.getsource(function))
    except (OSError, TypeError):
        raise InputError(
            f"the source of the function {name} is not available; expected one that is defined in a file or a "
            "notebook's cell, or its source as text"
        ) from None
    if name == "<lambda>":
        raise InputError("a lambda is no controller; expected a function that is defined by `def rate(...)`")
    return name, re.sub(rf"^def\s+{re.escape(name)}\b", "def rate", source, count=1, flags=re.MULTILINE)


def require_order(controller, jitter):
    """Raise InputError, with example values, if low > high is possible in some `between(low, high)`.

    The check considers all inputs of at least 0, and an MSS above 0. A controller that is no envelope always passes.
    """
    if isinstance(controller, Controller) and controller.is_envelope:
        _require(controller, jitter)


@isolated
def _require(controller, jitter):
    from ccmatic.logic.solving import SAT, Checker  # imported here: slow to import, and not needed to read controllers

    unknowns = {name: real(name) for name in controller.parameters if name not in ("R_m", "D")}
    values = {**unknowns, "R_m": Fraction(1), "D": Fraction(jitter)}
    checker = Checker()
    for name, unknown in unknowns.items():
        checker.add(unknown > 0 if name in CONSTANTS else unknown >= 0)
    for above, line in controller.unordered(values):
        checker.push()
        checker.add(above)
        if checker.check() == SAT:
            point = ", ".join(f"{name} = {checker.value(unknown)}" for name, unknown in unknowns.items())
            message = f"low is above high at {point or 'any values'}; expected `between(low, high)` with low <= high"
            raise InputError(f"{message}, such as between(low, max(low, high))", controller.file, line)
        checker.pop()
