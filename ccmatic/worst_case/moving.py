"""Which state of a controller is a place in what it observes, as a sequence number is, and so moves on for ever."""

import ast
from collections import Counter

from ccmatic.base import BYTES, TIME
from ccmatic.language import each_of


def moving(controller):
    """The observations in whose sum each such piece of state is, by its name, which of several controllers ends in the
    number of the flow: `since = served` is one, and so is `recover = admitted + 3 * MSS`."""
    several = each_of(controller)
    if len(several) == 1:
        return _moving(controller)
    numbered = enumerate(several, 1)
    return {f"{name}{number}": of for number, each in numbered if each.state for name, of in _moving(each).items()}


def _moving(controller):
    counted = {name for name, each in controller.observations.items() if _is_counted(each)}
    update = next((each for each in ast.parse(controller.source).body if _is_update(each)), None)
    given = [(node.targets[0].id, node.value) for node in ast.walk(update) if _is_one(node)] if update else []
    moves = {}
    for _ in range(len(given) + 1):  # a place that is taken over from another name is told in the next round
        known = {**{name: Counter([name]) for name in counted}, **moves}
        found = {name: [] for name, _ in given}
        for name, value in given:
            found[name].append(_places(value, known))
        moves = {name: places for name, several in found.items() if (places := _one(several))}
    state = {memory.name for memory in controller.state}
    return {name: tuple(places.elements()) for name, places in sorted(moves.items()) if name in state}


def _is_counted(observation):
    return observation.unit in (BYTES, TIME) and not observation.constant and not observation.few


def _is_update(node):
    return isinstance(node, ast.FunctionDef) and node.name == "update"


def _is_one(node):
    return isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)


def _one(several):
    """Of what is assigned to a name, the places, if they are all the same."""
    placed = [places for places in several if places]
    return placed[0] if placed and placed.count(placed[0]) == len(placed) else None


def _places(node, known):
    """A Counter of the observations in whose sum a term is; an empty one of what is none of these."""
    match node:
        case ast.Name(name):
            return known.get(name, Counter())
        case ast.Subscript(value=value):
            return _places(value, known)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _places(left, known) + _places(right, known)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            ahead, behind = _places(left, known), _places(right, known)
            return ahead - behind if behind <= ahead else Counter()
        case ast.IfExp(body=then, orelse=other):
            return _one([_places(then, known), _places(other, known)]) or Counter()
        case ast.Call(func=ast.Name("max" | "min" | "any_of"), args=terms):
            return _one([_places(term, known) for term in terms]) or Counter()
    return Counter()
