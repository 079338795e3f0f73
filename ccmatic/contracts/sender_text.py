"""Translation of beliefs to the language of controllers with state, for window senders.

The original programs of beliefs read a whole window. Window senders look back only a few steps of at most R_m each, and
their beliefs do not time out. This module expresses the observations in a window by the observations of window senders.
Bytes are acknowledged R_m after they are sent. A step counts as application-limited if the sender sent no byte, or its
application paused, at a time R_m + D earlier. The sender cannot tell in which step the lost bytes were lost.
"""

import ast
from collections.abc import Callable
from typing import Any

from ccmatic.base import InputError, syntax_tree
from ccmatic.contracts.columns import SenderBelief
from ccmatic.contracts.program import Program
from ccmatic.logic import Truth

#: The number of earlier steps that the samples of a bound read.
SAMPLES = 4

#: The observations that window senders have by the same name.
_SAME = ("acked", "sent", "lost")

_CONSTANTS = ("R_m", "D", "MSS", "step")


def sender_belief(
    program: Program,
    name: str,
    says: str,
    holds: Callable[[Any, int, Any], Truth] | None = None,
    upper: bool = False,
    pauses: bool = False,
) -> SenderBelief:
    """Return the belief of a program in the form in which window senders compute it.

    Args:
        program: The program that defines the belief.
        name: The name of the belief.
        says: A short description of the belief.
        holds: As in `SenderBelief`.
        upper: Whether the belief is an upper bound.
        pauses: Whether the sender's application may pause.

    Raises:
        InputError: If the belief reads a quantity that window senders cannot observe.
    """
    is_bound = program.is_bound(name)
    value = ast.unparse(_shifted(program, _returned(program, name))) if not is_bound else ""
    body = _bound(program, name, pauses) if is_bound else [f"{name} = {value}"]
    names = {node.id for line in body for node in ast.walk(syntax_tree(line)) if isinstance(node, ast.Name)}
    assigned = {line.partition(" = ")[0] for line in body} - ({name} if is_bound else set())
    parameters = ", ".join(sorted(names - assigned - {"max", "min"}))
    update = [f"def update({parameters}):", *(f"    {line}" for line in body), ""]
    declared = [f"{name}: rate = between(MSS / R_m, line_rate)", ""] if is_bound else []
    return SenderBelief(name, program.beliefs[name], says, "\n".join([*declared, *update]), holds, upper)


def _bound(program: Program, name: str, pauses: bool) -> list[str]:
    """Return the assignments that compute a running bound."""
    extreme = _returned(program, name)
    while isinstance(extreme, ast.Name):
        extreme = _returned(program, extreme.id)
    match extreme:
        case ast.Call(func=ast.Name(id=pick), args=[ast.GeneratorExp(elt=term, generators=[over])]):
            index = over.target.id  # type: ignore[attr-defined]
        case _:
            raise InputError(f"{name} is no running bound; expected max(… for k in past)", program.file)
    tests = [part for test in over.ifs for part in _conjuncts(test)]
    lasting = [helper for test in tests if (helper := _lasting(test))]
    plain = [test for test in tests if not _lasting(test)]
    lines, samples, before = [], [], ""
    delayed = any("limited" in program.reads(helper) for helper in lasting)
    for k in range(1, SAMPLES + 1):
        sample = ast.unparse(_shifted(program, term, {index: k}))
        if lasting:
            holds = [
                ast.unparse(_shifted(program, _returned(program, helper), {}, k - 1, pauses)) for helper in lasting
            ]
            lines.append(f"{name}_lasts_{k} = {' and '.join([*([before] if before else []), *holds])}")
            before = f"{name}_lasts_{k}"
            sample = f"({sample} if {before} else {name})"
        conditions = [f"time >= R_m + {'D + ' if delayed else ''}{_steps(k)}"]
        conditions += [ast.unparse(_shifted(program, test, {index: k})) for test in plain]
        samples.append(f"{sample} if {' and '.join(conditions)} else {name}")
    return [*lines, f"{name} = {pick}({', '.join([name, *samples])})"]


