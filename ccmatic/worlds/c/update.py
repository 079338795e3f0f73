"""C code with integers only: a controller's decision, and the update and the sending decision of one with state.

Bytes, bytes per step and whole steps are integers; R_m is one step, and D a whole number of steps. Conditions are
decided exactly, and rates are rounded down. If a network's layers need more than 64 bits, the rate is computed in
floating point, with a 32-bit mantissa and a power of two (law.py). A rate that contains a tanh is computed in single
floats (floats.py).

State in bytes or bytes per step is stored as integers. Times and numbers are stored in units of 1/4096, and conditions
as 1 or 0. A step computes exactly, except for nonlinear laws (law.py). Stored values are rounded down, but upper bounds
are rounded up.
"""

from fractions import Fraction
from math import ceil, floor

from ccmatic.base import BYTES, CONDITION, NUMBER, RATE, TIME, InputError
from ccmatic.language import (
    AnyOf,
    Between,
    Bounded,
    Extreme,
    Impossible,
    Name,
    Past,
    as_sent,
    bare,
    leaves,
    leaves_outside_tests,
)
from ccmatic.worlds.c.expression import MOST, Expression
from ccmatic.worlds.c.floats import ERROR, curved, is_curved
from ccmatic.worlds.c.law import Law, literal, wide

#: The largest value of a belief: 2^40 bytes, or 2^40 bytes per step.
LARGEST_BELIEF = 2**40


class Decision(Expression):
    """Writes the decision of a controller, with the prefix of the functions that the C code calls.

    Attributes:
        lines: The statements of a C function that returns the rate in bytes per step, rounded down and at least 0. The
            function needs variables of type `int64_t` with the names of the controller's parameters. For an envelope,
            the function returns the allowed rate nearest to the variable `wanted`, a `uint64_t`.
        error: The largest error of the rate, in words; None if rounding down is the only source of error.
        headers: The names of the optional runtime headers that the code needs.
    """

    def __init__(self, controller, jitter, prefix="ccm"):
        super().__init__({"R_m": Fraction(1), "D": Fraction(jitter)}, controller.file)
        self.controller, self.error, self.headers = controller, None, set()
        self.prefix = prefix
        self.lines = self.statements(controller.body, self.returned)

    def variable(self, leaf):
        return leaf.name, 1, LARGEST_BELIEF

    def returned(self, tree):
        if isinstance(tree, Between):
            return [f"return ccm_nearest(wanted, {self.rate(tree.low)}, {self.rate(tree.high)});"]
        return [f"return {self.rate(tree)};"]

    def rate(self, tree):
        if is_curved(tree):
            self.error = ERROR
            self.headers.add("floats")
            return f"ccm_divided(ccm_floored_float({curved(self, tree)}), 1)"
        if self.is_wide_layer(tree):
            number = wide(self, tree)
            self.error = number.error
            self.headers.add("law")
            return f"ccm_divided(ccm_whole({number.word}), 1)"
        common = self.denominator(tree)
        return f"ccm_divided({self.term(tree, common)}, {common})"


#: For each unit of the language, the number of stored units that make one.
ONE = {BYTES: 1, RATE: 1, TIME: 4096, NUMBER: 4096, CONDITION: 1}

#: The largest absolute value that is stored. It is more bytes than 100 Gbit/s carry in a day.
LARGEST_KEPT = 2**50

#: Limits in whole steps. Longer delays count as the longest delay. With steps of 1 us, longer times exceed a week.
LONGEST_DELAY, LONGEST_TIME = 255, 2**41

#: First, a number of bytes that stands for no limit, because no interface sends as many bytes in a step. Second, the
#: size of the largest packet in bytes.
LINE_RATE, LARGEST_PACKET = 2**38, 2**32

#: The age, in steps, of the oldest observation that a controller may read.
LONGEST_PAST = 64


