"""Checks of user-written definitions, before any query uses them."""

import inspect
import re
from collections.abc import Callable, Collection, Iterable
from dataclasses import is_dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from ccmatic.base import CONSTANTS, InputError, Unit, counted, definitions, place_of
from ccmatic.contracts.belief import Belief, StateBelief, is_bound
from ccmatic.contracts.columns import BEFORE_TIMEOUT, OFFERED, SHARED, Column
from ccmatic.contracts.model import Model
from ccmatic.contracts.program import START, Program
from ccmatic.contracts.proof import Constant, Lemma, Measure, Objective, Proof, RoundProof, State
from ccmatic.contracts.property import Property
from ccmatic.contracts.template import Template
from ccmatic.contracts.views import Execution, Flow

#: The names of unknowns, of columns, and of the parts of an execution. The unknowns of a belief or a column have
#: names that begin with the name of that belief or column.
TAKEN = {*(column.name for column in (*SHARED, *OFFERED)), "C", "t", "alpha", "beta", "limited", *CONSTANTS}
PARTS = {*Flow.__annotations__, *Execution.__annotations__, *dir(Execution)}


def check(attribute: str, definition: Any, file: Path) -> None:
    """Check the form of a definition, whose `attribute` is MODEL, PROPERTY, TEMPLATE or PROOF."""
    try:
        _CHECKS[attribute](definition)
    except InputError as error:
        error.file = error.file or str(file)
        error.line = error.line or _line(attribute, file)
        raise


def load_definition(kind: str, attribute: str, name: Any, allow_code: bool = False) -> Any:
    """Load a definition, such as a Model. If ccmatic does not ship the definition, check its form.

    Args:
        kind: The folder, such as `models`.
        attribute: The variable that the definition's file sets, such as MODEL.
        name: As in `definitions.load`: a shipped name, another package's name or a path, optionally with parameters.
        allow_code: As in `definitions.load`.

    Raises:
        InputError: If no such definition exists, its form is wrong, or its code may not be run.
    """
    return definitions.load(kind, attribute, name, allow_code, partial(check, attribute))


def _line(attribute: str, file: Path) -> int | None:
    lines = file.read_text().splitlines()
    return next((n for n, line in enumerate(lines, 1) if re.match(rf"{attribute}\b", line)), None)


def _instance(attribute: str, definition: Any, kind: type) -> None:
    if isinstance(definition, type):
        raise InputError(
            f"{attribute} is the class {definition.__name__}; expected an instance, {definition.__name__}()"
        )
    if not isinstance(definition, kind):
        article = f"{type(definition).__name__} {definition!r}"
        raise InputError(f"{attribute} is the {article}; expected a {kind.__name__} of {kind.__module__}")


def _model(model: Any) -> None:
    _instance("MODEL", model, Model)
    _overrides(type(model), Model, ("network",))
    _named(model, "the model's name")
    _expect(
        type(model.default_jitter) is int and model.default_jitter >= 0,
        "default_jitter",
        model.default_jitter,
        "a whole number of steps",
    )
    _expect(isinstance(model.columns, (tuple, list)), "columns", model.columns, "a tuple of columns")
    for column in model.columns:
        _column(column)
    for name in ("measures", "has_tokens"):
        given = getattr(type(model), name, None)
        what = "columns in its place, of TOKENS, LAST and FIRST"
        _expect(given is getattr(Model, name, None), name, given, what)
    for name, count in {"network": 1, "timeouts": 1}.items():
        _takes(getattr(model, name), count)
    _expect(isinstance(model.beliefs, (tuple, list)), "beliefs", model.beliefs, "a tuple of beliefs")
    for belief in model.beliefs:
        _belief(belief)
    names = [field.name for field in (*model.columns, *model.beliefs)]
    _expect(len({*names}) == len(names), "beliefs", tuple(names), "columns and beliefs of different names")
    _ordered(model.beliefs)


def _column(column: Any) -> None:
    if column in OFFERED:
        return
    _expect(isinstance(column, Column), "a column", column, "TOKENS, LAST, FIRST or a Column")
    _name("a column", column.name, TAKEN | PARTS)
    _expect(isinstance(column.unit, Unit), f"the unit of {column.name}", column.unit, "one of ccmatic.base")
    _expect(isinstance(column.says, str), f"what {column.name} says", column.says, "text")


def _named(definition: Any, what: str) -> None:
    name = getattr(definition, "name", None)
    _expect(isinstance(name, str), what, name, "text")


def _name(what: str, name: Any, taken: Collection[str]) -> None:
    usable = isinstance(name, str) and name.isidentifier() and name not in taken
    usable = usable and not re.search(rf"^_|^next_|_\d+$|{BEFORE_TIMEOUT}$", name)
    expected = f"an identifier that no column has, not next_… nor ending in _NUMBER or {BEFORE_TIMEOUT}"
    _expect(usable, f"{what}'s name", name, expected)


