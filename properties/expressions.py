"""A reader of conditions on an execution, as CCAC's queries and `avoids` write them (docs/reference/stateful.md)."""

import ast
import operator
from fractions import Fraction
from functools import cache, lru_cache

from ccmatic.models.window_sender import echoed_marks, timeout

from ccmatic.base import InputError, exact, shown, suggest, syntax_tree
from ccmatic.logic import Condition, equal, every, implies, no, some

#: The largest length of an expression, in characters.
LONGEST = 4000

#: The largest number of parts of an expression. ALLT and ANYT count the parts of their condition once per step.
MOST = 200_000


#: The columns of all flows that only grow. In an execution that repeats, they grow by the same amount in each period.
_CUMULATIVE = {"A_f", "S_f", "L_f", "Ld_f"}


class Expressions:
    """Reads conditions on an execution in the syntax of CCAC's queries, a subset of Python's. Executes no code.

    If the execution repeats itself, windows, rates and own state are those of the last period in each period. The first
    ones of a trace may differ, because no sender has decided them.
    """

    def __init__(self, x, model, threshold, begin=0):
        """Read conditions on an execution, or on its part that begins at a step.

        Args:
            x: The execution.
            model: The network's Model.
            threshold: The value of `x` in texts.
            begin: The step that is step 0 in texts, counted from the start of the execution.
        """
        begin += x.history
        flows = x.flows
        columns = {name: getattr(x, name) for name in ("A", "S", "L")} | dict(x.own)
        if model.since:
            columns["since"] = x.own[model.since]
        columns["offered"] = cache(lambda: [model.offered(x, t) for t in range(x.horizon)])
        per_flow = {"A_f": "A", "S_f": "S", "L_f": "L", "Ld_f": "Ld", "r_f": "r"} | (
            {"c_f": "cwnd"} if model.windows else {}
        )
        columns |= {name: [getattr(flow, column) for flow in flows] for name, column in per_flow.items()}
        own = [{**flow.beliefs, **flow.state} for flow in flows]
        columns = {f"{name}_f": [kept.get(name, []) for kept in own] for name in set().union(*own)} | columns
        columns["app_limited_f"] = [
            [False, *(flow.limited[t] for t in range(1, x.horizon))] if model.pauses else [False] * x.horizon
            for flow in flows
        ]
        echoed = [echoed_marks(len(flows), number).name for number in range(1, len(flows) + 1)]
        if columns.keys() >= {*echoed}:
            columns["marked"] = [sum(columns[name][t] for name in echoed) for t in range(x.horizon)]
        if model.windows:
            for name in ("acked", "marked"):
                observe = model.observations[name].read
                columns[f"{name}_f"] = [[observe(flow, t) for t in range(x.horizon)] for flow in flows]
            columns["timeout_f"] = cache(lambda: [[timeout(flow, t) for t in range(x.horizon)] for flow in flows])
        if x.period:
            repeat = [name for name in columns if name.endswith("_f") and name not in _CUMULATIVE]
            columns |= {name: _of_last_period(columns[name], x.period) for name in repeat}
        if begin:
            columns = {name: _from(column, begin) for name, column in columns.items()}
        numbers = {"T": x.horizon - begin, "R": x.R, "D": x.D, "C": x.C, "N": len(flows)}
        numbers |= {"alpha": x.alpha, "x": threshold}
        numbers["begin"] = x.horizon - 1 - x.period if x.period else 0
        #: The value of each name. If a value takes long to compute, a function returns it at its first use.
        self._names = {**columns, **numbers}
        if x.beta is not None:
            self._names["buf"] = x.beta
        self._left = MOST
        self._repetitions = 1
        self._text = ""

    def at(self, text, **names):
        """Return the value of a text. `names` gives the numbers of additional names.

        Raises:
            InputError: If the text cannot be read.
        """
        self._text = text
        self._left = MOST
        return self._value(_tree(text), {**self._names, **names})

    def condition(self, text):
        """Return the condition that a text states.

        Raises:
            InputError: If the text is no condition.
        """
        self._text = text.strip()
        self._repetitions = 1
        try:
            return self._condition(_tree(self._text), self._names)
        except SyntaxError:
            raise InputError(f"'{shown(self._text)}' is no expression; expected one such as S[T-1] < 1/2") from None
        except (RecursionError, MemoryError):
            raise InputError(f"'{shown(self._text)}' is nested too deeply; expected fewer levels") from None

    def _fail(self, node, expected):
        text = ast.unparse(node)
        raise InputError(f"found '{shown(text)}' in '{shown(self._text)}'; expected {expected}")

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
                conditions = self._in_each_step(node, steps, body, names, t)
                return every(conditions) if name == "ALLT" else some(conditions)
        value = self._value(node, names)
        if isinstance(value, bool | Condition):
            return value
        return self._fail(node, "a condition: a comparison, And, Or, Not, Implies, ALLT or ANYT")

    def _in_each_step(self, node, steps, body, names, t):
        """Return the conditions of a body, one per step, with `t` set to the step.

        If the conditions have too many parts, raise InputError before any evaluation.
        """
        around = self._repetitions
        self._repetitions *= max(0, steps.stop - steps.start)
        if self._repetitions * _parts(body) > MOST:
            self._fail(node, _SHORTER)
        conditions = [self._condition(body, {**names, t: step}) for step in steps]
        self._repetitions = around
        return conditions

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
            self._fail(node, _SHORTER)
        match node:
            case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
                return exact(ast.get_source_segment(self._text, node) if isinstance(number, float) else number)
            case ast.Name(id=name):
                if name not in names:
                    self._fail(node, f"a name that is known; {suggest(name, [*names])}")
                value = names[name]
                return value() if callable(value) else value
            case ast.Subscript(value=value, slice=index):
                column, t = self._value(value, names), self._whole(index, names)
                count = len(column) if isinstance(column, list) else 0
                begin = count if isinstance(index, ast.UnaryOp) else 0  # -1 counts from the end
                if not 0 <= begin + t < count:
                    self._fail(node, f"a step or a flow that there is, from 0 to {count - 1}; it is {t}")
                return column[begin + t]
            case ast.UnaryOp(op=ast.USub(), operand=operand):
                return -self._number(operand, names)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in _ARITHMETIC:
                left, right = self._number(left, names), self._number(right, names)
                if isinstance(op, ast.Div) and isinstance(right, int | Fraction):
                    return left / Fraction(right) if right else self._fail(node, "a divisor other than 0")
                try:
                    return _ARITHMETIC[type(op)](left, right)
                except InputError as error:  # it names no text
                    raise InputError(
                        f"found '{shown(ast.unparse(node))}' in '{shown(self._text)}': {error.message}"
                    ) from None
        return self._fail(node, "numbers, columns such as S[t], and + - * /")

    def _number(self, node, names):
        value = self._value(node, names)
        return self._fail(node, "a number") if isinstance(value, list | bool | Condition) else value

    def _whole(self, node, names):
        value = self._number(node, names)
        if not isinstance(value, int | Fraction) or Fraction(value).denominator != 1:
            self._fail(node, "a whole number")
        return int(value)


_SHORTER = f"an expression of at most {MOST} parts; ALLT and ANYT count those of their condition once for each step"


def _from(column, begin):
    """Return a column without its first steps. A column of several flows is a list of columns."""
    if callable(column):
        return cache(lambda: _from(column(), begin))
    if column and isinstance(column[0], list):
        return [each[begin:] for each in column]
    return column[begin:]


def _of_last_period(column, period):
    """Return the columns of several flows, in which each earlier period equals the last one."""
    if callable(column):
        return cache(lambda: _of_last_period(column(), period))
    begins = (len(each) - 1 - period for each in column)
    return [
        [each[t if t >= begin else begin + (t - begin) % period] for t in range(len(each))]
        for each, begin in zip(column, begins, strict=True)
    ]


@lru_cache(maxsize=256)
def _tree(text):
    """Return the syntax tree of a text. A search reads the same texts again and again."""
    return syntax_tree(text, mode="eval").body


@lru_cache(maxsize=256)
def _parts(tree):
    """Return the number of parts of an expression."""
    return sum(isinstance(each, ast.expr) for each in ast.walk(tree))


_ORDER = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: equal,
    ast.NotEq: lambda left, right: no(equal(left, right)),
}
_ARITHMETIC = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}
