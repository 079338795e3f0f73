"""Formulas of learning senders: observations, rewards and actions. Each formula comes from a file of functions.

A formula reads the measurements that a sender made in one monitor interval. A formula may also read measures: shared
formulas, such as the loss rate. A register is a number that a sender keeps from one interval to the next. A register
has an initial value, and a formula for its next value.

A controller's text reads an observation as `full = observation("FILE.py")`, and then `full[0]` in `update`. A step of
the controller is then the monitor interval. The bytes sent, acknowledged and lost in an interval are differences
between the controller's observations. Delays are rounded down to whole steps, because a controller observes whole
steps. The reader rejects other observations, such as a mean RTT.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property
from itertools import chain, pairwise
from pathlib import Path
from typing import Any

from ccmatic.base import (
    BYTES,
    CONSTANTS,
    NUMBER,
    RATE,
    TIME,
    InputError,
    Unit,
    definitions,
    read_text,
    shown,
    suggest,
    syntax_tree,
)
from ccmatic.contracts import SenderBelief
from ccmatic.language import (
    LIST,
    Local,
    Name,
    TermsReader,
    Vector,
    Walker,
    bare,
    names,
    observation_of,
    replaced,
    value,
)


def shipped_beliefs() -> Mapping[str, Any]:
    """Return the units of the beliefs of all shipped models, by name.

    A controller may read these beliefs if the caller names no beliefs. The controller's local names must differ from
    them. The models are imported at the first look-up, because most controllers need no look-up.
    """
    return _ShippedBeliefs()


class _ShippedBeliefs(Mapping[str, Any]):
    def __getitem__(self, name: str) -> Any:
        return _units()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_units())

    def __len__(self) -> int:
        return len(_units())


@cache
def _units() -> Mapping[str, Any]:
    return {belief.name: belief.unit for model in definitions.every("models", "MODEL") for belief in model.beliefs}


#: First, the folder of each kind of formula, by the name of the function that its files define. Second, the folder of
#: measures.
FOLDERS = {
    "observe": "models.signals.observations",
    "reward": "models.signals.rewards",
    "act": "models.signals.actions",
}
MEASURES = "models.signals.measures"

#: The measurements that a sender makes in a monitor interval: the length of the interval; the bytes sent,
#: acknowledged and lost; the mean RTT of the acknowledged bytes, and the RTT of the last of them; the bytes in flight
#: at the end; and the bytes acknowledged with a mark. The same names with the suffix `_before` stand for the
#: measurements in the previous interval.
INTERVAL = {"seconds": TIME, "sent": BYTES, "acked": BYTES, "lost": BYTES, "rtt": TIME, "rtt_end": TIME, "out": BYTES}
INTERVAL |= {"marked": BYTES}
BEFORE = "_before"

#: The largest number of actions of a discrete choice.
MOST_CHOICES = 1024

#: The units of constants, and the values of some constants in bytes and seconds. `mbit` is one Mbit/s.
FIXED = {"second": TIME, "byte": BYTES, "mbit": RATE, **{name: CONSTANTS[name] for name in ("R_m", "MSS")}}

IN_SECONDS = {"second": 1, "byte": 1, "mbit": 125_000}

#: The measure that senders use for R_m, except in the initial values of registers: the smallest RTT so far.
LEAST_RTT = "least_rtt"

#: The names that every sender can read: its measurements, its last rate and action, and constants.
MEASURED = {**INTERVAL, **{f"{name}{BEFORE}": unit for name, unit in INTERVAL.items()}, **FIXED}
MEASURED |= {"rate": RATE, "action": NUMBER}

#: The widths of a flow's particles for three quantities: the queueing delay, the logarithm of the flow's own rate,
#: and the logarithm of the other flows' rates.
PARTICLES = {"delay_width": TIME, "own_width": NUMBER, "others_width": NUMBER}

#: Further names that a simulator provides for rewards: the link's mean rate, the sum and the standard deviation of
#: the throughput of its flows, and particles.
SIMULATED = {"capacity": RATE, "throughput_sum": RATE, "throughput_deviation": RATE, **PARTICLES}


@dataclass(frozen=True)
class Register:
    """A number that a sender keeps from one interval to the next.

    Attributes:
        first: The initial value, a tree of constants.
        next: The next value, a tree of an interval's measurements and of registers. The formula reads registers of the
            same file as they were before the interval. The formula reads registers of other files as they are after the
            interval.
    """

    name: str
    unit: Any
    first: Any
    next: Any


@dataclass(frozen=True)
class Signal:
    """An observation, a reward or an action, as `load` reads it.

    Attributes:
        kind: `observe`, `reward` or `act`.
        name: The name of a shipped formula, or the absolute path of its file.
        term: The tree of the formula; for an observation, a Vector of numbers.
        memory: The registers that the formula reads, in one group per file. The groups are computed in this order. All
            registers of a group are updated at the same time.
        bounds: For an action, the smallest and the largest action.
    """

    kind: str
    name: str
    term: Any
    memory: tuple[tuple[Register, ...], ...]
    source: str = field(repr=False)
    file: str
    bounds: tuple[float, float] | None = None

    @property
    def size(self) -> int:
        return len(self.term.terms)

    @property
    def warning(self) -> str | None:
        """The paragraph of the file's docstring that begins with "Warning: ", without this word; None without one."""
        text = ast.get_docstring(syntax_tree(self.source)) or ""
        found = (part.removeprefix("Warning: ") for part in text.split("\n\n") if part.startswith("Warning: "))
        return next((" ".join(part.split()) for part in found), None)

    @cached_property
    def inputs(self) -> frozenset[str]:
        """The names, except registers, that the formula and its registers read."""
        registers = list(chain.from_iterable(self.memory))
        read = names(self.term).union(*(names(each.next) for each in registers))
        return frozenset(read - {each.name for each in registers})


