"""Which way through a controller some values lead: the lines of its listing that are read."""

from ccmatic.language.printer import listing
from ccmatic.language.tree import Binary, Comparison, Extreme, If, Logic, Name, Not, Number, value


def way_taken(tree, values, line=0):
    """Numbers of the lines of `printer.listing` that are read at these values, each with whether its condition holds;
    the last is the rate's, with True. An `else` is not listed. Raises ZeroDivisionError as the controller would."""
    if not isinstance(tree, If):
        return {line: True}
    if value(_at(tree.test, values)):
        return {line: True, **way_taken(tree.then, values, line + 1)}
    after = line + 1 + len(listing(tree.then))
    return {line: False, **way_taken(tree.other, values, after + (not isinstance(tree.other, If)))}


def _at(tree, values):
    """The tree with numbers for names."""
    match tree:
        case Name(name):
            return Number(values[name])
        case Binary(op, left, right):
            return Binary(op, _at(left, values), _at(right, values))
        case Comparison(op, left, right):
            return Comparison(op, _at(left, values), _at(right, values))
        case Extreme(pick, terms):
            return Extreme(pick, tuple(_at(term, values) for term in terms))
        case Logic(op, parts):
            return Logic(op, tuple(_at(part, values) for part in parts))
        case Not(part):
            return Not(_at(part, values))
        case If(test, then, other):
            return If(_at(test, values), _at(then, values), _at(other, values))
    return tree
