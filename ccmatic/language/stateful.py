"""The reader of controllers with state: the state, its update in each step, and the window or rate of the sender.

Controllers with state use the same Python subset and the same reader as other controllers. At module level, `NAME: UNIT
= VALUE` declares state. `update` sets the state from the sender's observations. `send` returns a window, a rate, or
both.
"""

import ast
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ccmatic.base import BYTES, CONDITION, CONSTANTS, NUMBER, RATE, TIME, InputError, Unit, suggest, syntax_tree
from ccmatic.language.beliefs import Belief, Observation, add_beliefs
from ccmatic.language.observed_terms import TRUTH, TermReader
from ccmatic.language.reader import parsed
from ccmatic.language.scope import Meaning, Row
from ccmatic.language.source import assignment, first_line, is_constant, observation_of
from ccmatic.language.tree import AnyOf, Between, Binary, Bounded, If, Impossible, Name, NextState, Number, Tree

#: The units of state, by the names that declarations use.
UNITS: dict[str, Unit | str] = {"bytes": BYTES, "rate": RATE, "time": TIME, "number": NUMBER, "condition": CONDITION}

#: The initial window of RFC 6928: ten packets.
_PACKETS = Binary("*", Number(Fraction(10)), Name("MSS"))
_MORE: dict[Unit | str, Tree] = {
    BYTES: _PACKETS,
    RATE: Binary("/", _PACKETS, Name("R_m")),
    TIME: Name("step"),
    NUMBER: Number(Fraction(1)),
}

#: Terms over a window sender's observations. Each has the name that other programs use for its quantity.
_WRITTEN = {
    **dict.fromkeys(("inflight", "in_flight", "pipe", "packets_in_flight"), "sent - acked - lost"),
    **dict.fromkeys(("rtt", "latest_rtt", "last_rtt"), "R_m + delay"),
    **dict.fromkeys(("srtt", "smoothed_rtt"), "R_m + delay, or a mean of delays in state of unit `time`"),
    **dict.fromkeys(("min_rtt", "base_rtt", "rtt_min"), "R_m, which is the least RTT"),
    **dict.fromkeys(("mss", "SMSS", "segment_size"), "MSS"),
    **dict.fromkeys(("delivered", "delivered_bytes"), "acked"),
    **dict.fromkeys(("delivery_rate", "bandwidth", "btl_bw"), "ack_rate, or max_over(ack_rate, 4)"),
}

_INITIAL = "a number, anything(), above(a), between(a, b) or any_of(a, b, …)"


@dataclass(frozen=True)
class Declaration:
    """The declaration of a state variable of a controller.

    Attributes:
        name: The name of the variable.
        unit: The unit of the variable.
        kind: The form of the restriction on the initial value: `equal`, `anything`, `above`, `between` or `any_of`.
        terms: The terms of this restriction. These terms contain only numbers and constants.
        line: The line of the declaration.
        observations: The observations of the model, as in `read_stateful`. The terms may read the constant
            observations.
        flow: The number of the variable's flow, from 1, if there are several flows; None if every flow has this
            variable.
        belief: The belief that this variable stores, if any.
    """

    name: str
    unit: Unit | str
    kind: str
    terms: tuple[Tree, ...]
    line: int = field(compare=False)
    observations: Mapping[str, Observation] = field(compare=False, repr=False)
    flow: int | None = None
    belief: Belief | None = field(default=None, compare=False, repr=False)

    @property
    def chosen(self) -> Tree:
        """The initial value, as a tree, in a deployed sender, where no solver chooses it.

        The value is the first of the allowed values, and the smallest value of a range. For an upper bound, the value
        is the last allowed value. If every value is allowed, the unit decides: ten packets (in bytes, or per R_m), one
        step, or the number 1. If the value must lie above a number, it exceeds the number by the amount for its unit. A
        condition without restriction starts as false.
        """
        if self.unit == CONDITION:
            return self.terms[0] if self.terms else TRUTH[False]
        if self.kind == "above":
            return Binary("+", self.terms[0], _MORE[self.unit])
        return self.terms[-1 if self.is_upper else 0] if self.terms else _MORE[self.unit]

    @property
    def is_restricted(self) -> bool:
        """The author does not restrict the value by `anything()`, nor that of a belief."""
        return self.kind != "anything" and not self.belief

    @property
    def is_upper(self) -> bool:
        return bool(self.belief and self.belief.upper)