@dataclass(frozen=True)
class Measure:
    """A term that several formulas share, with its unit.

    The term also lists the registers that it reads, as a Signal does.
    """

    term: Any
    unit: Any
    memory: tuple[tuple[Register, ...], ...]


def load(kind: str, name: str) -> Signal:
    """Read the formula of a kind (`observe`, `reward` or `act`) in a file, or the shipped formula of a name."""
    shipped = definitions.shipped(FOLDERS[kind])
    if not isinstance(name, str | Path) or (not definitions.is_path(name) and name not in shipped):
        raise InputError(f"unknown {kind} '{shown(name)}'; {suggest(shown(name), shipped)}")
    file = definitions.find_file([FOLDERS[kind]], name, ".py")
    return _load(kind, definitions.absolute(name), str(file), read_text(file))


@cache
def _load(kind, name, file, source):
    reader = _Reader(source, file, kind)
    results = reader.read_functions()
    if kind not in results:
        raise InputError(f"found no function `{kind}`, expected `def {kind}(...)`", file, 1)
    bounds = _bounds(results, file) if kind == "act" else None
    return Signal(kind, name, results[kind][0], reader.all_memory(), source, file, bounds)


def _bounds(results, file):
    term, _ = results.get("bounds", (None, None))
    if not isinstance(term, Vector) or len(term.terms) != 2 or names(term):
        raise InputError("found no bounds of actions, expected `def bounds()` that returns two numbers", file, 1)
    low, high = map(float, value(term))
    return low, high


def choices(given: Any, bounds: tuple[float, float]) -> tuple[float, ...]:
    """Return the actions of a discrete choice as floats: at least two within the bounds, ascending; empty for none."""
    low, high = bounds
    expected = f"expected 2 to {MOST_CHOICES} ascending numbers from {low:g} to {high:g}"
    if not isinstance(given, list | tuple) or any(isinstance(x, bool) or not isinstance(x, int | float) for x in given):
        raise InputError(f"choices is {shown(given)}; {expected}")
    ascends = all(a < b for a, b in pairwise(given)) and all(low <= x <= high for x in given)
    if given and not (ascends and 2 <= len(given) <= MOST_CHOICES):
        raise InputError(f"choices is {shown(given)}; {expected}")
    return tuple(map(float, given))


@cache
def measure(name: str) -> Measure:
    """Return a shipped measure by its name, whose suffix may select the previous interval."""
    if name.endswith(BEFORE):
        return _measure_before(name, measure(name.removesuffix(BEFORE)))
    file = str(definitions.find_file([MEASURES], name, ".py"))
    source = read_text(file)
    reader = _Reader(source, file)
    results = reader.read_functions()
    memory = reader.all_memory()
    if name in reader.firsts:
        return Measure(Name(name), reader.units[name], memory)
    if name not in results:
        raise InputError(f"found no function `{name}`, expected `def {name}(...)`, or a register", file, 1)
    return Measure(*results[name], memory)