#: The observations that have a different name in C code. A controller may read `served` only if R_m is one step.
_CALLED = {"served": "acked"}


class Update(Expression):
    """Writes C code for a controller with R_m and D in steps.

    In this code, `was` is the state before a step, and `seen[n]` holds the observations of n steps ago.

    Attributes:
        past: The age, in steps, of the oldest observation that the code reads.
        laws: For each law, by its line in the source: the state that follows the law, and the error in words.
        errors: The errors, in words, of those network layers that exceed 64 bits.
    """

    def __init__(self, controller, R, jitter):
        constants = {"R_m": Fraction(R), "D": Fraction(jitter), "step": Fraction(1), "line_rate": Fraction(LINE_RATE)}
        super().__init__(constants, controller.file)
        self.observations = controller.observations
        self.units = {memory.name: memory.unit for memory in controller.state}
        self.upper = {memory.name for memory in controller.state if memory.is_upper}
        self.past, self.laws, self.errors = 0, {}, {}
        self.in_law = _InLaw(self)

    def variable(self, leaf):
        if leaf.name == "second":
            raise InputError("reads `second` outside a law; expected it in `bounded(law, low, high)`", self.file)
        if leaf.name == "MSS":
            return "packet", 1, LARGEST_PACKET
        if leaf.name in self.units:
            return f"was.{leaf.name}", ONE[self.units[leaf.name]], LARGEST_KEPT
        if leaf.name == "ack_rate":
            now, then = (self.observation(leaf, "acked", more) for more in (0, self.constants["R_m"]))
            return f"({now} - {then})", int(self.constants["R_m"]), 2 * LARGEST_KEPT
        observation = self.observations[leaf.name]
        most = LONGEST_DELAY if observation.few else LONGEST_TIME if observation.unit == TIME else LARGEST_KEPT
        return self.observation(leaf), 1, most

    def truth(self, leaf):
        if leaf.name == "before_trace":
            return False  # a real flow has no bytes from the time before a trace
        return f"was.{leaf.name}" if leaf.name in self.units else self.observation(leaf)

    def presumed(self, comparison):
        return "".join(f"{known} && " for known in self.known_delays(leaves(comparison)))

    def known_delays(self, several):
        """Return the C conditions which state that the delays among some leaves are known."""
        few = [leaf for leaf in several if isinstance(leaf, Name) and self.is_few(leaf.name)]
        return [f"{name} >= 0" for name in dict.fromkeys(map(self.observation, few))]

    def is_few(self, name):
        return name in self.observations and self.observations[name].few

    def observation(self, leaf, name=None, more=0):
        """Return the C expression of the observation that a leaf reads, or of `name` there, `more` steps earlier."""
        back = more + (self.constant(leaf.back) if isinstance(leaf, Past) else 0)
        if back.denominator != 1 or not 0 <= back <= LONGEST_PAST:
            problem = (
                f"`{leaf.name}` of {back} steps before; expected a whole number of steps, from 0 to {LONGEST_PAST}"
            )
            raise InputError(problem, self.file, getattr(leaf, "line", None))
        self.past = max(self.past, int(back))
        return f"seen[{back}].{name or _CALLED.get(leaf.name, leaf.name)}"

    def update(self, tree):
        """Return C statements that set the state `m`, and return whether the step is possible."""
        return self.statements(as_sent(tree), self.ended)

    def ended(self, tree):
        if isinstance(tree, Impossible):
            return ["return false;"]
        lines = []
        for name, value in tree.values.items():
            if isinstance(value, Bounded):
                lines += self.followed(name, value, len(lines))
            elif value != Name(name):
                lines.append(self.assignment(name, value))
        return [*lines, "return true;"]

    def followed(self, name, bounded, made):
        """Return statements that set a state to the value of a law. `made` is the number of statements so far."""
        law = Law(self.in_law, bounded.line, made)
        errors = {}
        try:
            law.require_exact_tests(bounded.law)
            value = self.of_law(law, bounded.law, ONE[self.units[name]], name in self.upper, errors)
        except InputError as error:
            raise error if error.line else InputError(error.message, self.file, bounded.line) from None
        self.past = max(self.past, self.in_law.past)
        self.laws[bounded.line] = name, " or ".join(errors)
        return [*law.lines, f"m->{name} = ccm_kept({value});"]

    def of_law(self, law, tree, one, up, errors):
        """Return the value of a law in stored units (`one` units make 1), rounded down or up.

        The terms of a maximum or minimum are rounded separately. The function adds the errors of rounding to `errors`.
        """
        tree = bare(tree)
        if isinstance(tree, Extreme):
            return self.nested(tree.pick, [self.of_law(law, term, one, up, errors) for term in tree.terms])
        _, most = law.exact(tree) or (1, MOST)
        if most * one < MOST:
            return self.in_law.rounded(tree, one, up)
        number = law.number(tree)
        errors[number.error] = None
        return _whole(number, one, up)

    def returned(self, tree):
        """Return statements that return the value of a term, rounded down."""
        return self.statements(tree, lambda term: [f"return {self.rounded(term)};"])

    def assignment(self, name, tree):
        """Return a C assignment to a piece of state.

        Where the network may choose, C code takes the first or smallest value. State whose new value depends on an
        unknown delay stays unchanged.
        """
        match tree:
            case AnyOf((first, *_)) | Between(low=first):
                pass
            case first:
                pass
        if self.units[name] == CONDITION:
            condition = self.condition(first)
            return f"m->{name} = {int(condition) if isinstance(condition, bool) else condition};"
        assigned = f"m->{name} = ccm_kept({self.rounded(first, ONE[self.units[name]], name in self.upper)});"
        known = self.known_delays(leaves_outside_tests(tree if isinstance(tree, Between) else first))
        return f"if ({' && '.join(known)}) {assigned}" if known else assigned

    def rounded(self, tree, one=1, up=False):
        """Return the value of a tree in stored units (`one` units make 1), rounded down or up.

        The terms of a maximum or minimum are rounded separately, because their denominators are smaller.
        """
        tree = bare(tree)
        if isinstance(tree, Extreme):
            return self.nested(tree.pick, [self.rounded(term, one, up) for term in tree.terms])
        if is_curved(tree):
            number = curved(self, tree) if one == 1 else f"{one}.0f * {curved(self, tree)}"
            return f"-ccm_floored_float(-({number}))" if up else f"ccm_floored_float({number})"
        if self.is_wide_layer(tree, Fraction(one)):
            number = wide(self, tree)
            self.errors[number.error] = None
            return _whole(number, one, up)
        common = self.denominator(tree, factor=Fraction(one))
        term = self.term(tree, Fraction((-one if up else one) * common))
        rounded = term if common == 1 else f"ccm_floored({term}, {common})"
        return f"-({rounded})" if up else rounded


def _whole(number, one, up):
    word = number.word if one == 1 else f"ccm_times({number.word}, {literal(Fraction(one)).word})"
    return f"-ccm_whole(ccm_negated({word}))" if up else f"ccm_whole({word})"


class _InLaw(Update):
    """An Update for the inside of a law. In a law, a delay is exact, whereas elsewhere it is rounded to whole steps."""

    def __init__(self, update):
        vars(self).update(vars(update))
        self._results, self._open, self.often = {}, [], set()

    def variable(self, leaf):
        if self.is_few(leaf.name):
            return self.observation(leaf, "waited"), ONE[TIME], LONGEST_DELAY * ONE[TIME]
        return super().variable(leaf)


def kept(memory, value):
    """Return the integer, in units of the memory, that exported code stores for a new value of state."""
    parts = value * ONE[memory.unit]
    return max(-LARGEST_KEPT, min(LARGEST_KEPT, ceil(parts) if memory.is_upper else floor(parts)))
