"""That no execution is such as an expression says, of those of which others are true."""

import ast
import operator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.window_sender import timeout
from ccmatic.properties.quantities import quantity
from ccmatic.properties.repeating import exclusions, repeating

from ccmatic.base import InputError, exact, shown, suggest
from ccmatic.contracts import Bounds, Exclusion, Fails, Implied, Property, Stated, WayToFail
from ccmatic.logic import Condition, equal, every, implies, no, some

#: The longest expression, in characters, and the most that one may say, in its parts, each as often as it is said.
LONGEST, MOST = 4000, 200_000

_TEXT = {"metadata": {"text": True}}


@dataclass(frozen=True)
class Avoids(Property):
    """what, given: conditions on an execution, in the language of CCAC's queries (docs/stateful.md); several are given
    with `;` between them. x: a number that they may read. periodic: the trace ends as it began, with the last so many
    windows and rates those of the first so many steps; 0 is not periodic. repeats: it repeats itself after so many
    steps, all state included, and so may go on for ever; 0: it need not.

        avoids(what="S[T-1] - S[0] < 1/2 * C * (T-1)", given="L[0] == 0; alpha < 1/4")
    """

    name = "avoids"
    quantity = staticmethod(quantity)

    #: What is given of executions that begin so.
    starts = MappingProxyType({"any": "", "empty": "A[0] == S[0]; L[0] == 0"})

    #: What is given of packets by default, where the laws of a model do not say it.
    small_packets = "alpha < 1/5 * C * R"

    what: str = field(default="", **_TEXT)
    given: str = field(default="", **_TEXT)
    x: Fraction = Fraction(0)
    periodic: Fraction = Fraction(0)
    repeats: Fraction = Fraction(0)

    @classmethod
    def from_parameters(cls, given, allow_code=False):
        """As recorded. `moves` and `known`, which earlier versions recorded, follow from the controller."""
        texts = {name: value for name, value in given.items() if name in ("what", "given")}
        numbers = {name: value for name, value in given.items() if name not in (*texts, "moves", "known")}
        found = super().from_parameters(numbers, allow_code)
        if not all(isinstance(text, str) and len(text) <= LONGEST for text in texts.values()):
            raise InputError(f"{shown(texts)} is no condition; expected text of at most {LONGEST} characters")
        if not texts.get("what", "").strip():
            raise InputError("avoids says nothing; expected what=CONDITION, such as what='S[T-1] - S[0] < 1'")
        for name in ("periodic", "repeats"):
            if getattr(found, name).denominator != 1:
                raise InputError(f"{name} is {getattr(found, name)}; expected a whole number of steps")
        return replace(found, **texts)

    @property
    def period(self):
        """After how many steps executions repeat themselves; None if they need not."""
        return int(self.repeats) or None

    def ways_to_fail(self, model, buffer):
        """One: an execution that is so."""
        is_given = self.given.strip() or self.periodic or self.repeats
        premise = (lambda x: self._reason(model, x).premise.condition) if is_given else None
        more = {"bounds": Bounds.STAY, "reads": tuple(self.judges(model))} if self.repeats else {}
        yield WayToFail(self.what, lambda x: no(self._reason(model, x).condition), premise=premise, **more)

    def exclusions(self, model, reads):
        """Larger packets than it asks about by default; and of executions that repeat themselves, some."""
        if self.small_packets in self._given():
            yield Exclusion("packets", "MSS is C·R_m/5 or more")
        if self.repeats:
            yield from exclusions(model, reads)

    def of_small_packets(self, model):
        """The same of packets smaller than C·R_m/5, unless a condition that is given compares `alpha` itself."""
        if not model.windows or any(map(_compares_packets, self._given())):
            return self
        return replace(self, given="; ".join((*self._given(), self.small_packets)))

    def _given(self):
        """The conditions that are given."""
        return [text.strip() for text in self.given.split(";") if text.strip()]

    def objectives(self, model, x):
        """That it is not so."""
        return {name: reason.condition for name, reason in self.reasons(model, x).items()}

    def reasons(self, model, x):
        """The same, in words."""
        return {f"avoids {self.what}": self._reason(model, x)}

    def holds(self, objectives):
        """Whether it is true."""
        return all(objectives.values())

    def _reason(self, model, x):
        reader = Expressions(x, model, self.x)
        given = [reader.condition(text) for text in self._given()]
        if self.periodic and not model.windows:
            raise InputError(f"{model.name} has no windows that are periodic; expected `repeats`")
        if self.periodic:
            given.append(periodic(model, x, int(self.periodic)))
        if self.repeats:
            given.append(repeating(model, x, self.period))
        says = [self.given] if self.given else []
        says += [f"it repeats itself every {self.repeats} steps"] if self.repeats else []
        premise = Stated(f"it is given that {' and '.join(says) or 'anything is so'}", every(given))
        where = f", where x = {self.x}" if self.x else ""
        return Implied(premise, Fails(Stated(f"{self.what}{where}", reader.condition(self.what))))


def _compares_packets(text):
    """Whether a condition is a comparison of which `alpha` is a side, such as `alpha < 1/4`."""
    try:
        tree = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False  # which is refused where it is read
    sides = [tree.left, *tree.comparators] if isinstance(tree, ast.Compare) else []
    return any(isinstance(side, ast.Name) and side.id == "alpha" for side in sides)


