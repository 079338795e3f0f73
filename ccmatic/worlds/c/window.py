"""Beliefs as C code. The code runs the programs of the beliefs on a window of observations.

Lower bounds are rounded down and upper bounds up, so that rounding never makes a true belief false. A comprehension
becomes a bounded loop. An index that is always in the window passes through `ccm_place`, and any other computed index
passes through `ccm_index`.
"""

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass
from fractions import Fraction

from ccmatic.base import RATE, InputError, c_comment, c_name
from ccmatic.contracts import START, TIMEOUT, RunningMax, is_bound
from ccmatic.language import ARITHMETIC, Binary, Comprehension, Extreme, If, Name, Number, Past, conjuncts, reads
from ccmatic.worlds.c.expression import Expression

#: Four limits: the largest value in a window's column, the largest belief, the largest packet, and the largest number
#: of steps in a window.
_COLUMN, _BELIEF, _PACKET, _STEPS = 2**58, 2**40, 2**32, 2**10

#: The column of `struct ccm_window` that holds each observation.
_COLUMNS = {
    "sent": "sent",
    "acked": "acked",
    "lost": "lost",
    "timely": "timely",
    "excess": "excess",
    "delay": "last_delay",
    "first_delay": "first_delay",
    "limited": "limited",
    "doubtful": "doubtful",
}

#: Two groups of observations: differences of counts, and counts that never decrease.
_DIFFERENCES, _GROWING = ("sending", "admitted"), ("sent", "acked")


def window_functions(beliefs, jitter):
    """Return `ccm_start_beliefs`, `ccm_move`, `ccm_time_out` and `ccm_rescale`, after the C functions they call.

    Each of the beliefs has a program, and the jitter D is in steps. InputError if integers of 64 bits cannot hold a
    term, or C code cannot express it.
    """
    called = {}
    writers = {belief.program: _Writer(belief.program, jitter, called) for belief in beliefs}
    ordered = sorted(beliefs, key=lambda belief: not is_bound(belief))  # other beliefs read bounds of this step
    pairs = [(belief, writers[belief.program]) for belief in ordered]
    parts = [
        _function("ccm_start_beliefs(const struct ccm_window *w, struct ccm_beliefs *b)", "0", "b", _start, pairs),
        _function("ccm_move(struct ccm_window *w, unsigned t)", None, "w->beliefs[t]", _moved, pairs),
        _function(
            "ccm_time_out(const struct ccm_window *w, struct ccm_beliefs *after)",
            "CCM_STEPS - 1",
            "after",
            _timed_out,
            pairs,
        ),
        _function(
            "ccm_rescale(const struct ccm_window *w, struct ccm_beliefs *b, uint64_t to, uint64_t from)",
            "0",
            "b",
            _rescaled,
            pairs,
        ),
    ]
    return "\n".join([*(text for _, text in called.values()), *parts])


def _function(signature, t, target, value, pairs):
    """Return a C function that sets each belief for which `value` returns an expression.

    `t` is the C expression of the step, unless the step is a parameter.
    """
    lines = [f"    const unsigned t = {t};\n" if t else "", "    (void)w, (void)t;"]
    if "uint64_t to" in signature:
        lines.append("    (void)to, (void)from;")
    if target in ("b", "after"):
        lines.append(f"    (void){target};")
    sets = "->" if target in ("b", "after") else "."
    writers = dict.fromkeys(writer for _, writer in pairs)
    for writer in writers:
        writer.least, writer.shared, writer.tests = int(t != "0"), {}, Counter()
    made = [(belief, value(belief, writer)) for belief, writer in pairs]
    settings = "\n".join(f"    {target}{sets}{belief.name} = {value};" for belief, value in made if value)
    for writer in writers:
        lines += [f"    const bool {name} = {call};" for name, call in writer.shared.items()]
    repeated = [test for test, times in sum((writer.tests for writer in writers), Counter()).items() if times > 1]
    for number, test in enumerate(repeated, start=1):
        lines.append(f"    const bool test_{number} = {test};")
        settings = settings.replace(f"({test} ? ", f"(test_{number} ? ")
    lines.append(settings)
    return "\n".join([f"static inline void {signature}", "{", *filter(None, lines), "}", ""])


