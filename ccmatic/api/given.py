"""What all of the API's functions take as a controller, and as a query."""

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from ccmatic import controllers
from ccmatic import query as queries
from ccmatic.base import InputError, shown
from ccmatic.controllers import Controller, Several, Stateful
from ccmatic.query import Decides, Query

#: What people give as a controller: see `controllers.given`.
Given = Controller | Stateful | Several | Callable[..., Fraction] | Path | str


#: What people give as a query: a Query, the name of one in examples/queries, or the path of its file.
Asked = Query | Path | str


def asked(query: Asked) -> Query:
    """The Query that is meant. Raises InputError."""
    if isinstance(query, str | Path):
        return queries.load(query)
    if not isinstance(query, Query):
        raise InputError(f"{shown(query)} is no query; expected a Query, the name of one, or the path of its file")
    return query


def load_controller(controller: Given, query: Asked | None = None) -> Decides:
    """The controller that is meant by a Python function, a file, a name, or source text.

    query: whose beliefs it may read; None: those of any model that ccmatic ships. Its `rate` runs it, its `pretty`
    shows it. Raises InputError, with file and line where they are known, for what is no controller.

        cm.load_controller("cc_qdel")
    """
    return controllers.given(controller) if query is None else asked(query).controller(controller)