@dataclass(frozen=True)
class Parts:
    """The parts of the source of a controller with state.

    Attributes:
        state: The declared state.
        update: The update as a tree whose paths end in `NextState`.
        window: The window of the sender as a tree; None if the controller sets only a rate.
        rate: The rate of the sender as a tree; None if the controller sets only a window.
        parameters: All names that the source reads, except the names of its state.
    """

    state: tuple[Declaration, ...]
    update: Tree
    window: Tree | None
    rate: Tree | None
    parameters: tuple[str, ...]


def read_stateful(
    source: str, observations: Mapping[str, Observation], beliefs: Mapping[str, Belief], file: str | None = None
) -> Parts:
    """Read a controller with state; it may always read constants, besides the given observations and beliefs."""
    return parsed(source, file, _StatefulReader(source, observations, beliefs, file).parts)


def rate_line(source: str) -> int | None:
    """Return the line of the function `rate` in a source without `send` and `update`; otherwise None."""
    functions = {function.name: function.lineno for function in _functions(source)}
    return None if functions.keys() & {"send", "update"} else functions.get("rate")


def is_stateful(source: str) -> bool:
    return any(function.name in ("send", "update") for function in _functions(source))


def _functions(source: str) -> list[ast.FunctionDef]:
    try:
        module = syntax_tree(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    return [statement for statement in module.body if isinstance(statement, ast.FunctionDef)]


class _StatefulReader(TermReader):
    """Reads the whole source. In `update`, state may be assigned repeatedly, and `return` is rejected."""

    WHOLE = "state such as `window: bytes = above(0)`, constants, `def update(…)` and `def send(…)`"

    def __init__(
        self, source: str, observations: Mapping[str, Observation], beliefs: Mapping[str, Belief], file: str | None
    ) -> None:
        super().__init__(source, observations, beliefs, file)
        self.reserved |= {"anything", "above", "assume", "send", "update"}
        self.state: dict[str, Declaration] = {}
        self.updating = False
        self.read: dict[str, None] = {}
        self.believed: dict[str, Belief] = {}
        self.constants: dict[str, Meaning] = {}
        self.sent: set[tuple[str, ...]] = set()

    def parts(self, module: ast.Module) -> Parts:
        self.believed = add_beliefs(module, self.beliefs, self.file)
        functions = self.statements(self.whole_module(module))
        if "send" not in functions:
            raise InputError("found no function `send`, expected `def send(…)` that returns a window", self.file, 1)
        if bool(self.state) != ("update" in functions):
            part, expected = ("state", "update(…)") if self.state else ("`update`", "state that it sets")
            place = functions.get("update") or functions["send"]
            self.fail(place, f"found {part} alone, expected also {expected}")
        self.constants = dict(self.names)
        update = self.update(functions["update"]) if self.state else NextState({})
        window, rate = self.send(functions["send"])
        return Parts(tuple(self.state.values()), update, window, rate, tuple(self.read))

    def statements(self, statements: list[ast.stmt]) -> dict[str, ast.FunctionDef]:
        functions: dict[str, ast.FunctionDef] = {}
        for statement in statements:
            match statement:
                case ast.AnnAssign():
                    self.declare(statement)
                case ast.FunctionDef(name="update" | "send" as name) if name not in functions:
                    functions[name] = statement
                case ast.FunctionDef(name=name):
                    self.fail(statement, f"found function `{name}`, expected one `update` and one `send`")
                case _ if is_constant(statement):
                    self.check_target(statement, self.names)
                    self.assign(statement)
                case _ if observation_of(statement):
                    self.check_target(statement, self.names)
                case _:
                    self.fail(statement, f"found `{first_line(statement)}`, expected {self.WHOLE}")
        return functions

    def declare(self, statement: ast.AnnAssign) -> None:
        """Read `NAME: UNIT = VALUE`."""
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=ast.Name(id=unit), value=ast.expr() as value):
                pass
            case _:
                text = first_line(statement)
                self.fail(statement, f"found `{text}`, expected state such as `window: bytes = above(0)`")
        if unit not in UNITS:
            self.fail(statement, f"`{name}` is in `{unit}`, expected a unit; {suggest(unit, UNITS)}")
        if self.is_reserved(name) or name in self.state or name in self.names or name.startswith("_"):
            self.fail(statement, f"declares `{name}`, which has a meaning already; expected another name")
        kind, terms = self.initial(name, UNITS[unit], value)
        self.state[name] = Declaration(
            name, UNITS[unit], kind, terms, statement.lineno, self.observations, belief=self.believed.get(name)
        )

    def initial(self, name: str, unit: Unit | str, node: ast.expr) -> tuple[str, tuple[Tree, ...]]:
        """Return the kind of an initial value's restriction, and its terms."""
        match node:
            case ast.Constant(value=bool(truth)) if unit == CONDITION:
                return "equal", (TRUTH[truth],)
            case ast.Call(func=ast.Name(id="anything"), args=[], keywords=[]):
                return "anything", ()
            case _ if unit == CONDITION:
                self.fail(node, f"`{name}` is a condition, expected True, False or anything()")
            case ast.Call(func=ast.Name(id="above"), args=[_] as nodes, keywords=[]):
                kind = "above"
            case ast.Call(func=ast.Name(id="between"), args=[_, _] as nodes, keywords=[]):
                kind = "between"
            case ast.Call(func=ast.Name(id="any_of"), args=[_, *_] as nodes, keywords=[]):
                kind = "any_of"
            case ast.Call(func=ast.Name(id="any_of" | "above" | "between" | "anything")):
                self.fail(node, f"found `{ast.unparse(node)}`, expected {_INITIAL}")
            case _:
                kind, nodes = "equal", [node]
        self.parameters = (*CONSTANTS, *(each.name for each in self.observations.values() if each.constant))
        self.takes_tanh = False  # a solver chooses initial values, so formulas must be able to express them
        terms = tuple(self.in_unit(name, unit, each) for each in nodes)
        self.parameters, self.takes_tanh = None, True
        return kind, terms

    def parameter_names(self, function: ast.FunctionDef) -> tuple[str, ...]:
        self.units |= {memory.name: memory.unit for memory in self.state.values()}
        names = super().parameter_names(function)
        for argument, name in zip(function.args.args, names, strict=True):
            observation = self.observations.get(name)
            is_belief = name in self.beliefs and name not in self.state
            if function.name == "send" and (is_belief or (observation and not observation.constant)):
                self.fail(argument, f"`send` reads `{name}`, expected only state and constants; `update` may read it")
        self.read |= dict.fromkeys(name for name in names if name not in self.state)
        return names

    def unknown(self, name: str) -> str:
        """Suggest a term, or a declaration of state."""
        expected = f"unknown parameter `{name}`, expected state, an observation, a belief or a constant"
        if name in _WRITTEN:
            return f"{expected}; for `{name}` write {_WRITTEN[name]}"
        suggestion = suggest(name, self.units)
        declared = (
            "" if suggestion.startswith("did") else f"; state is declared before, such as `{name}: bytes = above(0)`"
        )
        return f"{expected}; {suggestion}{declared}"

    def enter(self, function: ast.FunctionDef) -> tuple[tuple[str, ...], list[ast.stmt]]:
        """At the beginning of a function, only constants have meanings."""
        self.names = dict(self.constants)
        return self.begin(function)

    def update(self, function: ast.FunctionDef) -> Tree:
        self.updating = True
        parameters, body = self.enter(function)
        if not body:
            self.fail(function, "found an empty `update`, expected assignments to state")
        for memory in self.state.values():
            if memory.name in parameters:
                self.names[memory.name] = Name(memory.name), memory.unit
            if memory.name not in self.assigned:
                where = ast.copy_location(ast.Pass(), function)
                where.lineno = memory.line
                self.fail(
                    where, f"`{memory.name}` is never set by `update`, expected state that changes, or a constant"
                )
        tree = self.block(body, function)
        self.updating = False
        return tree

    def send(self, function: ast.FunctionDef) -> tuple[Tree | None, Tree | None]:
        """Return the window and the rate. One of the two may be None; if so, on every path."""
        _, body = self.enter(function)
        tree = self.block(body, function)
        if len(self.sent) > 1:
            self.fail(function, "returns a window, a rate, or both on some paths only, expected the same on all")
        [sent] = self.sent
        return _picked(tree, "window") if "window" in sent else None, _picked(tree, "rate") if "rate" in sent else None

    def returned(self, statement: ast.Return) -> NextState:
        self.count(statement)
        value = statement.value
        nodes = value.elts if isinstance(value, ast.Tuple) else [value] if value else []
        if not 1 <= len(nodes) <= 2:
            self.fail(statement, f"found `{ast.unparse(statement)}`, expected a window, a rate, or a window and a rate")
        expressions = [self.expression(node) for node in nodes]
        names = ("window", "rate") if len(nodes) == 2 else ("rate" if expressions[0][1] == RATE else "window",)
        self.sent.add(names)
        amounts = zip(names, nodes, expressions, strict=True)
        return NextState({name: self.amount(name, node, *each) for name, node, each in amounts})

    def amount(self, name: str, node: ast.expr, tree: Tree, term_unit: Unit | None) -> Tree:
        unit = {"window": BYTES, "rate": RATE}[name]
        if term_unit not in (None, unit):
            self.fail(node, f"returns `{ast.unparse(node)}` ({term_unit}), expected a {name} ({unit})")
        if not self.read_names(tree) and self.value_of(tree) <= 0:
            self.fail(node, f"returns a {name} of `{ast.unparse(node)}`, expected one above 0")
        return self.whole(node, tree)

    def check_other(self, statement: ast.stmt) -> None:
        """Allow `assume(…)` in `update`, and reject a return in `update`."""
        if not self.updating:
            super().check_other(statement)
        elif _assumed(statement) is None:
            text = first_line(statement)
            self.fail(statement, f"found `{text}`, expected `if`, `assume(…)` or an assignment to one name")

    def check_target(self, statement: ast.stmt, taken: Collection[str]) -> None:
        name, _ = assignment(statement)
        if not (self.updating and name in self.state):
            super().check_target(statement, {*taken, *self.state})

    def block(self, statements: list[ast.stmt], before: ast.stmt) -> Tree:
        if not self.updating:
            return super().block(statements, before)
        for index, statement in enumerate(statements):
            rest = statements[index + 1 :]
            if isinstance(statement, ast.If):
                return self.branches(statement, rest)
            if (assumed := _assumed(statement)) is not None:
                test = self.whole(assumed, self.condition(assumed))
                self.enter_branch(statement)
                tree = If(test, self.block(rest, statement), Impossible())
                self.branch -= 1
                return tree
            self.assign(statement)
        self.count(before)
        kept: dict[str, Meaning] = {name: (Name(name), None) for name in self.state}
        now = {name: self.names.get(name, meaning) for name, meaning in kept.items()}
        return NextState({name: tree for name, (tree, _) in now.items() if not isinstance(tree, Row)})

    def assign(self, statement: ast.stmt) -> None:
        name, node = assignment(statement)
        if name not in self.state:
            super().assign(statement)
            return
        memory = self.state[name]
        tree: Tree
        match node:
            case ast.Call(func=ast.Name(id="any_of"), args=[_, _, *_] as options, keywords=[]):
                tree = AnyOf(tuple(self.in_unit(name, memory.unit, option) for option in options))
            case ast.Call(func=ast.Name(id="between"), args=[low, high], keywords=[]):
                tree = Between(*self.bounds(memory, low, high), node.lineno)
            case ast.Call(func=ast.Name(id="bounded"), args=[law, low, high], keywords=[]):
                tree = Bounded(self.law(name, memory.unit, law), *self.bounds(memory, low, high), node.lineno)
            case _ if memory.unit == CONDITION:
                tree = self.local(name, node, self.condition(node))
            case _:
                tree = self.local(name, node, self.in_unit(name, memory.unit, node))
        self.names[name] = tree, memory.unit

    def bounds(self, memory: Declaration, low: ast.expr, high: ast.expr) -> tuple[Tree, Tree]:
        return self.in_unit(memory.name, memory.unit, low), self.in_unit(memory.name, memory.unit, high)


def _picked(tree: Tree, name: str) -> Tree:
    match tree:
        case If(test, then, other):
            return If(test, _picked(then, name), _picked(other, name))
        case NextState(values):
            return values[name]
    raise TypeError(f"no end of a path: {tree!r}")


def _assumed(statement: ast.stmt) -> ast.expr | None:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="assume"), args=[condition], keywords=[])):
            return condition
    return None
