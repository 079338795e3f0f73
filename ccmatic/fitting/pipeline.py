"""The pipeline from the file of a packet log to its fit, and to the guarantees of shipped proofs."""

from ccmatic.base import InputError, quantities
from ccmatic.fitting import coverage
from ccmatic.fitting.fit import MODELS, fit
from ccmatic.fitting.readers import read_log


def fit_file(log, models=(), rtt=None, horizon=10, two_clocks=False, received=None, controllers=()):
    """Return (Fitted, [records.GuaranteeLine, …]) of a log file. `ccmatic.api.fit` describes the arguments."""
    step = quantities.duration(rtt) if rtt else None
    if step == 0:
        raise InputError(f"the rtt is '{rtt}'; expected more than 0")
    if controllers and not step:
        raise InputError("--controller needs --rtt, R_m: the delays in a log may be those of one direction only")
    packets = read_log(str(log), two_clocks, received)
    fitted = fit(packets, models or dict.fromkeys((*MODELS, *coverage.models(controllers))), horizon, step)
    return fitted, [line for name in controllers for line in coverage.guarantees(name, fitted)]
