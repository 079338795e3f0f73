"""Which way through a controller some values lead: the lines of its listing that are read."""

from ccmatic.language.printer import Text
from ccmatic.language.tree import If
from ccmatic.language.value import value


def way_taken(tree, values, line=0):
    """Numbers of the lines of `printer.listing` that are read at these values, each with whether its condition holds;
    the last is the rate's, with True. An `else` is not listed. Raises ZeroDivisionError as the controller would."""
    if not isinstance(tree, If):
        return {line: True}
    if value(tree.test, values):
        return {line: True, **way_taken(tree.then, values, line + 1)}
    words = Text()
    after = line + 1 + len(words.listing(tree.then, words.rate))
    return {line: False, **way_taken(tree.other, values, after + (not isinstance(tree.other, If)))}
