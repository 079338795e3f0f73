"""Beliefs of a controller with state.

A sender updates its beliefs step by step. Programs in the controller's language define the updates. The values that a
belief stores become state of the controller. The belief's `update` runs before the controller's own `update`. Every
analysis of a controller therefore covers the controller's beliefs as well.
"""

import ast
from collections.abc import Iterable, Mapping
from typing import Protocol, TypeVar

from ccmatic.base import InputError, Unit, syntax_tree
from ccmatic.language.source import after_docstring, is_target, targets


class Observation(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> Unit | str: ...

    @property
    def constant(self) -> bool: ...

    @property
    def few(self) -> bool: ...


class Belief(Protocol):
    @property
    def name(self) -> str: ...

    @property
    def unit(self) -> Unit | str: ...

    @property
    def source(self) -> str: ...

    @property
    def upper(self) -> bool: ...


class Source(Protocol):
    """An observation or a belief. The attribute `source` of an observation is None."""

    @property
    def source(self) -> str | None: ...


S = TypeVar("S", bound=Source)
B = TypeVar("B", bound=Belief)


def observations_and_beliefs(observations: Mapping[str, S]) -> tuple[dict[str, S], dict[str, S]]:
    """Split the names that a model's senders may read into those of observations and those of beliefs."""
    beliefs = {name: each for name, each in observations.items() if each.source}
    return {name: each for name, each in observations.items() if name not in beliefs}, beliefs


def add_beliefs(module: ast.Module, beliefs: Mapping[str, B], file: str | None = None) -> dict[str, B]:
    """Add the programs of the beliefs that a source reads to its syntax tree, and return these beliefs by name.

    The function adds no belief that the source itself declares. If a belief reads another belief, the other belief's
    program comes first. The source may not assign to a name from a belief's program.
    """
    functions = {each.name: each for each in module.body if isinstance(each, ast.FunctionDef)}
    declared = {name for statement in module.body if (name := _declared(statement))}
    others = {name: each for name, each in beliefs.items() if name not in declared}
    parts: dict[str, ast.Module] = {}
    for function in functions.values():
        _add(parts, function.args.args, others)
    if parts:
        for function in functions.values():
            _check(function, parts, file)
        if "update" not in functions:
            functions["update"] = _update(_at("def update(): pass", module.body[-1]))
            functions["update"].body.clear()
            module.body.append(functions["update"])
        _join(module, functions["update"], parts)
    return {name: beliefs[name] for name in parts}


def _add(parts: dict[str, ast.Module], arguments: Iterable[ast.arg], beliefs: Mapping[str, Belief]) -> None:
    """Add the syntax trees of the beliefs among the arguments, and of all beliefs that these read, by name."""
    for argument in arguments:
        if argument.arg in beliefs and argument.arg not in parts:
            part = _at(beliefs[argument.arg].source, argument)
            _add(parts, (each for each in _update(part).args.args if each.arg != argument.arg), beliefs)
            parts[argument.arg] = part


def _declared(statement: ast.stmt) -> str | None:
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name)):
            return name
    return None


def _update(part: ast.Module) -> ast.FunctionDef:
    *_, update = part.body
    if not isinstance(update, ast.FunctionDef):
        raise TypeError(f"no function: {ast.unparse(update)}")
    return update


def _at(source: str, place: ast.AST) -> ast.Module:
    """Return the syntax tree of a source in which all nodes have the location of `place`."""
    module = syntax_tree(source)
    for node in ast.walk(module):
        ast.copy_location(node, place)
    return module


def _check(function: ast.FunctionDef, parts: Mapping[str, ast.Module], file: str | None) -> None:
    nodes = [node for part in parts.values() for node in ast.walk(part)]
    used = {node.arg for node in nodes if isinstance(node, ast.arg)} | {
        node.id for part in parts.values() for node in targets(part)
    }
    given = {argument.arg for argument in function.args.args}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id in used:
            if is_target(node):
                problem = f"assigns `{node.id}`, which has a meaning already; expected another name"
                raise InputError(problem, file, node.lineno)
            if node.id not in given:
                problem = f"`{node.id}` is not a parameter of `{function.name}`, expected it to be"
                raise InputError(problem, file, node.lineno)


def _join(module: ast.Module, update: ast.FunctionDef, parts: Mapping[str, ast.Module]) -> None:
    """Add the state of the beliefs to that of the source, and put the updates of the beliefs before its `update`."""
    states, body, arguments = list[ast.stmt](), list[ast.stmt](), list(update.args.args)
    for part in parts.values():
        own_update = _update(part)
        states += part.body[:-1]
        body += own_update.body
        taken = {argument.arg for argument in arguments}
        arguments += [argument for argument in own_update.args.args if argument.arg not in taken]
    kept = {_declared(state) for state in states}
    update.args.args = [each for each in arguments if each.arg in kept or each.arg not in parts]
    module.body += states
    own = after_docstring(update.body)
    update.body[len(update.body) - len(own) :] = [*body, *own]
