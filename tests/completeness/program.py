"""A controller's own Python, run on exact fractions for a sender that really knows its delays.

This is no part of ccmatic's language: a source is compiled as it stands, numbers become fractions, and what the network
may choose is drawn at random.
"""

import ast
from fractions import Fraction
from functools import lru_cache

EXTREMES = ("max_over", "min_over")


class Unknown:
    """A delay before any was measured: no comparison with it is true."""

    def _same(self, *others):
        return self

    def _false(self, other):
        return False

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __neg__ = _same
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _false
    __hash__ = None


class Wait:
    """A delay: `steps` is what tests compare, in whole steps; `exact` is the real delay, which laws are computed of."""

    __slots__ = ("exact", "steps")

    def __init__(self, steps, exact):
        self.steps, self.exact = Fraction(steps), Fraction(exact)

    def _join(self, other, operation):
        if isinstance(other, Unknown):
            return other
        steps, exact = (other.steps, other.exact) if isinstance(other, Wait) else (other, other)
        return Wait(operation(self.steps, steps), operation(self.exact, exact))

    def __add__(self, other):
        return self._join(other, lambda a, b: a + b)

    def __sub__(self, other):
        return self._join(other, lambda a, b: a - b)

    def __rsub__(self, other):
        return self._join(other, lambda a, b: b - a)

    def __mul__(self, other):
        return self._join(other, lambda a, b: a * b)

    def __truediv__(self, other):
        return self._join(other, lambda a, b: a / b)

    def __rtruediv__(self, other):
        return self._join(other, lambda a, b: b / a)

    def __neg__(self):
        return Wait(-self.steps, -self.exact)

    __radd__, __rmul__ = __add__, __mul__

    def __lt__(self, other):
        return self.steps < whole(other)

    def __le__(self, other):
        return self.steps <= whole(other)

    def __gt__(self, other):
        return self.steps > whole(other)

    def __ge__(self, other):
        return self.steps >= whole(other)

    def __eq__(self, other):
        return self.steps == whole(other)

    __hash__ = None


def whole(value):
    """The number that a test compares."""
    return value.steps if isinstance(value, Wait) else value


def real(value):
    """The number that a law is computed of."""
    return value.exact if isinstance(value, Wait) else value


def _extreme(pick):
    def of(*values):
        if any(isinstance(value, Unknown) for value in values):
            return Unknown()
        if any(isinstance(value, Wait) for value in values):
            return Wait(pick(map(whole, values)), pick(map(real, values)))
        return pick(values)

    return of


def _cube_root(value):
    return Fraction(float(value) ** (1 / 3)).limit_denominator(10**9) if value >= 0 else -_cube_root(-value)


class _Exact(ast.NodeTransformer):
    """Turn numbers into fractions, and reads of past observations into calls of the sender."""

    def __init__(self, source, observed):
        self.source, self.observed = source, observed

    def visit_Constant(self, node):
        if isinstance(node.value, bool | str) or node.value is None:
            return node
        digits = ast.get_source_segment(self.source, node) or repr(node.value)
        return _call("_number", ast.Constant(digits))

    def visit_BinOp(self, node):
        if isinstance(node.op, ast.Pow):  # a whole exponent
            return ast.BinOp(self.visit(node.left), node.op, node.right)
        return self.generic_visit(node)

    def visit_Subscript(self, node):
        if isinstance(node.value, ast.Name) and node.value.id in self.observed:
            return _call("_past", ast.Constant(node.value.id), self.visit(node.slice))
        return self.generic_visit(node)

    def visit_Call(self, node):
        if isinstance(node.func, ast.Name) and node.func.id in EXTREMES:
            name, steps = node.args
            return _call(f"_{node.func.id}", ast.Constant(name.id), self.visit(steps))
        return self.generic_visit(node)


def _call(name, *arguments):
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