def _start(belief, writer):
    if is_bound(belief):
        lowest = "w->packet" if belief.unit == RATE else "0"
        return lowest if isinstance(belief, RunningMax) else _most(belief.unit)
    name = belief.name + START if belief.name + START in writer.program.definitions else belief.name
    return writer.state(belief, name)


def _moved(belief, writer):
    if not is_bound(belief):
        return writer.state(belief, belief.name).replace("ccm_place(t - 1)", "t - 1")
    pick, up = ("ccm_at_least", False) if isinstance(belief, RunningMax) else ("ccm_at_most", True)
    return f"{pick}(w->beliefs[t - 1].{belief.name}, {writer.samples(belief.name, up)})"


def _timed_out(belief, writer):
    """Return the value after the end of a window; None if the belief does not change."""
    if belief.name + TIMEOUT not in writer.program.definitions:
        return None
    return writer.state(belief, belief.name + TIMEOUT)


def _rescaled(belief, writer):
    """Return the value of a belief after a step's length changes from `from` to `to` ns; None if it does not change."""
    if not is_bound(belief) and not writer.program.reads(belief.name) & {"time", *writer.program.beliefs}:
        return writer.state(belief, belief.name)
    if belief.unit != RATE:
        return None
    if _is_upper(belief):
        scaled = f"ccm_at_most(CCM_MOST, ccm_scaled(b->{belief.name}, to, from, true))"
        return f"b->{belief.name} < CCM_MOST ? {scaled} : b->{belief.name}"
    return f"ccm_at_least(w->packet, ccm_scaled(b->{belief.name}, to, from, false))"


def _is_upper(belief):
    return not isinstance(belief, RunningMax) if is_bound(belief) else belief.upper


def _most(unit):
    return "CCM_MOST" if unit == RATE else "CCM_LARGEST"


