"""Measure which questions about CUBIC, BBR and controllers that compare delays the solver decides in time.

    python -m benchmarks.timings.first_contact TABLE [--timeout SECONDS]

TABLE is `horizons` or `steps`. The table `horizons` is about CUBIC and BBR with different horizons. The table `steps`
is about Vegas and HyStart over four R_m, with different numbers of steps per R_m. The command prints, for each
question, the answer, the seconds by the clock, and the seconds of processor time.
"""

import argparse
import time

from ccmatic.answers.verification import Judge
from ccmatic.base import InputError
from ccmatic.logic.solving import SolverOptions
from ccmatic.questions.query import make

CONTROLLERS, HORIZONS, STEPS, ROUND_TRIPS = ("cubic", "cubic_20ms", "bbr", "bbr_v1"), (3, 5, 7, 9), (1, 2, 4), 4

#: The conditions, by their meaning. The condition EMPTY holds in all questions.
EMPTY = "L[0] == 0"
ASKED = {
    "less than 1/10 of the link is used": "S[T-1] - S[0] < 1/10 * C * (T-1)",
    "the window falls below 7/10 of its size when a loss is detected": (
        "ANYT(2, T, lambda t: And(Ld_f[0][t] > Ld_f[0][t-1], Not(timeout_f[0][t]), c_f[0][t] < 7/10 * c_f[0][t-1]))"
    ),
}
DELAYED = {
    "less than 1/10 of the link is used": "S[T-1] - S[0] < 1/10 * C * (T-1)",
    "the window ends above 3 BDP, from at most 1": "And(c_f[0][0] <= C * R, c_f[0][T-1] > 3 * C * R)",
}


def answered(controller, model, horizon, what, timeout):
    """Return the verdict on a controller, the seconds by the clock, and the seconds of processor time.

    A dash stands for a controller that never decides.
    """
    thresholds = {"what": what, "given": EMPTY}
    query = make(model, "1", horizon, property="avoids", thresholds=thresholds).of_small_packets()
    begun, used = time.monotonic(), time.process_time()
    try:
        verdict = Judge(query, SolverOptions(timeout=timeout)).judge(query.controller(controller)).verdict
    except InputError as error:
        if "not observed within a horizon" in error.message:
            return "-"
        raise
    verdict = "timed out" if verdict == "unknown" else verdict
    return f"{verdict} {time.monotonic() - begun:.1f} s ({time.process_time() - used:.1f} s)"


def by_horizon(timeout):
    """Yield the lines of the table `horizons`."""
    yield "controller", "avoided", *(f"T = {horizon}" for horizon in HORIZONS)
    for controller in CONTROLLERS:
        for name, what in ASKED.items():
            cells = (answered(controller, "ccac_windows", horizon, what, timeout) for horizon in HORIZONS)
            yield controller, name, *cells


def by_steps(timeout):
    """Yield the lines of the table `steps`."""
    yield "controller", "avoided", *(f"R = {R}" for R in STEPS)
    for controller in ("vegas", "hystart"):
        for name, what in DELAYED.items():
            networks = ((f"ccac_windows:R={R}", ROUND_TRIPS * R + 1) for R in STEPS)
            cells = (answered(controller, model, horizon, what, timeout) for model, horizon in networks)
            yield controller, name, *cells


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=("horizons", "steps"))
    parser.add_argument("--timeout", type=float, default=60, help="seconds for a question")
    options = parser.parse_args()
    for line in {"horizons": by_horizon, "steps": by_steps}[options.table](options.timeout):
        print("|", " | ".join(line), "|", flush=True)


if __name__ == "__main__":
    main()