def _measure_before(name, now):
    """Return the measure for the previous interval. The measure may read only measurements of that interval."""
    if now.memory or names(now.term) - {*INTERVAL, *FIXED}:
        raise InputError(f"found `{name}`, expected a measure that reads one interval alone")
    meanings = {each: Name(f"{each}{BEFORE}") for each in INTERVAL}
    return Measure(Local(name, replaced(bare(now.term), meanings)), now.unit, ())


@cache
def shared_memory() -> tuple[tuple[Register, ...], ...]:
    """Return the registers of all shipped measures, in groups, as in Signal."""
    return joined(*(measure(name).memory for name in definitions.shipped(MEASURES)))


def joined(*memories) -> tuple[tuple[Register, ...], ...]:
    """Return all groups of registers of several formulas once; InputError if two registers share a name."""
    groups = tuple(dict.fromkeys(chain.from_iterable(memories)))
    count = Counter(each.name for group in groups for each in group)
    if twice := [name for name, number in count.items() if number > 1]:
        raise InputError(f"two formulas remember `{twice[0]}`; expected registers of different names")
    return groups


def memory_of(signals) -> tuple[tuple[Register, ...], ...]:
    """Return the registers of several Signals in groups.

    If a Signal reads R_m, the result includes the registers of R_m.
    """
    needed = measure(LEAST_RTT).memory if any("R_m" in each.inputs for each in signals) else ()
    return joined(needed, *(each.memory for each in signals))


@cache
def _readable(kind):
    own = {"observe": {"reward"}, "reward": {*SIMULATED}, "act": {"rate"}}[kind]
    return frozenset({*MEASURED, *shipped_beliefs()} - {"rate"} | own)


class _Reader(TermsReader):
    """A reader of one file. `kind` is as in `load`, or None for a measure."""

    def __init__(self, source, file, kind=None):
        units = {**shipped_beliefs(), **MEASURED, **SIMULATED}
        super().__init__(source, units | ({"reward": NUMBER} if kind == "observe" else {}), file)
        self.kind = kind
        self.inputs = frozenset(self.units)
        self.readable = _readable(kind) if kind else self.inputs
        self.firsts, self.nexts, self.memory = {}, {}, []

    def parameter_names(self, function):
        for argument in function.args.args:
            if argument.arg not in self.units:
                self.resolve(argument)
            tree, _ = self.results.get(argument.arg, (Name(argument.arg), None))
            for name in sorted(self.read_names(tree) & self.inputs - self.readable):
                self.fail(argument, f"reads `{name}`, which is not known there; expected it in other formulas only")
        return super().parameter_names(function)

    def resolve(self, argument):
        name, shipped = argument.arg, definitions.shipped(MEASURES)
        if name.removesuffix(BEFORE) not in shipped:
            expected = f"expected what is measured; {suggest(name, [*self.units, *shipped])}"
            self.fail(argument, f"unknown name `{name}`, {expected}")
        try:
            shipped_measure = measure(name)
        except InputError as error:
            raise error if error.file else InputError(error.message, self.file, argument.lineno) from None
        self.results[name], self.units[name] = (shipped_measure.term, shipped_measure.unit), shipped_measure.unit
        self.memory.append(shipped_measure.memory)

    def result(self, function):
        tree, unit = super().result(function)
        if function.name == self.kind:
            self.require_unit_of_kind(function, unit)
        kind, _, name = function.name.partition("_")
        if kind == "first":
            if name in self.units or (self.kind and name in definitions.shipped(MEASURES)):
                self.fail(function, f"remembers `{name}`, which has a meaning already; expected another name")
            if self.read_names(tree) - FIXED.keys() or not isinstance(unit, Unit | None):
                self.fail(function, f"`{function.name}` is no constant number; expected one of {', '.join(FIXED)}")
            self.firsts[name], self.units[name] = tree, unit or NUMBER
        elif kind == "next":
            if name not in self.firsts:
                self.fail(function, f"found no `first_{name}` before `{function.name}`, expected one")
            if unit not in (None, self.units[name]):
                self.fail(function, f"`{function.name}` returns {unit}, expected {self.units[name]} as at first")
            self.nexts[name] = tree
        return tree, unit

    def require_unit_of_kind(self, function, unit):
        """Require that an observation is a list of numbers, a reward is a number, or an action is a rate."""
        is_list = isinstance(unit, tuple)
        if is_list != (self.kind == "observe"):
            shape, expected = ("a list", "one number") if is_list else ("one number", "a list of numbers")
            self.fail(function, f"`{self.kind}` returns {shape}, expected {expected}")
        if unit == ():
            self.fail(function, f"`{self.kind}` returns an empty list, expected at least one number")
        expected = RATE if self.kind == "act" else NUMBER
        for part in unit if is_list else (unit,):
            if part not in (None, expected):
                self.fail(function, f"`{self.kind}` returns {part}, expected {expected}")

    def all_memory(self):
        """Return the registers of other files that this file reads, and then its own registers."""
        if missing := self.firsts.keys() - self.nexts:
            raise InputError(f"found `first_{min(missing)}` without `next_{min(missing)}`, expected both", self.file)
        own = tuple(Register(name, self.units[name], self.firsts[name], self.nexts[name]) for name in self.firsts)
        return joined(*self.memory, (own,) * bool(own))


