"""Loss allowances: what a controller may risk to lose, f(C), and how fast it can then ramp up, F and F⁻¹.

Rates are in packets per R_m, losses in packets, β_s (the buffer, in time) in R_m. Theorem 6.1 of the paper, and
"Generalizing Theorem 6.1" in its Appendix D: F(0) = C_0, F(k) = F(k-1) + f(F(k-1))/β_s, and F⁻¹(C) is the least k with
F(k) ≥ C: round trips, of up to R_m + β_s each, before which no controller that risks at most f reaches C.
"""

import ast
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy

from ccmatic.base import InputError, exact
from ccmatic.tradeoffs.allowances.enclosure import C, compiled, least_is, rounded_down, rounded_up

#: The longest expression (in characters), the longest number in it (in bits) and the largest exponent that are read.
LONGEST, LONGEST_NUMBER, LARGEST_POWER = 200, 2000, 20

#: The most round trips that are followed.
MOST_STEPS = 100_000

#: Significant bits of F at first, and at most: four times as many are tried while it is open whether F(k) ≥ C.
BITS, MOST_BITS = 192, 3072

OPERATORS = {
    ast.Add: lambda x, y: x + y,
    ast.Sub: lambda x, y: x - y,
    ast.Mult: lambda x, y: x * y,
    ast.Div: lambda x, y: x / y,
}
FUNCTIONS = {"log": sympy.log, "sqrt": sympy.sqrt, "min": sympy.Min, "max": sympy.Max}
EXPECTED = "expected numbers, C, + - * / **, log, sqrt, min and max, such as C/10"


@dataclass(frozen=True)
class RampPath:
    """A ramp from `start` (C_0) to `end` (C) over a buffer of `buffer_time` (β_s): Fractions. Raises InputError."""

    start: Fraction
    end: Fraction
    buffer_time: Fraction

    def __post_init__(self):
        if self.start <= 0:
            raise InputError(f"C_0 is {self.start}; expected a rate above 0")
        if self.start >= self.end:
            raise InputError(f"C_0 is {self.start} and C is {self.end}; expected C_0 < C, a ramp up")
        if not 0 < self.buffer_time <= 1:
            raise InputError(
                f"β_s is {self.buffer_time} R_m; expected more than 0 and at most D = 1 R_m: "
                "with larger buffers delay tells what losses do, and there is no trade-off"
            )


