"""Find the worst effect of a path's change on controllers, and measure such changes in simulated packets.

    python -m benchmarks.studies.changing [--solver | --packets] [--timeout SECONDS] [CONTROLLER …]

The solver's table has both sides of the edge of each quantity, for each change. "Timed out" means that the solver did
not decide the values between the two sides. The packets' table has exported controllers in the simulator: a path of 24
Mbit/s with R_m 40 ms and a buffer of 1 BDP, without jitter. The path changes after 250 R_m, at the instant of `--on '…
at 10 s'`, and a run lasts for 500 R_m. Cells have the utilisation of the last two thirds of the run, as `emulate`
measures it, and the recovery.
"""

import argparse
from fractions import Fraction

import numpy as np

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import Path, PathChange, Simulation, WindowFlow
from ccmatic.worlds.runtime.library import Library, StatefulSender

CONTROLLERS = ("aimd", "reno", "cubic", "copa", "vegas", "bbr_v1")
CHANGES = ("", "outage 1 rtt", "outage 1 rtt, queue lost", "change rtt x2", "change rate x1/2", "change rate x2")
EXPECTATIONS = (
    "utilisation >= 10%",
    "delay <= 4 rtt",
    "loss <= 1 bdp",
    "recovery <= 4 rtt to 25% over every 2 rtt",
)
NETWORK, START = "ideal, buffer 2 bdp", "converged"

#: The simulated and emulated path: packets per R_m, bytes per packet, the length of a run, the step of the change, and
#: the first step that counts for utilisation and losses.
BDP, PACKET, STEPS, AT, FROM = 80, 1500, 500, 250, 167
PACKETS = {
    "outage 10 rtt": PathChange(Fraction(AT), outage=Fraction(10)),
    "outage 10 rtt, queue lost": PathChange(Fraction(AT), outage=Fraction(10), loses=True),
    "change rtt x2": PathChange(Fraction(AT), rtt=Fraction(2)),
    "change rate x1/2": PathChange(Fraction(AT), rate=Fraction(1, 2)),
    "change rate x2": PathChange(Fraction(AT), rate=Fraction(2)),
}


def edge(controller, change, expectation, timeout):
    """Return the edge of a worst case in words."""
    network = ", ".join(filter(None, (NETWORK, change)))
    try:
        question = cm.ask(controller, network, expectation, start=START)
        found = cm.worst(question, solver=cm.SolverOptions(timeout=timeout))
    except InputError as error:
        return "-" if not change else error.message
    none, some = (None if x is None else float(x) for x in (found.none, found.some))
    late = "" if found.verdict == "found" else ", timed out"
    if none is None and some is None:
        return "timed out"
    if none is None:
        return f"beyond {some:g}{late}"
    return f"{none:g}" + ("" if some is None else f" / {some:g}") + late


def run(controller, change):
    """Return the utilisation of a run, its lost packets, and its recovery to 80 % over 10 R_m in R_m, or None."""
    path = Path("ideal", PACKET * BDP, 1, PACKET, 0, PACKET * BDP)
    simulation = Simulation(path, change=change)
    flow = WindowFlow(simulation, StatefulSender(Library(header.make(controller)), PACKET))
    for _ in range(STEPS):
        flow.step()
    samples = simulation.run().samples
    resume = change.at + change.outage
    t = np.arange(STEPS + 1)
    before, after = np.minimum(t, float(change.at)), np.maximum(0, t - float(resume))
    offered = BDP * (before + float(change.rate) * after)
    served, carried = samples["S"][10:] - samples["S"][:-10], offered[10:] - offered[:-10]
    low = [end - float(resume) for end in range(10, STEPS + 1) if served[end - 10] < 0.8 * carried[end - 10]]
    recovery = max([0.0, *low])
    used = (samples["S"][-1] - samples["S"][FROM]) / (offered[-1] - offered[FROM])
    return used, int(samples["L"][-1] - samples["L"][FROM]), None if recovery >= STEPS - resume else recovery


def solver_table(controllers, timeout):
    """Print a row for each controller and change."""
    print(f"| controller | change | {' | '.join(EXPECTATIONS)} |\n|{'---|' * (2 + len(EXPECTATIONS))}")
    for controller in controllers:
        for change in CHANGES:
            cells = [edge(controller, change, each, timeout) for each in EXPECTATIONS]
            print(f"| {controller} | {change or 'none'} | {' | '.join(cells)} |", flush=True)


def packets_table(controllers):
    """Print a row for each controller and change of the simulated path."""
    print(f"| controller | {' | '.join(PACKETS)} |\n|{'---|' * (1 + len(PACKETS))}")
    for controller in controllers:
        cells = []
        for change in PACKETS.values():
            utilisation, lost, recovery = run(controller, change)
            says = "none" if recovery is None else f"{recovery:g} R_m"
            cells.append(f"{utilisation:.1%}, {lost} lost, {says}")
        print(f"| {controller} | {' | '.join(cells)} |", flush=True)


def main():
    """Read the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("controllers", nargs="*", default=CONTROLLERS)
    parser.add_argument("--timeout", type=float, default=20)
    parser.add_argument("--solver", action="store_true")
    parser.add_argument("--packets", action="store_true")
    options = parser.parse_args()
    if options.packets or not options.solver:
        packets_table(options.controllers)
    if options.solver or not options.packets:
        solver_table(options.controllers, options.timeout)


if __name__ == "__main__":
    main()
