"""A record of the lines of a controller's own Python that ran."""

import ast

#: The names of the functions that record lines in executed syntax. The names contain spaces, so no source can use them.
_RAN, _DECIDED = "a line ran", "a condition was decided"


class Lines(dict):
    """The lines that ran, by number: an `if` or `elif` with its condition's value, others with True."""

    def mark(self, function, scope):
        """Change a function so that it records here which of its lines run; `scope` gets two names for this."""
        scope[_RAN] = self._ran
        scope[_DECIDED] = self._decided
        function.body = _marked(function.body)

    def _ran(self, first, last):
        self.update(dict.fromkeys(range(int(first), int(last) + 1), True))

    def _decided(self, first, last, condition):
        truth = bool(condition)
        self.update(dict.fromkeys(range(int(first), int(last) + 1), truth))
        return truth


def _marked(statements):
    """Precede each statement by a call that records its lines; a condition itself records its outcome."""
    marked = []
    for statement in statements:
        if isinstance(statement, ast.If):
            statement.test = _call(_DECIDED, statement.test, statement.test)
            statement.body, statement.orelse = _marked(statement.body), _marked(statement.orelse)
        elif not _is_docstring(statement):
            marked.append(ast.copy_location(ast.Expr(_call(_RAN, statement)), statement))
        marked.append(statement)
    return marked


def _is_docstring(statement):
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)


def _call(name, place, *arguments):
    """The last arguments are the first and the last line of a place in the source."""
    lines = [ast.Constant(place.lineno), ast.Constant(place.end_lineno)]
    return ast.copy_location(ast.Call(ast.Name(name, ast.Load()), [*lines, *arguments], []), place)
