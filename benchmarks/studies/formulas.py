"""Compare the formulas of shipped questions between two versions of ccmatic, regardless of inlining and names.

    python -m benchmarks.studies.formulas write FILE       # in a checkout of each version
    python -m benchmarks.studies.formulas compare OLD NEW

`write` records the digest of the canonical form of each question that `verify --smt2` writes. The questions are the
shipped queries with seven controllers, each model with rate senders and window senders, and executions that repeat. If
a version lacks this file, it can run the file by its path. In the canonical form, arithmetic is a sum of monomials, and
all comparisons have the same leading coefficient. `and` and `or` are flat, sorted and without repetitions, and `let` is
expanded. `compare` exits with 1 if a digest differs, or if only one of the files has some question.
"""

import argparse
import hashlib
import sys
from fractions import Fraction
from io import StringIO
from itertools import product
from pathlib import Path

import pysmt.operators as op
from pysmt.smtlib.parser import SmtLibParser

from ccmatic.answers.verification import Judge
from ccmatic.base import InputError
from ccmatic.questions.query import load, make

sys.setrecursionlimit(100_000)


class Canonical:
    """The canonical forms of formulas, as digests."""

    def __init__(self):
        self.memo = {}

    def digest(self, value):
        """Return the digest of a value."""
        return hashlib.blake2b(repr(value).encode(), digest_size=12).hexdigest()

    def number(self, node):
        """Return a number as a sum of monomials: {sorted tuple of atoms: coefficient}."""
        key = ("n", node)
        if key not in self.memo:
            self.memo[key] = self._number(node)
        return self.memo[key]

    def _number(self, node):
        kind, args = node.node_type(), node.args()
        if node.is_real_constant() or node.is_int_constant():
            value = Fraction(node.constant_value())
            return {(): value} if value else {}
        if kind == op.PLUS:
            return self.total([self.number(arg) for arg in args])
        if kind == op.MINUS:
            return self.total([self.number(args[0]), self.times({(): Fraction(-1)}, self.number(args[1]))])
        if kind == op.TIMES:
            product = {(): Fraction(1)}
            for arg in args:
                product = self.times(product, self.number(arg))
            return product
        if kind == op.DIV:
            divisor = self.number(args[1])
            if set(divisor) == {()}:
                return self.times({(): 1 / divisor[()]}, self.number(args[0]))
            return {(self.digest(("/", self.key(self.number(args[0])), self.key(divisor))),): Fraction(1)}
        if kind == op.TOREAL:
            return self.number(args[0])
        if kind == op.ITE:
            test, then, other = args
            return {
                (
                    self.digest(("ite", self.truth(test), self.key(self.number(then)), self.key(self.number(other)))),
                ): Fraction(1)
            }
        if node.is_symbol():
            return {(node.symbol_name(),): Fraction(1)}
        raise TypeError(node)

    @staticmethod
    def total(sums):
        """Return the sum of several sums of monomials."""
        result = {}
        for one in sums:
            for monomial, coefficient in one.items():
                result[monomial] = result.get(monomial, 0) + coefficient
        return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}

    @staticmethod
    def times(left, right):
        """Return the product of two sums of monomials."""
        result = {}
        for a, x in left.items():
            for b, y in right.items():
                monomial = tuple(sorted(a + b))
                result[monomial] = result.get(monomial, 0) + x * y
        return {monomial: coefficient for monomial, coefficient in result.items() if coefficient}

    @staticmethod
    def key(total):
        """Return a sum of monomials as a sorted tuple."""
        return tuple(sorted((monomial, str(coefficient)) for monomial, coefficient in total.items()))

    def compare(self, sign, left, right):
        """Return the digest of a comparison, or its truth value if both sides are constants."""
        total = self.total([self.number(left), self.times({(): Fraction(-1)}, self.number(right))])
        if not set(total) - {()}:
            value = total.get((), 0)
            return {"<": value < 0, "<=": value <= 0, "=": value == 0}[sign]
        first = min(set(total) - {()})
        scale = abs(total[first])
        if sign == "=":
            scale = total[first]
        return self.digest((sign, self.key({monomial: coefficient / scale for monomial, coefficient in total.items()})))

    def truth(self, node, positive=True):
        """Return the digest of a condition or of its negation, or its truth value if it is constant."""
        key = ("t", node, positive)
        if key not in self.memo:
            self.memo[key] = self._truth(node, positive)
        return self.memo[key]

    def _truth(self, node, positive):
        kind, args = node.node_type(), node.args()
        if node.is_bool_constant():
            return node.constant_value() == positive
        if kind == op.NOT:
            return self.truth(args[0], not positive)
        if kind in (op.LE, op.LT):
            if positive:
                return self.compare("<=" if kind == op.LE else "<", *args)
            return self.compare("<" if kind == op.LE else "<=", args[1], args[0])
        if kind == op.EQUALS:
            equal = self.compare("=", *args)
            if isinstance(equal, bool):
                return equal == positive
            return equal if positive else self.digest(("not", equal))
        if kind in (op.AND, op.OR):
            parts = {part for arg in args for part in self.flat(arg, positive, (kind == op.AND) == positive)}
            return self.joined((kind == op.AND) == positive, parts)
        if kind == op.IMPLIES:
            parts = {*self.flat(args[0], not positive, not positive), *self.flat(args[1], positive, not positive)}
            return self.joined(not positive, parts)
        if kind == op.IFF:
            sides = self.truth(args[0]), self.truth(args[1])
            for one, other in (sides, sides[::-1]):
                if isinstance(one, bool):
                    if isinstance(other, bool):
                        return (one == other) == positive
                    return self.truth(args[1] if one is sides[0] else args[0], one == positive)
            return self.digest(("iff", positive, tuple(sorted(sides))))
        if kind == op.ITE:
            return self.digest(
                ("ite", self.truth(args[0]), self.truth(args[1], positive), self.truth(args[2], positive))
            )
        if node.is_symbol():
            return self.digest(("b", node.symbol_name(), positive))
        raise TypeError(node)

    def flat(self, node, positive, conjunction):
        """Return the operands of a conjunction, or of a disjunction, without nesting."""
        kind = node.node_type()
        if kind == op.NOT:
            return self.flat(node.arg(0), not positive, conjunction)
        if kind in (op.AND, op.OR) and ((kind == op.AND) == positive) == conjunction:
            return [part for arg in node.args() for part in self.flat(arg, positive, conjunction)]
        if kind == op.IMPLIES and conjunction == (not positive):
            return [*self.flat(node.arg(0), not positive, conjunction), *self.flat(node.arg(1), positive, conjunction)]
        return [self.truth(node, positive)]

    def joined(self, conjunction, parts):
        """Return the digest of a conjunction, or of a disjunction, of these operands."""
        if (not conjunction) in parts:
            return not conjunction
        parts -= {conjunction}
        if not parts:
            return conjunction
        return (
            next(iter(parts))
            if len(parts) == 1
            else self.digest(("and" if conjunction else "or", tuple(sorted(parts))))
        )


