"""Controllers without state: the rates that they allow, by beliefs."""

import operator
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from math import tanh
from pathlib import Path
from tempfile import TemporaryDirectory
from types import SimpleNamespace

from ccmatic.base import definitions, read_text
from ccmatic.contracts import load_definition
from ccmatic.controllers import load, parse
from ccmatic.deployment.exporting import header
from ccmatic.language import Between, If, is_stateful, value
from ccmatic.logic import equal, real
from ccmatic.logic.solving import SAT, Checker
from ccmatic.worlds.runtime.library import Library
from conformance import drawn
from conformance.singles import Single
from conformance.worlds import Kind, Number
from support.controllers import as_python

PACKET = 1500
CONSTANTS = {"R_m": 1, "D": 1, "MSS": PACKET}

#: Forms of terms and of conditions that no shipped controller has.
FORMS = {
    "plain": "def rate(C_L):\n    return C_L",
    "extremes": "def rate(C_L, C_U, MSS, R_m):\n    return max(C_L/3, min(2*C_U/7, C_L - MSS/R_m)) + MSS/R_m/5",
    "negative": "def rate(C_L, C_U):\n    return 2*C_L - max(C_U/2, 3*C_L/4) * 2",
    "negated": "def rate(C_L, C_U):\n    return C_L + C_U + (-1) * max(C_U/2, C_L/3) + min(C_L, C_U) / (-7)",
    "conditional": "def rate(C_L, C_U):\n    return (C_L if C_U > 3*C_L/2 else C_U/2) * 2/3",
    "ties": "def rate(C_L, C_U):\n    if C_L >= C_U:\n        return C_L\n    return C_U/2 if 2*C_L <= C_U else C_L/2",
    "logic": """
def rate(C_L, C_U, qdel_L, qdel_U, D):
    if not (qdel_L > D or 2*C_L == C_U) and qdel_U <= 3*D and 1 < 2:
        return 1.1*C_L
    elif D > 2*D or qdel_L != 0:
        return C_L/7
    return C_U - C_L/3
""",
    "bytes": "def rate(C_Llambda, q_U, R_m, D):\n    return (3*C_Llambda*(R_m + D) - q_U/2)/(2*R_m) - q_U/D/3",
    "large": "def rate(C_L):\n    return C_L * 5000000",
}

#: Networks of beliefs, and lists.
NETWORKS = {
    "relu": """
def rate(C_L, C_U, q_U, R_m):
    zero = 0 * C_L
    inputs = [C_L, C_U, q_U / R_m]
    first = [max(zero, x) for x in affine([[1, -1/2, 1/4], [-3/8, 1, -1], [2, -1, 1/8]], inputs, [0, 0, 0])]
    second = [max(zero, x) for x in affine([[1, 1/2, -1], [-1, 2, 1/8]], first, [0, 0])]
    return affine([[1, -1/4]], second, [0])[0]
""",
    "identity": """
def rate(C_L, C_U):
    hidden = affine([[1, -1/2], [-3/8, 1]], [C_L, C_U], [0, 0])
    return affine([[2, 1/3]], hidden, [0])[0] if all(x >= 0 * x for x in hidden) else sum(hidden)
""",
}

#: Networks of beliefs with tanh, which no world has exactly.
CURVED = {
    "tanh": """
def rate(C_L, C_U, q_U, MSS, R_m):
    unit = MSS / R_m
    inputs = [C_L, C_U, q_U / R_m]
    first = [tanh(x + unit, 8 * unit) for x in affine([[1, -1/2, 1/4], [-3/8, 1, -1], [2, -1, 1/8]], inputs, [0, 0, 0])]
    second = [tanh(x, unit) for x in affine([[1, 1/2, -1], [-1, 2, 1/8]], first, [0, 0])]
    return affine([[9, -7/4]], second, [0])[0] + C_L
""",
    "tanh of a choice": """
def rate(C_L, C_U, qdel_L, MSS, R_m):
    return C_U / 3 + tanh(C_U - C_L if qdel_L > 1 * R_m else max(C_L, MSS / R_m / 2), 5 * MSS / R_m)
""",
}

#: How many candidates of each template.
CANDIDATES = 1


def _shipped():
    """The names of the shipped controllers without state."""
    names = [name for kind in definitions.CONTROLLERS for name in definitions.shipped(kind)]
    return [name for name in names if not is_stateful(read_text(_file(name)))]


def _file(name):
    return definitions.find_file(definitions.CONTROLLERS, name, ".py")