class Program:
    """A compiled controller. state: what it declares, by name, with its unit and a function that draws a first value of
    the constants; reads: names that its functions take. `kind` is "rate" for a controller of beliefs without state."""

    def __init__(self, source, observed):
        tree = ast.parse(source)
        exact = _Exact(source, observed)
        self.source, self._scope, self.state, self.constants_of = source, {"__builtins__": {}}, {}, {}
        self._scope |= {"max": _extreme(max), "min": _extreme(min), "_number": Fraction, "cbrt": _cube_root}
        functions = {}
        for each in tree.body:
            if isinstance(each, ast.FunctionDef):
                functions[each.name] = each
            elif isinstance(each, ast.AnnAssign):
                value = exact.visit(each.value)
                code = compile(ast.fix_missing_locations(ast.Expression(value)), "<declared>", "eval")
                self.state[each.target.id] = (each.annotation.id, code)
            elif isinstance(each, ast.Assign):
                code = compile(ast.fix_missing_locations(ast.Expression(exact.visit(each.value))), "<number>", "eval")
                self._scope[each.targets[0].id] = eval(code, self._scope)
        self.reads = {argument.arg for each in functions.values() for argument in each.args.args}
        self.kind = "rate" if "rate" in functions else "window"
        self.text = source
        self._functions = {name: self._compiled(each, exact) for name, each in functions.items()}

    def _compiled(self, function, exact):
        taken = [argument.arg for argument in function.args.args]
        function = exact.visit(function)
        if function.name == "update":
            function.args.args += [ast.arg(name) for name in self.state if name not in taken]
            taken += [name for name in self.state if name not in taken]
            values = [ast.Name(name, ast.Load()) for name in self.state]
            function.body.append(ast.Return(ast.Dict([ast.Constant(name) for name in self.state], values)))
        exec(compile(ast.fix_missing_locations(ast.Module([function], [])), "<controller>", "exec"), self._scope)
        return self._scope[function.name], taken

    def first(self, draw, constants):
        """A first value of each piece of state, or None if a declaration leaves none."""
        made = {}
        for name, (unit, code) in self.state.items():
            kinds = {
                "anything": lambda unit=unit: draw.anything(unit),
                "above": lambda low, unit=unit: draw.above(low, unit),
                "between": draw.within,
                "any_of": lambda *options: draw.one(options),
            }
            made[name] = eval(code, {**self._scope, **kinds, **constants})
        return None if any(value is None for value in made.values()) else made

    def run(self, name, values, choices, past=None):
        """What a function returns of values by name. choices: a Draw, of what the network chooses. past: of
        (observation, steps back), what it was."""
        function, taken = self._functions[name]
        self._scope.update(any_of=choices.any_of, between=choices.within, bounded=choices.law, assume=choices.assume)
        if past is not None:
            self._scope["_past"] = past
            for pick, over in ((max, "_max_over"), (min, "_min_over")):
                extreme = _extreme(pick)
                self._scope[over] = lambda seen, steps, extreme=extreme: extreme(
                    *(past(seen, Fraction(back)) for back in range(int(steps)))
                )
        return function(**{each: values[each] for each in taken})


@lru_cache(maxsize=4096)
def compiled(source, observed):
    """Return the Program of a source. `observed` names its observations."""
    return Program(source, observed)


class Draw:
    """Random choices of a network. `assumed` says whether each `assume` so far was true."""

    def __init__(self, rng):
        self.rng, self.assumed = rng, True

    def share(self):
        """A number from 0 to 1, often one of the two."""
        return Fraction(self.rng.choice((0, 0, 1, 1, 2, 3, 4, 5, 6)), 6) if self.rng.random() < 0.7 else Fraction(0)

    def one(self, options):
        """One of them."""
        return self.rng.choice(options)

    def any_of(self, *options):
        return self.rng.choice(options)

    def within(self, low, high):
        """Return a number from low to high; None if there is none."""
        return None if low > high else low + (high - low) * self.share()

    def law(self, law, low, high):
        """The law itself, to six digits, so that its fractions stay short: kept within the bounds if it is."""
        low, high = whole(low), whole(high)
        value = real(law).limit_denominator(10**6)
        near = Fraction(1, 10**5)
        if low - near < value < low or low <= real(law) < low + near:
            return low
        return high if high < value < high + near or high - near < real(law) <= high else value

    def assume(self, condition):
        self.assumed = self.assumed and bool(condition)

    def anything(self, unit):
        """Any value of a unit."""
        if unit == "condition":
            return self.rng.random() < 0.5
        return Fraction(self.rng.randint(-6, 40), 6)

    def above(self, low, unit):
        """A value above a number."""
        return low + Fraction(self.rng.choice((1, 1, 2, 3, 6, 9, 12, 18, 30)), 6)