def _returned(program: Program, name: str) -> ast.expr:
    function = syntax_tree(program.text(name)).body[0]
    match function:
        case ast.FunctionDef(body=[*_, ast.Return(value=ast.expr() as value)]) if len(function.body) == 1:
            return value
    raise InputError(f"`{name}` assigns names; for window senders expected a single return", program.file)


def _steps(count: int) -> str:
    return f"{count} * step" if count > 1 else "step"


def _conjuncts(test: ast.expr) -> list[ast.expr]:
    return test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]


def _lasting(test: ast.expr) -> str | None:
    """Return the name of the condition that must hold in every step of a sample; None if the test has another form."""
    match test:
        case ast.Call(func=ast.Name(id="all"), args=[ast.GeneratorExp(elt=ast.Subscript(value=ast.Name(id=helper)))]):
            return helper
    return None


def _shifted(
    program: Program, node: ast.expr, index: dict[str, int] | None = None, back: int = 0, pauses: bool = False
) -> ast.expr:
    """Return an expression for its value `back` steps earlier. `index` has the times of comprehensions in steps."""
    shifted = _Shift(program, index or {}, back, pauses).visit(syntax_tree(ast.unparse(node), mode="eval").body)
    if isinstance(shifted, ast.Constant) and isinstance(shifted.value, bool):
        raise InputError("a condition never holds for window senders; expected one that may hold", program.file)
    return shifted  # type: ignore[no-any-return]


class _Shift(ast.NodeTransformer):
    """Replaces the observations of a window by those of window senders."""

    def __init__(self, program: Program, index: dict[str, int], back: int, pauses: bool) -> None:
        self.program, self.index, self.back, self.pauses = program, index, back, pauses

    def past(self, name: str, more: str = "") -> ast.expr:
        """Return the observation `name`, `back` plus `more` steps before the current step."""
        steps = _steps(self.back) if self.back else ""
        place = " + ".join(filter(None, (more, steps)))
        return syntax_tree(f"{name}[{place}]" if place else name, mode="eval").body

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.index:
            return syntax_tree(_steps(self.index[node.id]), mode="eval").body
        if node.id in _CONSTANTS:
            return node
        if node.id in (*_SAME, "delay"):
            return self.past(node.id)
        raise InputError(f"window senders do not observe `{node.id}`", self.program.file)

    def visit_Subscript(self, node: ast.Subscript) -> ast.expr:
        name, more = node.value.id, ast.unparse(self.visit(node.slice))  # type: ignore[attr-defined]
        if name not in _SAME:
            raise InputError(f"window senders do not observe earlier values of `{name}`", self.program.file)
        return self.past(name, more)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        node.args = [self.visit(each) for each in node.args]
        return node

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.Not) and isinstance(node.operand, ast.Name) and node.operand.id == "limited":
            then, now = (ast.unparse(self.past("sent", f"R_m + D{more}")) for more in (" - step", ""))
            paused = ast.unparse(self.past("app_limited", "R_m + D - step"))
            return syntax_tree(f"{then} > {now}{f' and not {paused}' if self.pauses else ''}", mode="eval").body
        node.operand = self.visit(node.operand)
        return node

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        names = {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}
        if names & {"timely", "excess"}:
            return ast.Constant(False)
        compared = self.generic_visit(node)
        if "delay" not in names:
            return compared  # type: ignore[return-value]
        return ast.BoolOp(ast.And(), [self.past("measured"), compared])  # type: ignore[list-item]

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        is_or = isinstance(node.op, ast.Or)
        values = [self.visit(each) for each in node.values]
        left = [each for each in values if not (isinstance(each, ast.Constant) and is_or and each.value is False)]
        return left[0] if len(left) == 1 else ast.BoolOp(node.op, left)
