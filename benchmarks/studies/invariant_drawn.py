"""Prove a bound of cc_qdel by an invariant, and draw the invariant over two unknowns of the state.

    python -m benchmarks.studies.invariant_drawn [--draw FILE]

The axes are K - S, the bytes that the link has granted and not served, and A - S, the bytes in flight. The areas are
the states of the invariant, without packets (MSS = 0). A state with another last A is left out. The path is the
execution that refutes the next smaller bound: it comes near to the edge of the invariant, and stays inside.
"""

import argparse
from pathlib import Path

import numpy as np

import ccmatic as cm
from ccmatic.networks import traces

ON, PROVED, REFUTED = "ccac, buffer infinite, jitter 1 rtt", "queue <= 7 bdp", "queue <= 6.5 bdp"

#: The largest values of the axes in C·R_m, and the number of points per unit.
WIDE, HIGH, POINTS = 4, 9, 40

#: The name of the condition that the last delay is at least two steps.
LATE = "Q >= 2"


def inside(clauses, values):
    """Return for each point whether all clauses hold."""
    holds = np.ones_like(values["A"], bool)
    for clause in clauses:
        holds &= np.any([_literal(part, values) for part in clause], axis=0)
    return holds


def _literal(part, values):
    total = sum(float(number) * values[name] for name, number in part.terms.items())
    if part.relation in ("holds", "fails"):
        return (total > 0) == (part.relation == "holds")
    return total < float(part.bound) if part.relation == "<" else total <= float(part.bound)


def draw(figure, clauses, trace):
    """Draw the invariant, by the last delay, and the path of a trace."""
    K, A = np.meshgrid(np.linspace(0, WIDE, WIDE * POINTS + 1), np.linspace(0, HIGH, HIGH * POINTS + 1))
    columns = {name: np.array([float(each) for each in trace.columns[name]]) for name in ("A", "S", "K", "Q")}
    x, y = columns["K"] - columns["S"], columns["A"] - columns["S"]
    axes = figure.subplots(1, 2, sharey=True)
    for late, panel in enumerate(axes):
        others = {"A[-1]": A, "alpha": np.zeros_like(A), LATE: np.full_like(A, late)}
        within = inside(clauses, {"K": K, "A": A, **others})
        panel.contourf(K, A, within, [0.5, 1.5], colors=[traces.SENDER], alpha=0.25)
        panel.contour(K, A, within, [0.5], colors=[traces.SENDER], linewidths=1)
        panel.axhline(7, color=traces.LOSS, lw=1, ls="--")
        here = (columns["Q"] >= 2) == bool(late)
        panel.plot(x, y, color="#555555", lw=0.8)
        panel.plot(x[here], y[here], "o", color="#222222", ms=5)
        for number in np.flatnonzero(here):
            panel.annotate(str(number), (x[number], y[number]), (6, 2), textcoords="offset points", fontsize=8)
        panel.set(xlabel="K - S: granted, not served (C·$R_m$)", xlim=(0, WIDE), ylim=(0, HIGH))
        panel.set_title(f"last delay {'at least' if late else 'below'} 2 steps", fontsize=9)
    axes[0].set_ylabel("A - S: in flight (C·$R_m$)")
    axes[1].annotate("the claim: at most 7", (WIDE - 0.1, 7.1), ha="right", fontsize=8, color=traces.LOSS)


def main():
    """Prove the bound, refute the next one, and draw both."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--draw", type=Path, default=Path("invariant.svg"), metavar="FILE")
    arguments = parser.parse_args()
    proof = cm.prove_by_invariant("cc_qdel", ON, PROVED).proved.invariant
    refuted = cm.prove_by_invariant("cc_qdel", ON, REFUTED)
    names = {name for clause in proof.clauses for part in clause for name in part.terms}
    unknown = names - {"A", "K", "A[-1]", "alpha", LATE}
    if unknown:
        raise SystemExit(f"the invariant reads {', '.join(sorted(unknown))}; this drawing knows no values for them")
    with traces.figure(arguments.draw, (8.4, 4)) as figure:
        draw(figure, proof.clauses, refuted.trace)
    for clause in proof.clauses:
        print(" or ".join(f"{ {name: str(n) for name, n in p.terms.items()} } {p.relation} {p.bound}" for p in clause))


if __name__ == "__main__":
    main()
