"""Prove a lower bound on the link's use by cc_qdel in any step of any trace, once C_L is at least a share of C.

    python -m benchmarks.studies.solver_for_ever FOLDER [--seeds 0 1 2]

The sender is cc_qdel with its actual behaviour, on the link of `solver_adversary.py`. C_L is the sender's lower bound
on the link's rate. Consider any state in which C_L is at least some share of C. The solver proves a lower bound on the
link's use in the third step from such a state. The solver also proves that C_L never falls. So the state after every
later step also has this property, and the bound holds in every later step, in traces of any length. The command prints
the bound, rounded to a hundredth. The command also prints the time, in R_m, from which on the learned traces of FOLDER
are in such a state.
"""

import argparse
from fractions import Fraction
from pathlib import Path

import ccmatic as cm
from benchmarks.lib import cells
from benchmarks.studies.solver_adversary import BUFFER, MODEL, PACKET, begun, learned, play

CONTROLLER, KNOWN, HORIZON = "cc_qdel_sender", (Fraction(1, 2), Fraction(3, 4)), 4


def always(what, known, **options):
    """Return the WorstCase of a condition over executions from any state in which C_L / C is at least `known`."""
    controller = begun(CONTROLLER).controller
    return cm.worst(
        controller.begun_anywhere([memory.name for memory in controller.state]),
        cm.Network(MODEL, BUFFER, HORIZON, delay="executions"),
        what,
        given=f"alpha == {PACKET}; C_L_f[0][0] >= {known}",
        **options,
    )


def least(known, **options):
    """Return a lower bound on the share of the link that the third step from such a state uses.

    The bound is also true of all later steps, because C_L does not fall. The bound is 0 if the solver timed out.
    """
    falls = always("C_L_f[0][-1] < C_L_f[0][0]", known, **options)
    if falls.some is not None or falls.verdict == cells.UNDECIDED:
        return Fraction(0)
    return cells.least(always("S[-1] - S[-2] < x * (offered[-1] - offered[-2])", known, **options))


def main():
    """Print the bounds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    options = parser.parse_args()
    traces = [play(begun(CONTROLLER), learned(CONTROLLER, seed, options.folder)) for seed in options.seeds]
    for known in KNOWN:
        since = [next((t for t, C_L in enumerate(trace.columns["C_L"]) if C_L >= known), None) for trace in traces]
        used = [
            f"{100 * float(trace.used(t + 2)[0]):.1f}" if t is not None else "-"
            for t, trace in zip(since, traces, strict=True)
        ]
        print(f"C_L >= {known} C: no step uses less than {float(least(known)):g}; the learned traces from R_m", end=" ")
        print(f"{since} on, which use {', '.join(used)} % since")


if __name__ == "__main__":
    main()
