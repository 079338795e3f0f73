"""The pipelines from the file of a log to its fit, to its explanations, and to the guarantees of shipped proofs."""

from ccmatic.base import InputError, quantities
from ccmatic.fitting import coverage
from ccmatic.fitting.explanations import explain
from ccmatic.fitting.fit import MODELS, fit
from ccmatic.fitting.readers import read_log


def explain_file(log, rtt=None, jitter=None, two_clocks=False, received=None):
    """Return the Explanations of the log in a file; see `ccmatic.api.explain_log`."""
    return explain(read_log(str(log), two_clocks, received), _seconds(rtt), jitter)


def _seconds(rtt):
    """Return R_m in seconds, or None."""
    step = quantities.duration(rtt) if rtt else None
    if step == 0:
        raise InputError(f"the rtt is '{rtt}'; expected more than 0")
    return step


def fit_file(log, models=(), rtt=None, horizon=10, two_clocks=False, received=None, controllers=()):
    """Return (FitResult, [records.GuaranteeLine, …]) of the log in a file; see `ccmatic.api.fit`."""
    step = _seconds(rtt)
    if controllers and not step:
        raise InputError("--controller needs --rtt, R_m: the delays in a log may be those of one direction only")
    packets = read_log(str(log), two_clocks, received)
    fitted = fit(packets, models or dict.fromkeys((*MODELS, *coverage.models(controllers))), horizon, step)
    return fitted, [line for name in controllers for line in coverage.guarantees(name, fitted)]
