"""Loss allowances f(C): the loss that a controller may risk, and the fastest ramp that f permits (F and F⁻¹).

Rates are in packets per R_m, losses are in packets, and β_s (the buffer as a time) is in R_m. The source is Theorem 6.1
of the paper, and "Generalizing Theorem 6.1" in the paper's Appendix D. F(0) = C_0, and F(k) = F(k-1) + f(F(k-1))/β_s.
F⁻¹(C) is the smallest k with F(k) ≥ C. A round trip takes up to R_m + β_s. No controller that risks at most f reaches C
in fewer than F⁻¹(C) round trips.
"""

import ast
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

import sympy

from ccmatic.base import InputError, exact, syntax_tree
from ccmatic.tradeoffs.enclosure import C, compiled, least_is, rounded_down, rounded_up

#: Limits on an expression: its number of characters, the bits of a number in it, and the largest exponent.
LONGEST, LONGEST_NUMBER, LARGEST_POWER = 200, 2000, 20

#: The largest number of simulated round trips.
MOST_STEPS = 100_000

#: The initial and the largest number of significant bits of F. The number grows fourfold while F(k) ≥ C is undecided.
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
    """The rates C_0 (`start`) and C (`end`) of a ramp that the theorem covers.

    `buffer_time` is the buffer β_s of its link as a time.
    """

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
                "with larger buffers, delay tells a sender as much as loss, and there is no trade-off"
            )


@dataclass(frozen=True)
class Allowance:
    """A loss allowance f in packets: the `text` that the user wrote, and the expression `f` in C."""

    text: str
    f: sympy.Expr

    @staticmethod
    def parse(text):
        """Parse an expression such as `C/10` or `log(C)` without executing it."""
        try:
            if len(text) > LONGEST:
                raise InputError(f"it is too long; expected at most {LONGEST} characters")
            f = _Reader(text).expression(syntax_tree(text.strip(), mode="eval").body)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            raise InputError(f"the allowance '{text}' is not an expression; {EXPECTED}") from None
        except InputError as error:
            raise InputError(f"the allowance '{text:.60}': {error.message}") from None
        return Allowance(text, f)

    def step(self, path):
        """Return C + f/β_s, which is the rate after a round trip of F that begins at rate C."""
        return C + self.f / _rational(path.buffer_time)

    def require(self, path):
        """Check the conditions of the theorem between C_0 and C, or raise InputError.

        The conditions are that f ≥ 0, and that C + f(C)/β_s never falls. Under these conditions, a sender with a lower
        rate cannot get ahead of a sender with a higher rate. (The sum never falls if f never falls.)
        """
        between = f"between C = {path.start} and {path.end}"
        true, where = _never_below_zero(self.f, path)
        if where is not None:
            raise InputError(
                f"the allowance '{self.text}' is negative or undefined at C = {_short(where)}; "
                f"expected f(C) ≥ 0 {between}"
            )
        if true is None:
            raise InputError(
                f"the allowance '{self.text}' may be negative or undefined {between}: this could not be decided"
            )
        true, where = _rises(self.step(path), path)
        if not true:
            how = "may fall: this could not be decided" if where is None else f"falls at C = {_short(where)}"
            raise InputError(
                f"the allowance '{self.text}' is not monotone enough: C + f(C)/β_s {how}; expected it to rise {between}"
            )

    def ramp(self, path, bits=BITS):
        """Yield intervals (low, high), with ends of `bits` significant bits, that contain F(0), F(1), ….

        If low = high, the interval is exact. The sequence ends when F reaches C, or when F rises no more. The
        conditions of `require` must hold.
        """
        f = compiled(self.f, bits)
        low = high = path.start
        for _ in range(MOST_STEPS):
            yield low, high
            # The step of F is monotone, so the two ends of the interval move independently.
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
        """Return F⁻¹ at each target, as a number of round trips; None if F never reaches the target.

        Targets are rates of at most path.end, in ascending order; by default path.end only.
        """
        targets = [path.end] if targets is None else targets
        bits = BITS
        while bits <= MOST_BITS:
            try:
                return self._inverse(path, targets, bits)
            except _Open as error:
                bits, at = 4 * bits, error.args
        raise InputError(
            f"the allowance '{self.text}': whether F({at[0]}) ≥ {at[1]} could not be decided with "
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
        """The exact pair (a, b) with f = a + b·C; None if f is not of this form."""
        if self.f.has(sympy.log, sympy.Pow, sympy.Min, sympy.Max):
            return None
        a = self.f.subs(C, 0)
        b = sympy.expand(self.f - a) / C
        return (_fraction(a), _fraction(b)) if a.is_Rational and b.is_Rational else None

    @cached_property
    def concave(self):
        """Whether the form of f implies that f is concave wherever f is defined."""
        return _concave(sympy.expand(self.f))


#: R_m in seconds. Only CUBIC needs this value, because its window depends on the time since the last loss.
R_M_SECONDS = "1/25"


@dataclass(frozen=True)
class Rule:
    """The probing rule of a deployed controller.

    A rule that raises the rate from C to C + δ(C) in a round trip ramps up like F for the allowance f(C) = β_s·δ(C).
    Any controller that is guaranteed to ramp up at least as fast risks at least this loss. So f(C) is the price of this
    speed for any controller. The loss of the controller with this rule may differ.

    Attributes:
        increase: The increase δ(C) in packets per R_m, as an expression in C and C_0.
        every: The number of round trips per probe.
        source: The document that defines the rule.
    """

    name: str
    increase: str
    every: int
    source: str

    def allowance(self, path):
        increase = self.increase.replace("C_0", f"({path.start})")
        return Allowance(self.name, Allowance.parse(increase).f * Allowance.parse(str(path.buffer_time)).f)

    def round_trips(self, probes):
        """Return the number of round trips of a number of probes; None for None."""
        return probes and self.every * (probes - 1) + 1


#: The number k of round trips after which CUBIC has the rate C, if its last loss was at the rate C_0. After k round
#: trips without loss, the rate is C_0 plus the larger of k and 0.4·(k·R_m)³.
_PROBES = f"min(C - C_0, ((C - C_0)/0.4)**(1/3)/({R_M_SECONDS}))"

RULES = (
    Rule("AIMD (Reno)", "1", 1, "one packet an R_m: RFC 5681, section 3.1"),
    Rule(
        "CUBIC, R_m = 40 ms",
        f"max({_PROBES} + 1, 0.4*(({_PROBES} + 1)*{R_M_SECONDS})**3) - (C - C_0)",
        1,
        "W_max + 0.4·t³, or a packet an R_m where that is more: RFC 9438, sections 4.2 and 4.3",
    ),
    Rule(
        "BBR (probing)",
        "C/4",
        8,
        "a pacing gain of 5/4 in one of eight R_m: draft-cardwell-iccrg-bbr-congestion-control-00, section 4.3.4",
    ),
)


class _Open(Exception):
    """Raised if F(k) ≥ C is undecided at the current precision."""


class _Reader:
    """A builder of sympy expressions from the tree of a Python expression. Only a few node types are allowed."""

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
    """Apply `least_is` with the bound 0. A factored form helps where a sum touches 0."""
    least = least_is(expression, 0, path.start, path.end)
    return least if least[0] is not None else least_is(sympy.factor(expression), 0, path.start, path.end)


def _rises(expression, path):
    """Return whether an expression never falls between C_0 and C, and if it falls a value of C at which it does.

    The first part is None if this is undecided.
    """
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
    """Return whether the expression rises for a simple reason: each of its subexpressions rises."""
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
