"""A back end in one folder: it compiles controllers to Rust, which agrees with their own exact Python."""

import random
import shutil
import subprocess
from fractions import Fraction

import pytest
from rust import Function, program

from ccmatic.base import CONDITION, InputError, definitions
from ccmatic.controllers import load
from ccmatic.language import Function as Curved
from ccmatic.language import Name
from ccmatic.worlds.exact import ObservedNumber, ObservedTruth, Program, UnknownNumber

pytestmark = pytest.mark.skipif(not shutil.which("rustc"), reason="no rustc on this machine")

WITHOUT_STATE = ("cc_qdel", "cc_probe_slow", "cc_probe_qdel", "g7_nested_5", "midpoint")
WITH_STATE = ("copa", "reno", "aimd", "bbr_v1", "vegas")
CONSTANTS = {"R_m": Fraction(1), "D": Fraction(1), "step": Fraction(1), "MSS": Fraction(1500)}
STEPS = 3


class Rate:
    """A controller without state, and what its own Python says."""

    def __init__(self, name):
        self.controller = load(name)
        self.function = Function(name, self.controller.body, CONSTANTS, set(), self.controller.file)

    def sequence(self, rng):
        """Yield (inputs, values) of each step."""
        for _ in range(STEPS):
            known = {name: Fraction(rng.choice((0, 1, 3, 1500, 10**6)), rng.choice((1, 2, 7))) for name in
                     self.controller.parameters} | CONSTANTS  # fmt: skip
            yield [known[name] for name, _ in self.function.inputs], [self.controller.rate(known)]


class Update:
    """A controller with state, and the result of its own Python for an observation."""

    def __init__(self, name):
        model = next(m for m in definitions.every("models", "MODEL") if m.windows and m.flows == 1)
        self.controller = controller = load(name, observations=model.observations)
        self.units = {memory.name: memory.unit for memory in controller.state}
        self.observations = controller.observations
        conditions = {name for name, each in self.observations.items() if each.unit == CONDITION}
        conditions |= {name for name, unit in self.units.items() if unit == CONDITION}
        self.function = Function(name, controller.update, CONSTANTS, conditions, controller.file)
        self.python = Program(controller.source, controller.file, tuple(self.units), controller.beliefs)

    def sequence(self, rng):
        """Yield (inputs, values) of each step; values is None where what is assumed is not so."""
        state = {name: rng.random() < 0.5 if unit == CONDITION else Fraction(rng.randrange(1, 9) * 1500)
                 for name, unit in self.units.items()}  # fmt: skip
        for _ in range(STEPS):
            drawn = _Drawn(rng, self.observations)
            arguments = {**{name: drawn.seen(name, 0) for name in self.observations}, **CONSTANTS, **state}
            outcome = self.python.outcome(arguments)
            known = {(name, 0): number for name, number in {**CONSTANTS, **state}.items()}
            inputs = [known.get(key) if key in known else drawn.value(*key) for key in self.function.inputs]
            yield inputs, outcome and [next(iter(each)) for each in outcome.values()]
            state = {name: next(iter(each)) for name, each in outcome.items()} if outcome else state


class _Drawn:
    """Observations at a step and before, drawn when they are read."""

    def __init__(self, rng, observations):
        self.rng, self.observations, self.known = rng, observations, {}

    def value(self, name, back):
        if (name, back) not in self.known:
            each, rng = self.observations[name], self.rng
            if each.unit == CONDITION:
                drawn = rng.random() < 0.5
            elif each.few:
                drawn = rng.choice((None, Fraction(0), Fraction(1), Fraction(3)))
            else:
                drawn = Fraction(rng.choice((0, 1, 1500, 3000, rng.randrange(10**5))))
            self.known[name, back] = drawn
        return self.known[name, back]

    def seen(self, name, back):
        drawn = self.value(name, int(back))
        if drawn is None:
            return UnknownNumber(lambda more: self.seen(name, back + more))
        kind = ObservedTruth if isinstance(drawn, bool) else ObservedNumber
        return kind(drawn, lambda more: self.seen(name, back + more))


def word(number):
    """A number as the program reads and says it."""
    return "?" if number is None else f"{Fraction(number).numerator}/{Fraction(number).denominator}"


@pytest.mark.parametrize("count", [50, pytest.param(10_000, marks=pytest.mark.slow)])
def test_rust_agrees_with_exact_python(count, tmp_path):
    made = {name: Rate(name) for name in WITHOUT_STATE} | {name: Update(name) for name in WITH_STATE}
    source = tmp_path / "controllers.rs"
    source.write_text(program({name: each.function for name, each in made.items()}))
    built = tmp_path / "controllers"
    subprocess.run(["rustc", "-C", "opt-level=1", "-o", built, source], check=True)
    lines, expected = [], []
    for which, each in enumerate(made.values()):
        rng = random.Random(which)
        for _ in range(count):
            for inputs, values in each.sequence(rng):
                lines.append(" ".join([str(which), *map(word, inputs)]))
                expected.append("impossible" if values is None else " ".join(map(word, values)))
    done = subprocess.run([built], input="\n".join(lines), capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == expected and len(set(expected)) > count


def test_what_has_no_exact_rust_is_refused():
    with pytest.raises(InputError, match="tanh has no meaning in exact Rust") as refused:
        Function("curved", Curved("tanh", (Name("C_L"),), 3), {}, set(), "curved.py")
    assert (refused.value.file, refused.value.line) == ("curved.py", 3)
