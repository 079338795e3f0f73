"""Check whether a proof fits a controller: its network offers all inputs, and its states follow all beliefs."""

from contextlib import contextmanager, suppress

from ccmatic import controllers
from ccmatic.base import CONSTANTS, InputError


def controller_of(name, proof, query, controller):
    """Return the controller for the windows of a proof."""
    try:
        loaded = query.controller(controller)
    except InputError:
        if why := _why_not_on(query, controller):
            raise InputError(f"the proof {name} does not fit the controller: {why}") from None
        raise
    followed = {*proof.beliefs}
    foreign = {*loaded.parameters} & {belief.name for belief in query.model.carried_over()} - followed
    if foreign:
        read = ", ".join(sorted(foreign))
        raise InputError(
            f"the proof {name} does not fit {loaded.name}: it does not follow {read}, which the controller reads"
        )
    return loaded


@contextmanager
def state_is_there(name, controller):
    """Turn a KeyError into an InputError if a lemma of a proof reads state that its controller lacks."""
    try:
        yield
    except KeyError as error:
        remembered = ", ".join(memory.name for memory in controller.state) or "nothing"
        reason = f"it reads the state `{error.args[0]}`, and {controller.name} remembers {remembered}"
        raise InputError(f"the proof {name} does not fit {controller.name}: {reason}") from None


def _why_not_on(query, controller):
    """Return the quantity that a query's network lacks for a controller, in words; None if the network lacks none."""
    controllers_ = controller if isinstance(controller, list | tuple) else [controller]
    model, by_window = query.network.model_name, any(controllers.sends_by_window(one) for one in controllers_)
    if by_window is not query.model.windows:
        ways = "a rate", "a window"
        return f"on {model} senders send by {ways[query.model.windows]}, and it sends by {ways[by_window]}"
    with suppress(InputError):
        read = {*controllers.given(controller).parameters} - {*CONSTANTS} - query.units().keys()
        if read:
            return f"on {model} senders do not know {', '.join(sorted(read))}, which it reads"
    return None
