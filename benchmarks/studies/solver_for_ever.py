"""How little of the link cc_qdel uses in any step of any trace, once it knows so much of it: a bound of whole traces.

    python -m benchmarks.studies.solver_for_ever FOLDER [--seeds 0 1 2]

The sender is cc_qdel as it runs, on the link of `solver_adversary.py`: from any state in which C_L is at least a share
of C the solver says below which share of the link its third step is in no execution, and that C_L falls in none. So
each step from then on uses as much, of traces of any length. Prints that, to a hundredth, and from which R_m on the
learned traces of FOLDER are in such a state.
"""

import argparse
from fractions import Fraction
from pathlib import Path

import ccmatic as cm
from benchmarks.lib import cells
from benchmarks.studies.solver_adversary import BUFFER, MODEL, PACKET, begun, learned, play

CONTROLLER, KNOWN, HORIZON = "cc_qdel_sender", (Fraction(1, 2), Fraction(3, 4)), 4


def always(what, known, **options):
    """The Worst of a condition, of executions that begin anywhere with such a C_L, in C."""
    controller = begun(CONTROLLER).controller
    return cm.worst(
        controller.begun_anywhere([memory.name for memory in controller.state]),
        cm.Network(MODEL, BUFFER, HORIZON, delay="executions"),
        what,
        given=f"alpha == {PACKET}; C_L_f[0][0] >= {known}",
        **options,
    )


def least(known, **options):
    """Below which share of the link no third step from such a C_L on is, and no later one, as C_L does not fall; 0
    where that is not told in time."""
    falls = always("C_L_f[0][-1] < C_L_f[0][0]", known, **options)
    if falls.some is not None or falls.verdict == cells.UNDECIDED:
        return Fraction(0)
    return cells.least(always("S[-1] - S[-2] < x * (offered[-1] - offered[-2])", known, **options))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seeds", type=int, nargs="+", default=(0, 1, 2))
    asked = parser.parse_args()
    traces = [play(begun(CONTROLLER), learned(CONTROLLER, seed, asked.folder)) for seed in asked.seeds]
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