def digest(text):
    """Return the digests of a question's SMT-LIB script."""
    script = SmtLibParser().get_script(StringIO(text))
    canonical = Canonical()
    parts, stack, lines = set(), [], []
    for command in script.commands:
        if command.name == "assert":
            parts.update(canonical.flat(command.args[0], True, True))
        elif command.name == "push":
            stack.append(set(parts))
        elif command.name == "pop":
            parts = stack.pop()
        elif command.name == "check-sat":
            lines.append(canonical.digest(tuple(sorted(map(str, parts)))))
    return lines


BY_RATE = ("cc_qdel", "cc_probe_slow", "g1_t11_3", "g5_any_3", "g7_nested_2", "cc_qdel_wide", "midpoint")
BY_WINDOW = (
    *("aimd", "aimd_any_start", "aimd_believing", "aimd_each_step", "bbr", "copa", "copa_any_start", "copa_stalls"),
    *("cubic", "illinois", "reno", "vegas", "lp", "constant_window", "constant_window_paced", "late_drain"),
    *("one_packet", "cc_qdel_sender", "cc_probe_slow_sender"),
)
RATES = ("ccac", "cbr_delay", "ideal", "varying", "varying_1_1", "varying_2")
WINDOWS = (
    *("ccac2021", "ccac2021_anywhere", "ccac2021_non_composing", "ccac2021_anywhere_non_composing"),
    *("ccac2021_anywhere_short_queue", "ccac2021_two_flows", "ccac_windows", "cbr_delay_windows", "ideal_windows"),
    *("smooth_windows", "smooth_windows_1", "smooth_windows_two_flows"),
    *("two_flows", "two_flows_constant_rate", "two_flows_own_jitter"),
)
FOR_EVER = ("ccac2021", "ccac_windows", "ideal_windows", "two_flows", "smooth_windows_1")
LITTLE = {"what": "S[T-1] - S[0] < 1/4 * C * T"}


def questions():
    """Yield (name, query, controllers) for each question."""
    for file in sorted(Path("examples/queries").glob("*.toml")):
        query = load(str(file))
        yield file.stem, query, BY_WINDOW if query.model.windows else BY_RATE
    for model, buffer, delay in product(RATES, ("infinite", "any", "1"), ("published", "executions")):
        query = make(model=model, buffer=buffer, horizon="6", delay=delay, thresholds={})
        yield f"{model}-{buffer}-{delay}", query, BY_RATE
    for model, buffer in product(WINDOWS, ("infinite", "1")):
        query = make(model=model, buffer=buffer, horizon="5", property="avoids", thresholds=LITTLE)
        yield f"{model}-{buffer}", query, BY_WINDOW
    for model in FOR_EVER:
        thresholds = {**LITTLE, "given": "", "repeats": "2"}
        query = make(model=model, buffer="1", horizon="8", property="avoids", thresholds=thresholds)
        yield f"{model}-for-ever", query, BY_WINDOW


def write(path):
    """Write a line for each question and controller: its name, and the digest of each way to fail."""
    with open(path, "w") as out:
        for name, query, controllers in questions():
            query = query.of_small_packets()
            for controller in controllers:
                try:
                    digests = digest(Judge(query).script(query.controller(controller)))
                except InputError:
                    digests = ["refused"]
                print(f"{name}/{controller}", *digests, file=out, flush=True)


def compare(old, new):
    """Print the questions that differ, and return whether any question differs."""
    before, after = (
        dict(line.split(maxsplit=1) for line in Path(path).read_text().splitlines()) for path in (old, new)
    )
    for name in sorted(before.keys() ^ after.keys()):
        print(f"{name}: in one file only")
    differ = sorted(name for name in before.keys() & after.keys() if before[name] != after[name])
    for name in differ:
        print(f"{name}: differs")
    print(f"{len(before.keys() & after.keys()) - len(differ)} equal, {len(differ)} differ")
    return bool(differ) or before.keys() != after.keys()


def main():
    """Run the action that the command line requests, and return its exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=["write", "compare"])
    parser.add_argument("files", nargs="+")
    arguments = parser.parse_args()
    return (write if arguments.action == "write" else compare)(*arguments.files)


if __name__ == "__main__":
    sys.exit(main())
