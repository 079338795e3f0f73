"""Whether a proof fits a controller: its network offers all that the controller reads, and it follows its beliefs."""

from contextlib import contextmanager, suppress

from ccmatic import controllers
from ccmatic.base import CONSTANTS, InputError


def controller_of(name, proof, query, controller):
    """Return the controller, as of `controllers.given`, that decides in a proof's windows. Raises InputError, which
    says why the proof does not fit a controller that others do.

    name, proof: the Proof. query: about its windows."""
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
        raise InputError(f"the proof {name} does not fit {loaded.name}: it does not follow {read}, which that reads")
    return loaded


@contextmanager
def state_is_there(name, controller):
    """Raise InputError, in place of KeyError, where a lemma of a proof reads what its controller does not remember."""
    try:
        yield
    except KeyError as error:
        remembered = ", ".join(memory.name for memory in controller.state) or "nothing"
        reason = f"it reads the state `{error.args[0]}`, and {controller.name} remembers {remembered}"
        raise InputError(f"the proof {name} does not fit {controller.name}: {reason}") from None


def _why_not_on(query, controller):
    """What a controller reads or sends by that a query's model has not, in words; None if that is not why."""
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