#: The observations of learners in the language of controllers: for each one (text, the names that the text reads).
_BYTES = ("sent", "acked", "lost", "marked")
_MEANINGS = {
    **{name: (f"({name} - {name}[step])", (name, "step")) for name in _BYTES},
    **{f"{name}{BEFORE}": (f"({name}[step] - {name}[2 * step])", (name, "step")) for name in _BYTES},
    "out": ("(sent - acked - lost)", ("sent", "acked", "lost")),
    f"out{BEFORE}": ("(sent[step] - acked[step] - lost[step])", ("sent", "acked", "lost", "step")),
    "rtt_end": ("(R_m + delay)", ("R_m", "delay")),
    f"rtt_end{BEFORE}": ("(R_m + delay[step])", ("R_m", "delay", "step")),
    **dict.fromkeys(("seconds", f"seconds{BEFORE}"), ("step", ("step",))),
    **{name: (name, (name,)) for name in ("MSS", "R_m")},
}


def observations_in(source, file):
    """Return the learners' observations in a controller's text, by name, as beliefs that the `update` computes.

    Paths of observations are relative to the folder of the controller's file.
    """
    try:
        statements = syntax_tree(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}  # the reader of controllers reports the mistake
    observations = filter(None, map(observation_of, statements))
    return {name: _belief(name, path, file) for name, path in observations}


def _belief(name, path, file):
    if file and definitions.is_path(path):
        path = str(Path(file).parent / path)
    observed = load("observe", path)
    if observed.memory:
        remembered = observed.memory[0][0].name
        raise InputError(
            f"remembers `{remembered}`, which is not state of the controller; expected none", observed.file
        )
    writer = _Source(name, observed.file)
    row = ", ".join(writer.walk(each) for each in observed.term.terms)
    body = "".join(f"    {line}\n" for line in [*writer.lines, f"{name} = [{row}]"])
    return SenderBelief(name, LIST, "", f"def update({', '.join(writer.read)}):\n{body}")


class _Source(Walker):
    """A writer of terms in the language of controllers. `name` prefixes the names of assigned values."""

    WORLD = "meaning in a controller"

    def __init__(self, name, file):
        super().__init__(file)
        self.name, self.lines, self.read = name, [], {}

    def visit_Number(self, node):
        number = Fraction(node.value)
        return f"({number.numerator} / {number.denominator})" if number.denominator > 1 else f"({number.numerator})"

    def visit_Name(self, node):
        if node.name not in _MEANINGS:
            self.refuse(node, f"reads `{node.name}`, which no controller observes; expected {', '.join(_MEANINGS)}")
        text, read = _MEANINGS[node.name]
        self.read |= dict.fromkeys(read)
        return text

    def visit_Local(self, node):
        text = yield node.term
        assigned = f"{self.name}_{node.name}_{len(self.lines)}"
        self.lines.append(f"{assigned} = {text}")
        return assigned

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)
        return f"({left} {node.op} {right})"

    def visit_Extreme(self, node):
        return f"{node.pick}({', '.join((yield from self.results(node.terms)))})"

    def visit_If(self, node):
        test, then, other = yield from self.results((node.test, node.then, node.other))
        return f"({then} if {test} else {other})"

    visit_Comparison = visit_Binary

    def visit_Logic(self, node):
        return f"({f' {node.op} '.join((yield from self.results(node.parts)))})"

    def visit_Not(self, node):
        return f"(not {(yield node.part)})"