def _candidates():
    """Some candidates of each template of branches, as sources by name."""
    for name in definitions.shipped("templates"):
        template = load_definition("templates", "TEMPLATE", name)
        sizes = [len(hole) for hole in template.holes()]
        for number in range(CANDIDATES):
            indices = [(number * 7919 + place * 104729) % size for place, size in enumerate(sizes)]
            source = template.candidate(indices)
            if not is_stateful(source):
                yield f"{name} {number}", source


#: What the name of a controller that is drawn at random begins with; its seed is the rest.
DRAWN = "drawn "

SOURCES = FORMS | dict(_candidates())
TEXTS = SOURCES | NETWORKS | CURVED


@cache
def controller(name):
    """The controller of this name."""
    return parse(source(name), name) if _is_text(name) else load(name)


def _is_text(name):
    return name in TEXTS or name.startswith(DRAWN)


def source(name):
    """The source of a controller that is not shipped."""
    return TEXTS[name] if name in TEXTS else drawn.rate(name.removeprefix(DRAWN))


def cases(name, rng, count) -> Iterator[dict]:
    """Beliefs by name, whole bytes and steps: random, equal, at twice or half of each other, zero, large."""
    names = [each for each in controller(name).parameters if each not in CONSTANTS]
    for _ in range(count):
        most = rng.choice((4, 10, 20 * PACKET, 10**6, 2**33))
        first = rng.randint(0, most)
        near = (0, 1, first, first, 2 * first, first // 2, 3 * first // 2, first + PACKET, PACKET, 2 * PACKET)
        drawn = {each: rng.choice((*near, rng.randint(0, most), rng.randint(0, most))) for each in names}
        delays = {each: rng.choice((0, 0, 1, 2, 3, rng.randint(0, 300))) for each in names if each.startswith("qdel")}
        yield drawn | delays


def fractions(name, rng, count) -> Iterator[dict]:
    """Small fractions, also of constants, so that comparisons meet equality."""
    numbers = [Fraction(n, d) for n in range(5) for d in (1, 2, 3)]
    for _ in range(count):
        values = {each: rng.choice(numbers) for each in controller(name).parameters}
        yield values | {each: rng.choice(numbers[3:]) for each in CONSTANTS}


def exact(name):
    """By the controller's own Python, on Fractions; no rate is below 0."""

    def of(beliefs):
        ends = controller(name).rates(CONSTANTS | beliefs)
        size = 20 * max(map(abs, beliefs.values())) if name.startswith(DRAWN) else None
        return {
            end: Number(max(Fraction(0), getattr(ends, end)), size=size, near=partial(_single, name, beliefs, place))
            for place, end in enumerate(("low", "high"))
        }

    return of


def near(name):
    """In double precision, by the controller's own Python."""
    scope = {"affine": _affine, "tanh": lambda x, scale: scale * tanh(x / scale)}
    exec(source(name), scope)

    def of(beliefs):
        known = CONSTANTS | beliefs
        rate = scope["rate"](**{each: known[each] for each in controller(name).parameters})
        size = 20 * (max(beliefs.values()) + 100 * PACKET)
        return {end: Number(max(0.0, rate), size=size) for end in ("low", "high")}

    return of


def _affine(weights, vector, bias):
    return [sum(map(operator.mul, row, vector), start) for row, start in zip(weights, bias, strict=True)]


def _ends(tree, known):
    """The least and the most rate of a tree, by its own value."""
    while isinstance(tree, If):
        tree = tree.then if value(tree.test, known) else tree.other
    return tuple(value(end, known) for end in ((tree.low, tree.high) if isinstance(tree, Between) else (tree, tree)))


def _single(name, beliefs, place):
    known = {each: Single(number) for each, number in (CONSTANTS | beliefs).items()}
    return max(0.0, float(_ends(controller(name).body, known)[place]))


def in_c(name):
    """The exported decision; of an envelope the rate nearest to a wanted one."""
    built = Library(_export(name), ("-O0",))

    def run(beliefs):
        ends = {end: built.decide(beliefs, PACKET, wanted) for end, wanted in (("low", 0), ("high", 2**50))}
        yield beliefs, ends

    return run


def _export(name):
    if not _is_text(name):
        return header.make(name, guarding=True)
    with TemporaryDirectory() as folder:
        file = Path(folder) / f"{name.replace(' ', '_')}.py"
        file.write_text(source(name))
        export = header.make(str(file), guarding=True)
    export.header()
    return export


def in_arrays(name):
    """The same tree worked out in float32."""
    import jax.numpy as jnp

    from ccmatic.worlds import arrays

    def run(beliefs):
        given = {each: jnp.full((1, 1), float(number), jnp.float32) for each, number in beliefs.items()}
        bounds = SimpleNamespace(named=lambda: given, D=1.0, packet=float(PACKET), C_L=jnp.zeros((1, 1)))
        low, high = (max(0.0, float(end[0, 0])) for end in arrays.rates(controller(name), bounds))
        yield beliefs, {"low": low, "high": high}

    return run


def in_text(name):
    """Parse the printed controller again."""
    again = parse(as_python(controller(name).pretty()))

    def run(beliefs):
        zeros = dict.fromkeys(again.parameters, 0)
        rates = again.rates(zeros | CONSTANTS | beliefs)
        yield beliefs, {"low": max(0, rates.low), "high": max(0, rates.high)}

    return run


def in_tree(name):
    """The tree's own value."""

    def run(beliefs):
        known = {each: Fraction(number) for each, number in (CONSTANTS | beliefs).items()}
        low, high = (max(0, end) for end in _ends(controller(name).body, known))
        yield beliefs, {"low": low, "high": high}

    return run


#: Further from an end of an envelope than this, a rate is inside or outside.
_HAIR = Fraction(1, 1000)


def _are_the_ends(allows, rates, floor=0):
    """Whether what a formula allows is all from low to high, or the floor where that is more; no end is below 0."""
    low, high = (max(Fraction(floor), rates[end]) for end in ("low", "high"))
    inside, outside = allows(low) and allows(high), allows(high + _HAIR) or allows(low - _HAIR)
    return min(rates.values()) >= 0 and inside and not outside


def in_formula(name):
    """The encoding at numbers, with a floor and without."""

    def accepts(beliefs, rates):
        values = {each: Fraction(number) for each, number in (CONSTANTS | beliefs).items()}

        def allows(rate, floor):
            return controller(name).encode(values, rate, floor) is True

        floors = Fraction(0), values["MSS"]
        return all(_are_the_ends(partial(allows, floor=floor), rates, floor) for floor in floors)

    return accepts


def in_solver(name):
    """The encoding of unknowns, which a solver sets to the numbers."""
    rate, names = real("rate"), controller(name).parameters
    unknowns = {each: real(each) for each in names if each not in ("R_m", "D")}

    @cache
    def encoded(R_m, D):
        checker = Checker()
        checker.add(controller(name).encode({**unknowns, "R_m": R_m, "D": D}, rate, 0))
        return checker

    def accepts(beliefs, rates):
        known = CONSTANTS | beliefs
        checker = encoded(known["R_m"], known["D"])

        def allows(number):
            checker.push()
            for unknown, each in ((rate, number), *((unknowns[name], known[name]) for name in unknowns)):
                checker.add(equal(unknown, Fraction(each)))
            outcome = checker.check()
            checker.pop()
            return outcome == SAT

        return _are_the_ends(allows, rates)

    return accepts


CONTROLLERS = Kind(
    name="controllers without state",
    definitions=(*_shipped(), *SOURCES),
    cases=cases,
    exact=exact,
    worlds={"tree": in_tree, "text": in_text, "C": in_c, "arrays": in_arrays},
    accepts={"formula": in_formula, "solver": in_solver},
    refused={("large", "C"): "64 bits"},
)

LAYERED_CONTROLLERS = replace(
    CONTROLLERS,
    name="networks of beliefs",
    definitions=tuple(NETWORKS),
    worlds={"tree": in_tree, "C": in_c, "arrays": in_arrays},  # text leaves weights out
    refused={},
)

CURVED_CONTROLLERS = replace(
    LAYERED_CONTROLLERS,
    name="networks of beliefs with tanh",
    definitions=tuple(CURVED),
    exact=near,
    worlds={"C floats": in_c, "arrays": in_arrays},
    accepts={},
)


def drawn_controllers(seeds):
    """The Kind of the controllers that these seeds draw."""
    return replace(
        CONTROLLERS,
        name="drawn controllers without state",
        definitions=tuple(f"{DRAWN}{seed}" for seed in seeds),
        refused={},
        may_refuse=("needs more than 64 bits", "expected terms of one unit"),  # a printed 0 has no unit
    )


def drawn_on_fractions(seeds):
    """The same, in the worlds that take any numbers."""
    return replace(
        drawn_controllers(seeds),
        name="drawn controllers on fractions",
        cases=fractions,
        worlds={"tree": in_tree, "text": in_text},
    )
