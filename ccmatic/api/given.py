"""The types of arguments that every function of the API accepts as a controller or as a query."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from ccmatic import controllers
from ccmatic.base import InputError, shown
from ccmatic.controllers import Controller, ControllerGroup, Stateful
from ccmatic.questions import query as queries
from ccmatic.questions.query import Decides, Query

#: The forms in which callers may pass a controller; see `controllers.given`.
Given = Controller | Stateful | ControllerGroup | Callable[..., Fraction] | Path | str


#: The forms in which callers may pass a query: a Query, a name in examples/queries, or the path of a file.
Asked = Query | Path | str


def read_query(query: Asked) -> Query:
    """Return the Query that a Query, a name or a path stands for. Raise InputError if no query is found."""
    if isinstance(query, str | Path):
        return queries.load(query)
    if not isinstance(query, Query):
        raise InputError(f"{shown(query)} is no query; expected a Query, the name of one, or the path of its file")
    return query


def load_controller(controller: Given, query: Asked | None = None) -> Decides:
    """Load a controller from a Python function, a file, a name, or source text.

    Args:
        controller: The controller in one of these forms.
        query: The query whose beliefs the controller may read. By default, the beliefs of every model that ccmatic
            ships.

    Returns:
        The controller. Its `rate` runs it, and its `pretty` formats it.

    Raises:
        InputError: If the text or function is no controller. The error names the file and the line, if known.

    Examples:
        >>> cm.load_controller("cc_qdel")
    """
    return controllers.given(controller) if query is None else read_query(query).controller(controller)
