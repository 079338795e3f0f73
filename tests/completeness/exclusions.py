"""The windows that the product's declared exclusions cover (docs/limits.md, What a question leaves out)."""

from .writing import KEPT_DELAYS

#: Laws of the published networks alone.
PUBLISHED = ("Q_grows_by_one_a_step", "F_grows_by_one_a_step", "F_fits_buffer_at_once")


def exclusion(window, law):
    """The name of the exclusion that covers a window which a law refuses; None if none does."""
    name = law.rpartition(" at t=")[0].rpartition(".")[2]
    packet = window.constants["MSS"]
    if name == "packet_size":
        return "packets" if packet >= window.constants["C"] / 5 else None
    if name in PUBLISHED:
        return "published laws"
    if name in ("C_L_is_as_at_first", "C_U_is_as_at_first"):
        if packet > min(window.run.network.R):
            return "packets"
        return "first state" if window.run.network.flows > 1 and name.startswith("C_U") else None
    n = window.begin + int(law.rpartition(" at t=")[2])
    if hasattr(window.run, "period"):
        return _for_ever(window, name, n)
    if name in ("state_is_the_controllers", "update_goes_on"):
        return _of_windows(window, n)
    if name == "rate_is_the_controllers":
        (sender,) = window.run.senders
        alike = sender.decides_alike(n, window.horizon - window.run.D)
        return None if alike else "before the trace"
    return None


def _of_windows(window, n):
    """Why a question leaves out what a sender by a window does at step n."""
    senders = window.run.senders
    if not all(sender.assumed[n] for sender in senders):
        return "assumptions"
    if all(written.tests == KEPT_DELAYS for written in window.run.written):
        return None
    shows = _shows_open if window.run.network.flows == 1 else _shows_own
    alike = [sender.decides_alike(n, window.begin, lambda *of: shows(window, *of)) for sender in senders]
    return None if all(alike) else "before the trace"


def _shows_open(window, waited, t):
    """A delay of bytes from before the window is shown, too, up to twice its length."""
    return min(waited, 2 * window.horizon)


def _shows_own(window, waited, t):
    """The delay of a flow's own bytes is shown if they were sent in the window."""
    return waited if waited < t else None


#: Up to so many steps back a window that repeats itself is continued (docs/limits.md).
LONGEST = 32


def _for_ever(window, name, n):
    """Why `worst --period` leaves out what repeats itself."""
    run, path, end = window.run, window.run.path, window.begin + window.horizon - 1
    if not all(all(sender.assumed[window.begin + 1 :]) for sender in run.senders):
        return "assumptions"
    if any(sender.found[m] < path.L[flow][m - LONGEST] for flow, sender in enumerate(run.senders) for m in (end, n)):
        return "late losses"
    if any(waited is not None and waited[0] > LONGEST for waits in window.waits for waited in waits):
        return "late delays"
    if len(path.flows) > 1 and path.served[end - run.period] < path.all_admitted(window.begin):
        return "late delays"
    starved = [sender for flow, sender in enumerate(run.senders) if path.S[flow][window.begin] == path.S[flow][end]]
    if name in ("state_is_the_controllers", "update_goes_on") and len(path.flows) > 1:
        alike = [sender.decides_alike(n, 0, lambda waited, t: None) for sender in starved]
        return None if all(alike) else "late delays"
    return None