class _Writer(Expression):
    """Writes the C functions of one program.

    `called` collects, by name, the C functions of all programs: the smallest t of a call, and the text. A function's
    text follows the texts of the functions that it calls.
    """

    def __init__(self, program, jitter, called):
        super().__init__({"R_m": Fraction(1), "step": Fraction(1), "D": Fraction(jitter)}, program.file)
        self.program, self.called = program, called
        self.names = {}
        self.least = 0  # the smallest t in the function
        self.indices = {}  # the times of comprehensions, by name
        self.shared = {}  # calls for conditions of this step that several beliefs share, by local variable
        self.tests = Counter()  # how often values of this step depend on each condition
        self.capped = False  # whether a delay longer than the window counts as long as the window

    def state(self, belief, function):
        """Return the value of a belief's function as a C expression of type uint64_t."""
        self.capped = not is_bound(belief) and not belief.upper
        value = self.value(self.inlined(self.program.definitions[function]), _is_upper(belief), function)
        self.capped = False
        return f"ccm_at_most({_most(belief.unit)}, {value})"

    def samples(self, name, up):
        """Return a C call of the function that computes the largest or smallest sample of a bound."""
        return self.value(self.inlined(self.program.definitions[name]), up, name)

    def inlined(self, tree):
        match tree:
            case Past():
                return tree
            case Name(name) if name in self.program.helpers and not self.is_each(tree):
                return self.inlined(self.program.helpers[name])
            case Binary(op, left, right, line):
                return Binary(op, self.inlined(left), self.inlined(right), line)
            case Extreme(pick, terms):
                return Extreme(pick, tuple(map(self.inlined, terms)))
            case If(test, then, other):
                return If(test, self.inlined(then), self.inlined(other))
        return tree

    def is_each(self, tree):
        return isinstance(tree, Name) and isinstance(self.program.helpers.get(tree.name), Comprehension)

    def value(self, tree, up, function):
        """Return a term as a uint64_t expression, rounded up or down. A negative value gives 0."""
        match tree:
            case Name(name) if self.is_each(tree):
                return self.extreme(self.program.helpers[name], up, name)
            case Name(name) if name in self.program.beliefs:
                return f"w->beliefs[{self.place(tree)}].{name}"
            case Extreme(pick, (first, *others)):
                word = self.value(first, up, function)
                for other in others:
                    word = f"{_PICK[pick]}({word}, {self.value(other, up, function)})"
                return word
            case If(test, then, other):
                test = self.condition(test)
                if isinstance(test, bool):
                    return self.value(then if test else other, up, function)
                if self.shared is not None and " " in test:
                    self.tests[test] += 1
                return f"({test} ? {self.value(then, up, function)} : {self.value(other, up, function)})"
            case Comprehension():
                return self.extreme(tree, up, function)
            case Binary("/", amount, over) if self.constant(over) is None:
                common = self.denominator(amount)
                divisor = self.term(over, Fraction(1))
                over = f"(uint64_t)({divisor})"
                over = f"{common} * {over}" if common > 1 else over
                return _divided(self.amount(amount, common), over, up)
        common = self.denominator(tree)
        return _divided(self.amount(tree, Fraction(common)), common, up)

    def amount(self, tree, factor):
        """Return a tree times a factor as a uint64_t expression. A negative difference gives 0."""
        term = self.term(tree, factor)
        if term.isdigit():
            return term
        return f"(uint64_t)({term})" if self.is_never_negative(tree) else f"ccm_amount({term})"

    def is_never_negative(self, tree):
        """Such a term subtracts only earlier counts from later ones."""
        match tree:
            case Number(value):
                return value >= 0
            case Name(name):
                return name not in _DIFFERENCES
            case Binary("-", Past(later, Binary("-", Name(back), Name("step"))), Past(earlier, Name(before))):
                return later == earlier and later in _GROWING and back == before
            case Binary("-", Name(now), Past(before)) if not isinstance(tree.left, Past):
                return now == before and now in _GROWING
            case Binary("-"):
                return False
            case Binary(_, left, right):
                return self.is_never_negative(left) and self.is_never_negative(right)
            case Extreme(_, terms):
                return all(map(self.is_never_negative, terms))
        return False

    def extreme(self, comprehension, up, function):
        """Return a C call of a new function that iterates over a window."""
        name = self.named(comprehension, f"{function}_{'up' if up else 'down'}")
        with self.defining(name, self.least) as is_new:
            if is_new:
                most, is_least = _most(self.program.units[function]), comprehension.pick == "min"
                word, end = ("least", "least") if is_least else ("most", f"ccm_at_most({most}, most)")
                lines = self.loop(
                    comprehension,
                    lambda: (
                        f"{word} = {_PICK[comprehension.pick]}({word}, {self.value(comprehension.term, up, function)});"
                    ),
                )
                lines = [f"uint64_t {word} = {most if is_least else 0};", "", *lines, f"return {end};"]
                self.define("uint64_t", name, lines, function)
        return f"{name}(w, t)"

    @contextmanager
    def defining(self, name, least):
        """Prepare the definition of a function for t >= `least`. Give whether the caller must write this definition."""
        around = self.shared, self.least
        self.shared, self.least = None, least
        yield name not in self.called or least < self.called[name][0]
        self.shared, self.least = around

    def named(self, key, name):
        if (id(key), name) not in self.names:
            taken = {*self.called, *self.names.values()}
            word = c_name(f"window_{name}", "the function", self.file)
            self.names[id(key), name] = next(
                each for each in (word, *(f"{word}_{n}" for n in range(2, 1000))) if each not in taken
            )
        return self.names[id(key), name]

    def define(self, kind, name, lines, function):
        body = "".join(f"    {line}\n" if line else "\n" for line in lines)
        source = c_comment(self.program.text(function))
        signature = f"static inline {kind} {name}(const struct ccm_window *w, unsigned t)"
        self.called[name] = self.least, f"{source}\n{signature}\n{{\n{body}}}\n"

    def loop(self, comprehension, statement):
        """If a condition must hold at all times so far, the loop stops at the first time at which it fails."""
        k = comprehension.index
        first, on = (0, f"{k} < t") if comprehension.since else (1, f"{k} <= t")
        if comprehension.since not in (None, "time"):
            on = f"{k} < {comprehension.since}"
        tests, lasting = [], []
        with self.at_index(k, _Index(k, first, 1 - first)):
            for part in conjuncts(comprehension.test):
                if isinstance(part, Comprehension) and part.pick == "all" and part.since == k and part.test is None:
                    with self.at_index(part.index, _Index(f"{k} - 1", first - 1, 2 - first)):
                        lasting.append(self.condition(part.term))
                else:
                    tests.append(self.condition(part))
            head = " && ".join([f"{k} < CCM_STEPS", on, *(_bracketed(test) for test in lasting)])
            guard = " && ".join(_bracketed(test) for test in tests)
            lines = [f"for (unsigned {k} = {first}; {head}; {k}++)"]
            lines += [f"    if ({guard})"] if guard else []
            return [*lines, f"{'        ' if guard else '    '}{statement()}"]

    @contextmanager
    def at_index(self, name, index):
        self.indices[name] = index
        yield
        del self.indices[name]

    def variable(self, leaf):
        name = leaf.name
        if name in self.indices:
            word = self.indices[name].word
            return f"(int64_t){word}" if word == name else f"((int64_t){word})", 1, _STEPS
        if name == "time":
            return "(int64_t)t", 1, _STEPS
        if name == "MSS":
            return "(int64_t)w->packet", 1, _PACKET
        at = self.place(leaf)
        if name in self.program.beliefs:
            return f"(int64_t)w->beliefs[{at}].{name}", 1, _BELIEF
        if name == "sending":
            return f"(int64_t)(w->sent[{at}] - w->sent[{self.place(leaf, 1)}])", 1, _BELIEF
        if name == "admitted":  # the observation `admitted` subtracts all losses known by now
            return f"(int64_t)(w->sent[{at}] - w->lost[t])", 1, _COLUMN
        if name == "delay" and self.capped:
            return f"(int64_t)ccm_at_most(w->last_delay[{at}], CCM_STEPS)", 1, _STEPS
        if name in _COLUMNS:
            return f"(int64_t)w->{_COLUMNS[name]}[{at}]", 1, _COLUMN
        problem = f"reads the number `{name}` of another function"
        raise InputError(f"{problem}; in C expected an observation or a belief", self.file, getattr(leaf, "line", None))

    def truth(self, leaf):
        name, at = leaf.name, self.place(leaf)
        if name in _COLUMNS:
            return f"w->{_COLUMNS[name]}[{at}]"
        function = self.named(self.program, name)
        back, least = self.span(leaf)
        with self.defining(function, least if min(back, least) >= 0 else 0) as is_new:
            if is_new:
                indices, self.indices = self.indices, {}
                self.define("bool", function, self.decided(self.program.definitions[name]), name)
                self.indices = indices
        if at != "t" or self.indices or self.shared is None:
            return f"{function}(w, {at})"
        local = function.replace("window_", "is_", 1)
        self.shared[local] = f"{function}(w, t)"
        return local

    def decided(self, tree):
        if isinstance(tree, Comprehension):
            decides = tree.pick == "any"
            end = f"return {'false' if decides else 'true'};"
            return [*self.loop(tree, lambda: self.leaves_loop(tree.term, decides)), end]
        condition = self.condition(tree)
        return [f"return {_word(condition)};"]

    def leaves_loop(self, term, decides):
        condition = _word(self.condition(term))
        return f"if ({condition}) return true;" if decides else f"if (!({condition})) return false;"

    def walk(self, tree, *context):
        """Walk a tree without memoised results, because the meaning of names depends on the enclosing loop."""
        around, self._results = self._results, {}
        try:
            return super().walk(tree, *context)
        finally:
            self._results = around

    def condition_of(self, tree):
        match tree:
            case Comprehension():
                return self.call_of_condition(tree)
            case If(test, then, other):
                test, then, other = yield from self.results((test, then, other), "condition")
                if isinstance(test, bool) or then == other:
                    return then if test else other
                return f"({test} ? {_word(then)} : {_word(other)})"
        return (yield from super().condition_of(tree))

    def call_of_condition(self, comprehension):
        """The C function takes the times of the enclosing comprehensions as arguments."""
        outer = [name for name in self.indices if name in reads(comprehension, {})]
        function = self.named(comprehension, f"{comprehension.pick}_{comprehension.line}")
        with self.defining(function, self.least) as is_new:
            if is_new:
                body = "".join(f"    {line}\n" for line in self.decided(comprehension))
                more = "".join(f", unsigned {name}" for name in outer)
                signature = f"static inline bool {function}(const struct ccm_window *w, unsigned t{more})"
                self.called[function] = self.least, f"{signature}\n{{\n{body}}}\n"
        return f"{function}({', '.join(['w', 't', *(self.indices[name].word for name in outer)])})"

    def span(self, leaf, more=0):
        """Return the smallest distance from t back to the step at which a leaf is read, and the smallest step.

        If one is negative, the step may lie outside of the window. `more` steps are added to the distance.
        """
        back = leaf.back if isinstance(leaf, Past) else Number(Fraction(0))
        if back == Name("time"):
            return more, -more
        if (known := self.constant(back)) is not None:
            return known + more, self.least - known - more
        match back:
            case Binary("+" | "-" as op, Name(name), right) if self.constant(right) is not None:
                more += ARITHMETIC[op](0, self.constant(right))
            case Name(name):
                pass
            case _:
                return -1, -1
        if name not in self.indices:
            return -1, -1
        return self.indices[name].least + more, self.indices[name].remaining - more

    def place(self, leaf, more=0):
        """Return the index in the window at which the code reads an observation, or the index `more` steps earlier."""
        checked = "ccm_place" if min(self.span(leaf, more)) >= 0 else "ccm_index"
        if not isinstance(leaf, Past):
            return f"{checked}(t - {more})" if more else "t"
        if leaf.back == Name("time"):
            return "0"
        signed = self.term(leaf.back, Fraction(1))
        back = signed.replace("(int64_t)", "")
        if back == "0" and not more:
            return "t"
        if "ccm_" in back:  # some of these offsets may be negative
            back = f"(unsigned)({signed})"
        elif not (back.isidentifier() or back.isdigit()):
            back = f"({back.strip('()')})"
        return f"{checked}(t - {back}{f' - {more}' if more else ''})"


@dataclass(frozen=True)
class _Index:
    """A time of a comprehension: a number of steps before t.

    Attributes:
        word: Its C expression.
        least: The smallest number.
        remaining: The smallest difference of t and the number.
    """

    word: str
    least: int
    remaining: int


_PICK = {"max": "ccm_at_least", "min": "ccm_at_most"}


def _divided(amount, over, up):
    if over == 1:
        return amount
    return f"ccm_up({amount}, {over})" if up else f"ccm_down({amount}, {over})"


def _word(condition):
    return condition if isinstance(condition, str) else str(condition).lower()


def _bracketed(condition):
    word = _word(condition)
    return f"({word})" if "&&" in word or "||" in word else word