@dataclass(frozen=True)
class Allowance:
    """f as an expression in C, in packets. `text`: as it was given."""

    text: str
    f: sympy.Expr

    @staticmethod
    def parse(text):
        """Read such as `C/10` or `log(C)`; nothing in it is executed. Raises InputError."""
        try:
            if len(text) > LONGEST:
                raise InputError(f"it is too long; expected at most {LONGEST} characters")
            f = _Reader(text).expression(ast.parse(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise InputError(f"the allowance '{text}' is not an expression; {EXPECTED}") from None
        except InputError as error:
            raise InputError(f"the allowance '{text:.60}': {error.message}") from None
        return Allowance(text, f)

    def step(self, path):
        """The expression by which F moves: C + f/β_s."""
        return C + self.f / _rational(path.buffer_time)

    def require(self, path):
        """Check what the theorem needs between C_0 and C: f ≥ 0, and that C + f(C)/β_s never falls, so that who has a
        lower rate cannot get ahead. (It does not fall where f does not.) Raises InputError."""
        between = f"between C = {path.start} and {path.end}"
        true, where = _never_below_zero(self.f, path)
        if where is not None:
            raise InputError(
                f"the allowance '{self.text}' is negative or undefined at C = {_short(where)}; "
                f"expected f(C) ≥ 0 {between}"
            )
        if true is None:
            raise InputError(
                f"the allowance '{self.text}' may be negative or undefined {between}: it could not be told"
            )
        true, where = _rises(self.step(path), path)
        if not true:
            how = "may fall: it could not be told" if where is None else f"falls at C = {_short(where)}"
            raise InputError(
                f"the allowance '{self.text}' is not monotone enough: C + f(C)/β_s {how}; expected it to rise {between}"
            )

    def ramp(self, path, bits=BITS):
        """Intervals (low, high) that hold F(0), F(1), …; low = high where F is exact. They end when F has reached C, or
        rises no more. `require` must hold. Raises InputError after MOST_STEPS."""
        f = compiled(self.f, bits)
        low = high = path.start
        for _ in range(MOST_STEPS):
            yield low, high
            # F moves by a function that rises, so each end moves on its own.
            below = f((low, low))
            above = below if high == low else f((high, high))
            up = rounded_up(high + above[1] / path.buffer_time, bits)
            if up == high or low >= path.end:
                return
            low, high = rounded_down(low + below[0] / path.buffer_time, bits), up
        raise InputError(
            f"the allowance '{self.text}' takes more than {MOST_STEPS:,} round trips; "
            "expected a smaller C, or a larger allowance"
        )

    def inverse(self, path, targets=None):
        """F⁻¹ at each of the targets (C's at most path.end, ascending; by default path.end alone): a dict to a number
        of round trips, None where F never gets there. Raises InputError if it cannot be told."""
        targets = [path.end] if targets is None else targets
        bits = BITS
        while bits <= MOST_BITS:
            try:
                return self._inverse(path, targets, bits)
            except _Open as error:
                bits, at = 4 * bits, error.args
        raise InputError(
            f"the allowance '{self.text}': whether F({at[0]}) ≥ {at[1]} could not be told with "
            f"{bits // 4} bits; expected another C"
        )

    def _inverse(self, path, targets, bits):
        steps, waiting = dict.fromkeys(targets), list(targets)
        for k, (low, high) in enumerate(self.ramp(path, bits)):
            while waiting and low >= waiting[0]:
                steps[waiting.pop(0)] = k
            if not waiting:
                break
            if high >= waiting[0]:
                raise _Open(k, waiting[0])
        return steps

    @cached_property
    def affine(self):
        """(a, b) with f = a + b·C, exact, or None."""
        if self.f.has(sympy.log, sympy.Pow, sympy.Min, sympy.Max):
            return None
        a = self.f.subs(C, 0)
        b = sympy.expand(self.f - a) / C
        return (_fraction(a), _fraction(b)) if a.is_Rational and b.is_Rational else None

    @cached_property
    def concave(self):
        """Whether it follows from its parts that f is concave wherever it is defined."""
        return _concave(sympy.expand(self.f))


class _Open(Exception):
    """Whether F(k) ≥ C is open at this precision."""


class _Reader:
    """Makes a sympy expression of a Python expression's tree, from the few nodes that are allowed."""

    def __init__(self, text):
        self.text = text.strip()

    def expression(self, node):
        match node:
            case ast.Constant() if type(node.value) in (int, float):
                return self._number(ast.get_source_segment(self.text, node))
            case ast.Name(id="C"):
                return C
            case ast.UnaryOp(op=ast.USub(), operand=part):
                return -self.expression(part)
            case ast.BinOp(op=ast.Pow(), left=base, right=exponent):
                return self._power(self.expression(base), self.expression(exponent))
            case ast.BinOp(op=op, left=left, right=right) if type(op) in OPERATORS:
                return self._real(OPERATORS[type(op)](self.expression(left), self.expression(right)))
            case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS and args:
                if name in ("log", "sqrt") and len(args) != 1:
                    raise InputError(f"{name} has {len(args)} arguments; expected one")
                return self._real(FUNCTIONS[name](*map(self.expression, args)))
        raise InputError(f"found '{ast.get_source_segment(self.text, node)}'; {EXPECTED}")

    def _number(self, digits):
        return _rational(exact(digits.replace("_", ""), 300))

    def _power(self, base, exponent):
        if not exponent.is_Rational or max(abs(exponent.p), exponent.q) > LARGEST_POWER:
            raise InputError(
                f"an exponent is {exponent}; expected a number such as 2 or 1/3, its parts at most {LARGEST_POWER}"
            )
        return self._real(base**exponent)

    def _real(self, value):
        if value.has(sympy.I, sympy.zoo, sympy.nan, sympy.oo, -sympy.oo):
            raise InputError("it divides by 0 or leaves the real numbers; expected a real value")
        if any(max(abs(number.p), number.q).bit_length() > LONGEST_NUMBER for number in value.atoms(sympy.Rational)):
            raise InputError(f"a number in it is too large; expected at most {LONGEST_NUMBER} bits")
        return value


def _never_below_zero(expression, path):
    """As `least_is`, for 0. Factors decide where a sum that touches 0 does not."""
    least = least_is(expression, 0, path.start, path.end)
    return least if least[0] is not None else least_is(sympy.factor(expression), 0, path.start, path.end)


def _rises(expression, path):
    """Whether an expression never falls between C_0 and C: (True, None), (False, a C where it falls), (None, None)."""
    if _plainly_rises(expression, path):
        return True, None
    if isinstance(expression, sympy.Add):
        extremes = [part for part in expression.args if isinstance(part, (sympy.Min, sympy.Max))]
        if extremes:
            rest = expression - extremes[0]
            return _all(_rises(rest + part, path) for part in extremes[0].args)
    if isinstance(expression, (sympy.Min, sympy.Max)):
        return _all(_rises(part, path) for part in expression.args)
    if expression.has(sympy.Min, sympy.Max):
        return None, None
    return _never_below_zero(sympy.diff(expression, C), path)


def _all(findings):
    findings = list(findings)
    return (True, None) if all(true for true, _ in findings) else (None, None)


def _plainly_rises(expression, path):
    """Whether it follows from the parts, each of which rises."""
    if expression == C or expression.is_Rational:
        return True
    if not all(_plainly_rises(part, path) for part in expression.args):
        return False
    if isinstance(expression, sympy.Pow):
        return bool(expression.exp > 0) and least_is(expression.base, 0, path.start, path.end)[0] is True
    if isinstance(expression, sympy.Mul):
        return all(least_is(part, 0, path.start, path.end)[0] for part in expression.args)
    return isinstance(expression, (sympy.Add, sympy.log, sympy.Min, sympy.Max))


def _concave(expression):
    if expression == C or expression.is_Rational:
        return True
    if isinstance(expression, (sympy.Add, sympy.Min)):
        return all(map(_concave, expression.args))
    if isinstance(expression, sympy.Mul):
        factor, rest = expression.as_coeff_Mul()
        return factor != 1 and bool(factor > 0) and _concave(rest)
    if isinstance(expression, sympy.log):
        return _concave(expression.args[0])
    return isinstance(expression, sympy.Pow) and bool(0 < expression.exp <= 1) and _concave(expression.base)


def _rational(number):
    return sympy.Rational(number.numerator, number.denominator)


def _fraction(number):
    return Fraction(int(number.p), int(number.q))


def _short(number):
    return str(number) if len(str(number)) < 12 else f"{float(number):.6g}"
