"""The types of arguments that every function of the API accepts as a controller or as a query."""

from ccmatic import controllers
from ccmatic.controllers import Given as Given
from ccmatic.questions.query import Asked as Asked
from ccmatic.questions.query import Decides
from ccmatic.questions.query import read_query as read_query


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
