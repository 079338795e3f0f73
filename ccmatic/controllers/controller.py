"""A controller: a Python function from beliefs to a sending rate; to run, to encode for solvers, to print."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache

from ccmatic.base import CONSTANTS, InputError, markup
from ccmatic.compilers.exact import Rates, run_exactly
from ccmatic.compilers.formula import Encoder, keeps_sign
from ccmatic.compilers.text import listing
from ccmatic.contracts import FlowView
from ccmatic.controllers.beliefs import shipped_beliefs
from ccmatic.controllers.several import Several, parts
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
from ccmatic.logic import Truth, isolated, linear, real


@dataclass(frozen=True)
class Controller:
    """A controller that has been checked by `parse`: what it reads, in units that fit each other, such as bytes, bytes
    per step and steps, and R_m with them; its rate is in these, too.

    name, source, file: for messages and traces; file is None where it is in none.
    parameters: the beliefs and constants that it reads.
    body:       the rate that it returns, as a tree of the classes in `ccmatic.language.tree`.
    state:      what it remembers: nothing.
    start:      the name of the controller that a deployed flow runs until a large loss (section 6.4 of the paper), or
                None; what is verified and proved is from then on.
    is_envelope: whether it leaves a choice of rates somewhere.
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
        """All that it does, to compare: that its name and its text do not change."""
        return self.body, self.start

    def rate(self, values):
        """The rate that it returns at these values, a Fraction: as `rates`, but raises InputError for an envelope, too,
        that leaves a choice there."""
        low, high = self.rates(values)
        if low != high:
            raise InputError(f"{self.name} is an envelope: it allows every rate from {low} to {high} here", self.file)
        return low

    def rates(self, values):
        """The least and the most rate that the controller's own Python returns, as Rates of Fractions: alike but for an
        envelope. values: a number for every parameter, by name. Raises InputError, with the line, for a division by
        0."""
        given = {name: Fraction(values[name]) for name in self.parameters}
        try:
            returned = _run(self.source, self.file or f"<{self.name}>")(**given)
        except ZeroDivisionError as error:
            line = error.__traceback__.tb_next.tb_lineno
            message = "divides by 0 at these values, expected a divisor other than 0"
            raise InputError(message, self.file, line) from None
        return returned if isinstance(returned, Rates) else Rates(returned, returned)

    def allowed(self, values):
        """The least and the most rate that a sender may choose, which sends at least a packet in an R_m; any, so None,
        where the least would be above the most. values: of every parameter, of R_m and of MSS. Raises as `rates`."""
        low, high = self.rates(values)
        floor = Fraction(values["MSS"]) / values["R_m"]
        return Rates(max(low, floor), max(high, floor)) if low <= high else None

    def laws(self, view: FlowView) -> Iterator[tuple[str, int, Truth]]:
        """The laws of a sender that this controller decides for, as a model's: (law name, t, formula). At each step it
        chooses, by what it believed at the end of the step before; at least a packet a step.

        view: of its flow, such as `contracts.FlowView`. Where that is of numbers, the controller's own Python is run,
        and no rate is one that lies between a low and a high in the wrong order. Raises InputError, with the line, for
        a division by 0.
        """
        for t in range(1, view.horizon):
            beliefs = {name: column[t - 1] for name, column in view.beliefs.items()}
            inputs = {**beliefs, "R_m": 1, "D": view.D, "MSS": view.alpha}
            if view.numeric:
                allowed = self.allowed(inputs)
                chosen = allowed is not None and allowed.low <= view.r[t] <= allowed.high
            else:
                chosen = self.encode(inputs, view.r[t], view.alpha)
            yield "rate_is_the_controllers", t, chosen

    def encode(self, values, rate, floor):
        """The formula rate = max(floor, the rate that the controller returns), linear in the terms given. Of an
        envelope: the rate lies between those of its ends; where low > high it is any, so that nothing follows.

        `values` maps each parameter to a term or a number, as R_m and D have to be; rate and floor are terms.
        A division by 0 raises InputError even where only some values lead to it.
        """
        return Encoder(values, self.file).body(self.body, rate, floor)

    def is_alike_from(self, values, name, least):
        """Whether it does the same for all values of a parameter that are at least `least`: no comparison tells them
        apart, and no rate is of it. values: as `encode`'s."""
        if any(name in names(leaf) for leaf in _returns(self.body)):
            return False
        here, further = (Encoder({**values, name: linear(number)}, self.file) for number in (least, least + 1))
        return all(keeps_sign(here.difference(tree), further.difference(tree)) for tree in comparisons(self.body))

    def unordered(self, values):
        """Yield (formula, line) for each `between(low, high)`: that it is reached, and low > high. values: as
        `encode`'s."""
        return Encoder(values, self.file).unordered(self.body)

    @isolated
    def shape(self):
        """What the controller shares with its class (docs/encoding.md, section 9, "Counting"): its branches with the
        coefficients of the beliefs only, to compare. None if it is more than branches of linear terms."""
        beliefs = {name: real(name) for name in self.parameters if name not in CONSTANTS}
        try:
            return _shape(Encoder({**beliefs, "R_m": 1, "D": 1, "MSS": 0}, self.file), self.body)
        except _NoShape:
            return None

    def pretty(self):
        """The controller as mathematics for people: lines of if, elif, else and `rate = …`."""
        return "\n".join(listing(self.body))

    def __repr__(self):
        return f"<controller {self.name}({', '.join(self.parameters)})>"

    def _repr_html_(self):
        return markup.paragraphs([f"{self.name}({', '.join(self.parameters)})"]) + markup.listing(self.pretty())


def parse(source, name="controller", file=None, beliefs=None, observations=None) -> Controller | Stateful | Several:
    """The controller that `source` defines: a Controller, or a Stateful if there are observations; or those of several
    flows.

    file: its path, for messages. beliefs: what it may read, by name, to units; None: those of all shipped models.
    observations: of a model whose senders send by a window, where controllers may have state. Raises InputError, with
    the file and the line, where the source is not one, which says what was expected there.
    """
    source = source.removeprefix("\ufeff")
    if several := parts(source):
        return Several(tuple(parse(part, each, file, beliefs, observations) for each, part in several))
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
    """The controller in a file, by its path or by the name of one that ccmatic ships; it is named after the file. As
    `parse`; raises InputError also where there is no such file."""
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
    """A controller that sends by a window where senders send at rates, or the other way round."""


_run = lru_cache(maxsize=1024)(run_exactly)


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
    """What a body returns, on each path."""
    if not isinstance(tree, If):
        yield tree
        return
    yield from _returns(tree.then)
    yield from _returns(tree.other)


def _belief_part(form):
    if any(not node.is_symbol() for node in form.coefficients):
        raise _NoShape
    return tuple(sorted((node.symbol_name(), coefficient) for node, coefficient in form.coefficients.items()))