def _belief(belief: Any) -> None:
    _expect(
        isinstance(belief, StateBelief) or is_bound(belief),
        "a belief",
        belief,
        "a StateBelief, RunningMax or RunningMin",
    )
    name = belief.name
    _name("a belief", name, TAKEN)
    _expect(isinstance(belief.unit, Unit), f"the unit of {name}", belief.unit, "one of ccmatic.base")
    if is_bound(belief):
        takes = {"samples": 2, "start": 2, "true_start": 1, "holds": 2}
    else:
        takes = {"laws": 1, "value": 2, **{part: 2 for part in ("holds_at", "start") if getattr(belief, part)}}
    for part, count in takes.items():
        _takes(getattr(belief, part), count, f"{part} of {name}")


def _ordered(beliefs: Iterable[Belief]) -> None:
    """Raise InputError unless each belief reads, of the beliefs at its own step, only earlier ones in the model's list.

    Running bounds must come first in the list.
    """
    left = {belief.name for belief in beliefs}
    for belief in sorted(beliefs, key=lambda belief: not is_bound(belief)):
        if belief.program:
            _reads_known(belief.name, belief.program, left)
        left.remove(belief.name)


def _reads_known(name: str, program: Program, left: Collection[str]) -> None:
    """Fail if a belief reads, at its own step, one of the beliefs in `left`, which are not yet computed."""
    for function in {name, name + START} & program.definitions.keys():
        for other in sorted(program.reads_now(function) & {*left}):
            when = "is being computed" if other == name else f"is computed after `{name}`"
            expected = f"`{other}[step]`" + ("" if other == name else ", or another order of the beliefs")
            problem = f"`{function}` reads `{other}` at its own step, when that {when}; expected {expected}"
            raise program.error(problem, program.line(function))


def _property(cls: Any) -> None:
    if not (isinstance(cls, type) and issubclass(cls, Property)):
        raise InputError(f"PROPERTY is {cls!r}; expected the class itself, a subclass of ccmatic.contracts.Property")
    _overrides(cls, Property, ("ways_to_fail", "objectives", "holds"))
    _named(cls, "the property's name")
    _expect(is_dataclass(cls), cls.__name__, cls, "a frozen dataclass, whose fields are its thresholds")
    given, shared = (inspect.getattr_static(kind, "from_parameters") for kind in (cls, Property))
    for field in cls.thresholds() if given is shared else ():
        exact = field.type in (Fraction, "Fraction")
        _expect(
            exact or "choices" in field.metadata,
            f"the threshold {field.name}",
            field.type,
            'a Fraction, or text with field(metadata={"choices": …})',
        )


def _proof(proof: Any) -> None:
    if isinstance(proof, RoundProof):
        _takes(proof.laws, 1, "laws")
    else:
        _instance("PROOF", proof, Proof)
        states = [("a state", state, State, {"holds": 3}) for state in proof.states]
        objectives = [("an objective", o, Objective, {"holds": 2}) for s in proof.states for o in s.ensures]
        measures = [("a measure", m, Measure, {"value": 2, "limit": 1}) for s in proof.states for m in s.measures]
        _parts([*states, *objectives, *measures])
    _parts([("a lemma", other, Lemma, {"given": 2, "then": 2}) for other in proof.lemmas])
    for constant in proof.constants:
        _expect(isinstance(constant, Constant), "a constant", constant, "a Constant of ccmatic.contracts")


def _parts(parts: Iterable[tuple[str, Any, type, dict[str, int]]]) -> None:
    for what, part, kind, takes in parts:
        _expect(isinstance(part, kind), what, part, f"a {kind.__name__} of ccmatic.contracts")
        for name, count in takes.items():
            _takes(getattr(part, name), count, f"{name} of {part.name}")


def _overrides(kind: type, base: type, names: Iterable[str]) -> None:
    for name in names:
        given = getattr(kind, name, None)
        if given is None or given is getattr(base, name, None):
            raise InputError(f"{kind.__name__} does not define {name}; expected `def {name}(self, …)`")


def _expect(good: bool, what: str, value: object, expected: str) -> None:
    if not good:
        raise InputError(f"{what} is {value!r}; expected {expected}")


def _takes(function: Any, count: int, name: str | None = None) -> None:
    name = name or function.__name__
    if not callable(function):
        raise InputError(f"{name} is {function!r}; expected a function of {counted(count, 'argument')}")
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError as error:
        raise InputError(f"{name} is called with {counted(count, 'argument')}: {error}", *place_of(function)) from None


_CHECKS: dict[str, Callable[[Any], None]] = {
    "MODEL": _model,
    "PROPERTY": _property,
    "PROOF": _proof,
    "TEMPLATE": lambda definition: _instance("TEMPLATE", definition, Template),
}
