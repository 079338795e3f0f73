"""Learners' observations in a controller's text: `full = observation("FILE.py")`, and then `full[0]` in `update`.

A step of the controller is the monitor interval. The bytes sent, acknowledged and lost in an interval are differences
between the controller's observations. Delays are rounded down to whole steps, because a controller observes whole
steps. The reader rejects other observations, such as a mean RTT.
"""

from fractions import Fraction
from pathlib import Path

from ccmatic.base import InputError, definitions, syntax_tree
from ccmatic.contracts import SenderBelief
from ccmatic.controllers import signal
from ccmatic.language import LIST, Walker, observation_of

#: The observations of learners in the language of controllers: for each one (text, the names that the text reads).
_BYTES = ("sent", "acked", "lost", "marked")
_MEANINGS = {
    **{name: (f"({name} - {name}[step])", (name, "step")) for name in _BYTES},
    **{f"{name}{signal.BEFORE}": (f"({name}[step] - {name}[2 * step])", (name, "step")) for name in _BYTES},
    "out": ("(sent - acked - lost)", ("sent", "acked", "lost")),
    f"out{signal.BEFORE}": ("(sent[step] - acked[step] - lost[step])", ("sent", "acked", "lost", "step")),
    "rtt_end": ("(R_m + delay)", ("R_m", "delay")),
    f"rtt_end{signal.BEFORE}": ("(R_m + delay[step])", ("R_m", "delay", "step")),
    **dict.fromkeys(("seconds", f"seconds{signal.BEFORE}"), ("step", ("step",))),
    **{name: (name, (name,)) for name in ("MSS", "R_m")},
}


def observations_in(source, file):
    """Return the learners' observations in a controller's text, by name, as beliefs that the `update` computes.

    Paths of observations are relative to the folder of the controller's file.
    """
    try:
        statements = syntax_tree(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}  # the reader of controllers reports the mistake
    observations = filter(None, map(observation_of, statements))
    return {name: _belief(name, path, file) for name, path in observations}


def _belief(name, path, file):
    if file and definitions.is_path(path):
        path = str(Path(file).parent / path)
    observed = signal.load("observe", path)
    if observed.memory:
        remembered = observed.memory[0][0].name
        raise InputError(
            f"remembers `{remembered}`, which is not state of the controller; expected none", observed.file
        )
    writer = _Source(name, observed.file)
    row = ", ".join(writer.walk(each) for each in observed.term.terms)
    body = "".join(f"    {line}\n" for line in [*writer.lines, f"{name} = [{row}]"])
    return SenderBelief(name, LIST, "", f"def update({', '.join(writer.read)}):\n{body}")


class _Source(Walker):
    """A writer of terms in the language of controllers. `name` prefixes the names of assigned values."""

    WORLD = "meaning in a controller"

    def __init__(self, name, file):
        super().__init__(file)
        self.name, self.lines, self.read = name, [], {}

    def visit_Number(self, node):
        number = Fraction(node.value)
        return f"({number.numerator} / {number.denominator})" if number.denominator > 1 else f"({number.numerator})"

    def visit_Name(self, node):
        if node.name not in _MEANINGS:
            self.refuse(node, f"reads `{node.name}`, which no controller observes; expected {', '.join(_MEANINGS)}")
        text, read = _MEANINGS[node.name]
        self.read |= dict.fromkeys(read)
        return text

    def visit_Local(self, node):
        text = yield node.term
        assigned = f"{self.name}_{node.name}_{len(self.lines)}"
        self.lines.append(f"{assigned} = {text}")
        return assigned

    def visit_Binary(self, node):
        left, right = (yield node.left), (yield node.right)
        return f"({left} {node.op} {right})"

    def visit_Extreme(self, node):
        return f"{node.pick}({', '.join((yield from self.results(node.terms)))})"

    def visit_If(self, node):
        test, then, other = yield from self.results((node.test, node.then, node.other))
        return f"({then} if {test} else {other})"

    visit_Comparison = visit_Binary

    def visit_Logic(self, node):
        return f"({f' {node.op} '.join((yield from self.results(node.parts)))})"

    def visit_Not(self, node):
        return f"(not {(yield node.part)})"