def periodic(model, x, steps):
    """The trace ends as it began: what waits, is in flight, is lost and not found; and the last so many windows and
    rates of each flow are its first ones. State is not compared, as published."""
    end = x.horizon - 1
    ends = [equal(x.admitted(end) - model.tokens(x, end), x.admitted(0) - model.tokens(x, 0))]
    for flow in x.flows:
        ends += [equal(flow.inflight(end), flow.inflight(0)), equal(flow.L[end] - flow.Ld[end], flow.L[0] - flow.Ld[0])]
        for i in range(steps):
            ends += [equal(column[end - i], column[steps - 1 - i]) for column in (flow.cwnd, flow.r)]
    return every(ends)


class Expressions:
    """Conditions on an execution as CCAC's queries write them: Python's syntax, read and never run."""

    def __init__(self, x, model, threshold):
        flows = x.flows
        columns = {name: getattr(x, name) for name in ("A", "S", "L")} | dict(x.own)
        columns["offered"] = [model.offered(x, t) for t in range(x.horizon)]
        each = {"A_f": "A", "S_f": "S", "L_f": "L", "Ld_f": "Ld", "r_f": "r"} | (
            {"c_f": "cwnd"} if model.windows else {}
        )
        columns |= {name: [getattr(flow, column) for flow in flows] for name, column in each.items()}
        kept = {f"{name}_f": [flow.state.get(name, []) for flow in flows] for flow in flows for name in flow.state}
        columns = kept | columns
        if model.windows:
            columns["timeout_f"] = [[timeout(flow, t) for t in range(x.horizon)] for flow in flows]
        numbers = {"T": x.horizon, "R": x.R, "D": x.D, "C": x.C, "N": len(flows), "alpha": x.alpha, "x": threshold}
        numbers["begin"] = x.horizon - 1 - x.period if x.period else 0
        self._names = {**columns, **numbers}
        if x.beta is not None:
            self._names["buf"] = x.beta
        self._left = MOST
        self._text = ""

    def condition(self, text):
        """The condition that a text says. Raises InputError."""
        self._text = text.strip()
        try:
            tree = ast.parse(self._text, mode="eval").body
            return self._condition(tree, self._names)
        except SyntaxError:
            raise InputError(f"'{shown(self._text)}' is no expression; expected one such as S[T-1] < 1/2") from None
        except (RecursionError, MemoryError):
            raise InputError(f"'{shown(self._text)}' is nested too deeply; expected fewer levels") from None

    def _fail(self, node, expected):
        found = ast.unparse(node)
        raise InputError(f"found '{shown(found)}' in '{shown(self._text)}'; expected {expected}")

    def _condition(self, node, names):
        match node:
            case ast.Compare(left=left, ops=ops, comparators=others):
                values = [self._number(each, names) for each in (left, *others)]
                pairs = zip(ops, values, values[1:], strict=False)
                return every([self._compare(node, op, a, b) for op, a, b in pairs])
            case ast.Call(func=ast.Name(id="And" | "Or" | "Not" | "Implies" as name), args=nodes, keywords=[]):
                return self._joined(node, name, [self._condition(each, names) for each in nodes])
            case ast.Call(
                func=ast.Name(id="ALLT" | "ANYT" as name),
                args=[first, end, ast.Lambda(args=ast.arguments(args=[ast.arg(arg=t)]), body=body)],
                keywords=[],
            ):
                steps = range(self._whole(first, names), self._whole(end, names))
                joined = every if name == "ALLT" else some
                return joined([self._condition(body, {**names, t: step}) for step in steps])
        found = self._value(node, names)
        if isinstance(found, bool | Condition):
            return found
        return self._fail(node, "a condition: a comparison, And, Or, Not, Implies, ALLT or ANYT")

    def _joined(self, node, name, conditions):
        if len(conditions) != {"Not": 1, "Implies": 2}.get(name, len(conditions)) or not conditions:
            self._fail(node, f"another number of conditions in {name}")
        if name == "Not":
            return no(conditions[0])
        return {"And": every, "Or": some, "Implies": implies}[name](*conditions)

    def _compare(self, node, op, left, right):
        compare = _ORDER.get(type(op))
        return compare(left, right) if compare else self._fail(node, "one of < <= > >= == !=")

    def _value(self, node, names):
        self._left -= 1
        if self._left < 0:
            self._fail(node, f"an expression of at most {MOST} parts, each counted as often as it is said")
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return exact(ast.get_source_segment(self._text, node) if isinstance(number, float) else number)
            case ast.Name(id=name):
                if name not in names:
                    self._fail(node, f"a name that is known; {suggest(name, [*names])}")
                return names[name]
            case ast.Subscript(value=value, slice=index):
                column, t = self._value(value, names), self._whole(index, names)
                count = len(column) if isinstance(column, list) else 0
                begin = count if isinstance(index, ast.UnaryOp) else 0  # -1, written so, counts from the end
                if not 0 <= begin + t < count:
                    self._fail(node, f"a step or a flow that there is, from 0; it is {t}")
                return column[begin + t]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand, names)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                left, right = self._number(left, names), self._number(right, names)
                if isinstance(op, ast.Div) and isinstance(right, int | Fraction):
                    return left / Fraction(right) if right else self._fail(node, "a divisor other than 0")
                return _ARITHMETIC[type(op)](left, right)
        return self._fail(node, "numbers, columns such as S[t], and + - * /")

    def _number(self, node, names):
        found = self._value(node, names)
        return self._fail(node, "a number") if isinstance(found, list | bool | Condition) else found

    def _whole(self, node, names):
        found = self._number(node, names)
        if not isinstance(found, int | Fraction) or Fraction(found).denominator != 1:
            self._fail(node, "a whole number")
        return int(found)


_ORDER = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: equal,
    ast.NotEq: lambda left, right: no(equal(left, right)),
}
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}

PROPERTY = Avoids
