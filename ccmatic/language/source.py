"""A controller's Python source: its file, its statements, and its exact literals."""

import ast
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import TypeGuard

from ccmatic.base import InputError, definitions, exact, read_text
from ccmatic.records import PolicyFile, read_record


def find_program(name: str | Path) -> tuple[Path, str]:
    """Return the path and the text of a controller in a Python or ONNX file, or of a shipped controller's name."""
    path = definitions.find_file(definitions.CONTROLLERS, name, ".py")
    if path.suffix == ".onnx":
        from ccmatic.language import onnx_file  # imported here, so that reading Python does not load NumPy

        return path, onnx_file.program(path)
    if path.suffix == ".json":
        raise _not_linear(path)
    return path, read_text(path)


def _not_linear(path: Path) -> InputError:
    """Say why a trained policy is no program for solvers."""
    policy = read_record(read_text(path), PolicyFile, str(path))
    word, _, envelope = policy.act.partition(":")
    expected = "an ONNX network of Relu whose inputs are terms of rates (docs/controllers.md)"
    if word == "envelope":
        expected = f"the envelope that it stays in, {envelope}"
    problem = f"a policy whose layers end in tanh, and which observes {policy.observe}'s signals: neither is linear"
    return InputError(f"{problem}; expected {expected}", str(path))


#: The form of a controller with state, as text for messages.
WITH_STATE = (
    "state such as `window: bytes = above(0)`, `def update(window, …)` and `def send(window)` (docs/stateful.md)"
)


def start_of(statement: ast.stmt) -> str | None:
    """Return the name in a statement `start = "NAME"`; None for any other statement."""
    match statement:
        case ast.Assign(targets=[ast.Name(id="start")], value=ast.Constant(value=str(name))):
            return name
    return None


def observation_of(statement: ast.stmt) -> tuple[str, str] | None:
    """Return the name and the file of a statement `NAME = observation("FILE")`; None for any other statement."""
    match statement:
        case ast.Assign(
            targets=[ast.Name(id=name)],
            value=ast.Call(func=ast.Name(id="observation"), args=[ast.Constant(value=str(file))], keywords=[]),
        ):
            return name, file
    return None


def is_assignment(statement: ast.stmt) -> bool:
    match statement:
        case ast.Assign(targets=[ast.Name()]) | ast.AugAssign(target=ast.Name()):
            return True
    return False


def assignment(statement: ast.stmt) -> tuple[str, ast.expr]:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=node):
            return name, node
        case ast.AugAssign(target=ast.Name(id=name) as target, op=op, value=node):
            before = ast.copy_location(ast.Name(name, ast.Load()), target)
            return name, ast.copy_location(ast.BinOp(before, op, node), statement)
    raise TypeError(f"no assignment: {ast.unparse(statement)}")


def is_constant(statement: ast.stmt) -> TypeGuard[ast.Assign]:
    match statement:
        case ast.Assign(targets=[ast.Name(id=name)], value=node):
            is_text = isinstance(node, ast.Constant) and isinstance(node.value, str)
            return name != "start" and not is_text and observation_of(statement) is None
    return False


def is_target(node: ast.AST) -> TypeGuard[ast.Name]:
    return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)


def targets(module: ast.AST) -> Iterator[ast.Name]:
    """Yield the names to which a tree assigns, except those of comprehensions, which mean nothing outside of them."""
    nodes = [*ast.walk(module)]
    own = {id(name) for node in nodes if isinstance(node, ast.comprehension) for name in ast.walk(node.target)}
    return (node for node in nodes if is_target(node) and id(node) not in own)


def after_docstring(statements: list[ast.stmt]) -> list[ast.stmt]:
    match statements:
        case [ast.Expr(value=ast.Constant(value=str())), *rest]:
            return rest
    return statements


def always_returns(statement: ast.stmt) -> bool:
    if isinstance(statement, ast.If):
        return all(block and always_returns(block[-1]) for block in (statement.body, statement.orelse))
    return isinstance(statement, ast.Return)


def first_line(statement: ast.AST) -> str:
    return ast.unparse(statement).splitlines()[0]


class Literals:
    """Reads the literals of a source as the exact numbers that their digits spell.

    For example, the literal 0.1 means 1/10 and not the float nearest to it.
    """

    def __init__(self, source: str) -> None:
        self.lines = [line.encode() for line in re.split("\r\n?|\n", source)]

    def text(self, node: ast.expr) -> str:
        if node.lineno != node.end_lineno:
            return ast.unparse(node)
        return self.lines[node.lineno - 1][node.col_offset : node.end_col_offset].decode()

    def value(self, node: ast.Constant) -> Fraction:
        return exact(node.value if isinstance(node.value, int) else self.text(node).replace("_", ""))
