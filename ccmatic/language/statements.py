"""Classification of the statements in a controller's Python source."""

import ast
from collections.abc import Iterator
from typing import TypeGuard

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
    """Return the statements without a leading docstring."""
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
