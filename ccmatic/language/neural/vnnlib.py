"""A reader of properties of one decision in VNN-LIB 1.0. A file is data: the reader runs no code of the file.

A file declares real constants X_0, X_1, … for the inputs of a network and Y_0, Y_1, … for its outputs. Its assertions
describe a violation: the property holds if no input of the network satisfies all assertions.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import TypeAlias

from ccmatic.base import InputError, exact, located, read_text, shown
from ccmatic.language.neural.graph import ONE, Form, combined

#: Limits on the size of a file in bytes, on the nesting depth of its terms, and on the cases of its disjunctions.
LARGEST, DEEPEST, MOST_CASES = 2**22, 50, 10_000

#: A term of the file: a word with its line, or a list of terms.
_Term: TypeAlias = "_Word | list[_Term]"

#: A condition in disjunctive normal form: the cases, each with forms that are all at most 0.
Case: TypeAlias = tuple[Form, ...]

_TOKEN = re.compile(r"\s+|;[^\n]*|([()])|([^\s()|\";]+)|(\|[^|]*\||\"[^\"]*\")")
_VARIABLE = re.compile(r"([XY])_(0|[1-9][0-9]{0,5})")


@dataclass(frozen=True)
class _Word:
    text: str
    line: int


@dataclass(frozen=True)
class Violation:
    """The violation of a property.

    Attributes:
        inputs: The number of declared inputs.
        outputs: The number of declared outputs.
        cases: The violation in disjunctive normal form. The variables of the forms are the inputs, then the outputs.
    """

    inputs: int
    outputs: int
    cases: tuple[Case, ...]


def read_property(path: str | Path) -> Violation:
    with located(str(path)):
        return _Reader(read_text(path, LARGEST)).violation()


class _Reader:
    def __init__(self, text: str) -> None:
        self.commands = list(_commands(text))
        self.declared: dict[str, int] = {"X": 0, "Y": 0}

    def violation(self) -> Violation:
        assertions: list[_Term] = []
        for command in self.commands:
            match command:
                case [_Word("declare-const" | "declare-fun", line), _Word() as name, *rest]:
                    self.declare(name, rest, line)
                case [_Word("assert"), term]:
                    assertions.append(term)
                case [_Word("check-sat" | "set-logic" | "set-info"), *_]:
                    pass
                case _:
                    expected = "(declare-const X_0 Real) or (assert …)"
                    raise InputError(
                        f"'{_text(command)}' is no command of VNN-LIB 1.0; expected {expected}", None, _line(command)
                    )
        if not all(self.declared.values()):
            raise InputError("declares no inputs or no outputs; expected X_0, X_1, … and Y_0, Y_1, …")
        cases: list[Case] = [()]
        for assertion in assertions:
            cases = _joined(cases, self.cases(assertion), _line(assertion))
        return Violation(self.declared["X"], self.declared["Y"], tuple(cases))

    def declare(self, name: _Word, rest: list[_Term], line: int) -> None:
        kinds = [each.text if isinstance(each, _Word) else "()" for each in rest if each != []]
        found = _VARIABLE.fullmatch(name.text)
        if not found or kinds != ["Real"] or int(found[2]) != self.declared[found[1]]:
            expected = f"X_{self.declared['X']} or Y_{self.declared['Y']}, Real"
            raise InputError(f"declares '{shown(name.text)}'; expected the next of {expected}", None, line)
        self.declared[found[1]] += 1

    def cases(self, term: _Term) -> list[Case]:
        """Return a condition in disjunctive normal form."""
        match term:
            case [_Word("and"), *terms] if terms:
                cases: list[Case] = [()]
                for each in terms:
                    cases = _joined(cases, self.cases(each), _line(term))
                return cases
            case [_Word("or"), *terms] if terms:
                cases = [case for each in terms for case in self.cases(each)]
                _check_count(len(cases), _line(term))
                return cases
            case [_Word("<=" | ">=" | "=" as sign), left, right]:
                below = combined([(ONE, self.form(left)), (-ONE, self.form(right))])
                above = combined([(-ONE, below)])
                return [{"<=": (below,), ">=": (above,), "=": (below, above)}[sign]]
        raise InputError(f"'{_text(term)}' is no condition; expected <=, >=, =, and, or", None, _line(term))

    def form(self, term: _Term) -> Form:
        match term:
            case _Word(text, line):
                return self.word(text, line)
            case [_Word("+"), *terms] if terms:
                return combined((ONE, self.form(each)) for each in terms)
            case [_Word("-"), only]:
                return combined([(-ONE, self.form(only))])
            case [_Word("-"), first, *terms]:
                return combined([(ONE, self.form(first)), *((-ONE, self.form(each)) for each in terms)])
            case [_Word("*"), left, right]:
                factors = self.form(left), self.form(right)
                for times, form in (factors, factors[::-1]):
                    if not times.factors:
                        return combined([(times.constant, form)])
        raise InputError(f"'{_text(term)}' is not linear; expected numbers, X_i, Y_j, +, - or *", None, _line(term))

    def word(self, text: str, line: int) -> Form:
        found = _VARIABLE.fullmatch(text)
        if found and int(found[2]) < self.declared[found[1]]:
            return Form({int(found[2]) + (self.declared["X"] if found[1] == "Y" else 0): ONE})
        try:
            return Form({}, exact(text))
        except InputError:
            message = f"'{shown(text)}' is neither a number nor a declared variable"
            raise InputError(f"{message}; expected such as 0.5, X_0 or Y_0", None, line) from None


def _joined(cases: list[Case], more: list[Case], line: int | None) -> list[Case]:
    _check_count(len(cases) * len(more), line)
    return [(*one, *two) for one, two in product(cases, more)]


def _check_count(count: int, line: int | None) -> None:
    if count > MOST_CASES:
        raise InputError(f"{count} cases when `or` is multiplied out; expected at most {MOST_CASES}", None, line)


def _commands(text: str) -> Iterator[_Term]:
    stack: list[list[_Term]] = [[]]
    line = 1
    place = 0
    while place < len(text):
        found = _TOKEN.match(text, place)
        if not found:
            raise InputError(f"'{shown(text[place])}' begins no term; expected parentheses and words", None, line)
        if found[1] == "(":
            stack.append([])
            if len(stack) > DEEPEST:
                raise InputError(f"terms nested more than {DEEPEST} levels deep; expected fewer", None, line)
        elif found[1] == ")":
            if len(stack) == 1:
                raise InputError("a ')' too many; expected as many as '('", None, line)
            done = stack.pop()
            stack[-1].append(done)
        elif found[2] or found[3]:
            stack[-1].append(_Word(found[0], line))
        line += found[0].count("\n")
        place = found.end()
    if len(stack) > 1:
        raise InputError(f"{len(stack) - 1} '(' too many; expected as many as ')'", None, line)
    yield from stack[0]


def _line(term: _Term) -> int | None:
    while isinstance(term, list):
        if not term:
            return None
        term = term[0]
    return term.line


def _text(term: _Term) -> str:
    if isinstance(term, _Word):
        return shown(term.text)
    return shown(f"({' '.join(_text(each) for each in term[:4])}{' …' if len(term) > 4 else ''})")
