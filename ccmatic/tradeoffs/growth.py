"""The growth of F and F⁻¹: sympy's closed form of F if it exists, and the asymptotic class of F⁻¹."""

import sympy

from ccmatic.tradeoffs.enclosure import C

#: The unknown k for the number of round trips.
k = sympy.Symbol("k", integer=True, nonnegative=True)


def closed_form(allowance, path):
    """Return F(k) as an expression in k, or None.

    A candidate for F(k) is checked against the definition of F: F(0) = C_0, and F(k + 1) = F(k) + f(F(k))/β_s for every
    k.
    """
    if allowance.f.has(sympy.Min, sympy.Max):
        return None
    start, step = sympy.Rational(*path.start.as_integer_ratio()), allowance.step(path)
    for form in (*_affine(step, start), *_powers(step, start)):
        if form.subs(k, 0) == start and sympy.simplify(form.subs(k, k + 1) - step.subs(C, form)) == 0:
            return form
    return None


def _affine(step, start):
    """Yield the iteration of x → a + m·x, which is linear for m = 1, and otherwise geometric."""
    m = sympy.diff(step, C)
    if not m.is_Rational:
        return
    a = sympy.expand(step - m * C)
    yield start + a * k if m == 1 else sympy.expand(a / (1 - m)) + (start - a / (1 - m)) * m**k


def _powers(step, start):
    """Yield the iteration of x → s + (ᵖ√(x - s) + a)ᵖ, which is a polynomial, for p = 2, 3 and s = 0 or C_0."""
    root = sympy.Symbol("r", positive=True)
    for p in (2, 3):
        for shift in (0, start):
            moved = sympy.factor(sympy.expand(sympy.expand(step).subs(C, shift + root**p) - shift))
            a = sympy.simplify(sympy.root(moved, p) - root)
            if not a.has(root):
                yield shift + (sympy.root(start - shift, p) + a * k) ** p


def inverse_class(allowance):
    """Return the asymptotic class of F⁻¹ for large C, such as "C/log C"; None if unknown.

    The leading term c·Cᵖ·(log C)^q of f determines the class. If f is less than linear, F grows like the solution of
    dF/dk = f/β_s, so F⁻¹ has the class of ∫ dC/f. If f is linear, F is exponential. If f is more than linear, F grows
    faster than any exponential.
    """
    leading = _leading(allowance.f)
    if leading is None or leading[2] <= 0:
        return None
    p, q, _ = leading
    if p < 1:
        return _text(1 - p, -q)
    if p > 1:
        return "log log C"
    return "log C/log log C" if q > 0 else _text(0, 1 - q)


def _text(p, q):
    above, below = [], []
    for name, power in (("C", p), ("log C", q)):
        if power:
            (above if power > 0 else below).append(_raised(name, abs(power)))
    return "/".join(["·".join(above) or "1", *below])


def _raised(name, power):
    if power == 1:
        return name
    if power == sympy.Rational(1, 2):
        return f"√{name}" if name == "C" else f"√({name})"
    exponent = str(power) if power.is_Integer else f"({power})"
    return f"{name}^{exponent}" if name == "C" else f"({name})^{exponent}"


def _leading(expression):
    """Return (p, q, c) if the expression is c·Cᵖ·(log C)^q (c ≠ 0) plus terms of lower order; None if unknown."""
    if not expression.has(C):
        return (sympy.S.Zero, sympy.S.Zero, expression) if expression != 0 else None
    if expression == C:
        return sympy.S.One, sympy.S.Zero, sympy.S.One
    parts = [_leading(part) for part in expression.args if not isinstance(expression, sympy.Pow)]
    if None in parts:
        return None
    match expression:
        case sympy.Add():
            return _sum(parts)
        case sympy.Mul():
            ps, qs, cs = zip(*parts, strict=True)
            return sum(ps), sum(qs), sympy.prod(cs)
        case sympy.Min() | sympy.Max():
            return _extreme(parts, isinstance(expression, sympy.Max))
        case sympy.log():
            p, _, c = parts[0]
            return (sympy.S.Zero, sympy.S.One, p) if p > 0 and c > 0 else None
        case sympy.Pow(base=base, exp=exponent):
            leading = _leading(base)
            if leading is None or not exponent.is_Rational or (leading[2] < 0 and not exponent.is_Integer):
                return None
            return leading[0] * exponent, leading[1] * exponent, leading[2] ** exponent
    return None


def _sum(parts):
    p, q = max(part[:2] for part in parts)
    c = sympy.simplify(sum(part[2] for part in parts if part[:2] == (p, q)))
    return (p, q, c) if c != 0 else None


def _extreme(parts, largest):
    def order(part):
        sign = 1 if part[2] > 0 else -1
        return sign, sign * part[0], sign * part[1], part[2]

    return max(parts, key=order) if largest else min(parts, key=order)
