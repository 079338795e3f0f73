"""Run the kernel's reno, cubic and bbr on an emulated network, and exported controllers on the simulated one.

    python -m benchmarks.studies.beside_the_kernel [NETWORK …] [--seconds SECONDS] [--simulated]

The path has 24 Mbit/s and R_m 40 ms. NETWORK is one of:

- `policer`: a bucket of 1 BDP;
- `marking`: a buffer of 2 BDP, and a threshold of 1/2 BDP;
- `aggregation`: a buffer of 1 BDP, and acknowledgements in batches of up to R_m;
- `outage`: a buffer of 1 BDP, and no service for 10 R_m in the middle of a run.

Each cell has the utilisation and the share of lost packets after the first third of a run, and on `marking` the share
of marked packets. The utilisation leaves out the time of the outage. A kernel's cell is five runs: the median and, in
brackets, the smallest and the largest value of the valid runs. The command attempts an invalid run at most three times.
The simulated controllers act once per R_m. On
`marking`, the simulated reno and cubic answer a mark as they answer a loss, because the kernel's do so with ECN (RFC
3168). With --simulated, the command runs no kernel. Other runs need root and a quiet machine.
"""

import argparse
import tempfile
from fractions import Fraction
from pathlib import Path as File

from benchmarks.lib import real_runs
from ccmatic.base import definitions
from ccmatic.deployment.emulation import kinds, pipeline
from ccmatic.deployment.emulation import run as emulation
from ccmatic.deployment.exporting import header
from ccmatic.networks.simulation import Path, PathChange, Simulation, WindowFlow
from ccmatic.worlds.runtime.library import Library, StatefulSender

BDP, PACKET, OUTAGE = 80, 1500, 10
NETWORKS = {
    "policer": "policer 24 mbit, rtt 40 ms, bucket 1 bdp",
    "marking": "marking 24 mbit, rtt 40 ms, buffer 2 bdp, threshold 1/2 bdp",
    "aggregation": "24 mbit, rtt 40 ms, buffer 1 bdp, aggregation 40 ms",
    "outage": "24 mbit, rtt 40 ms, buffer 1 bdp, outage 400 ms, at {middle} s",
}
#: The model and the jitter of the simulated path, where they are not those of `aggregation`.
MODELS = {"policer": ("policer", 1), "marking": ("marking", 1), "outage": ("ideal", 0)}
FLOWS = {"reno": "reno", "cubic": "cubic", "bbr": "bbr_v1"}


def emulated(network, flow, seconds):
    """Return the cell of a kernel's flow."""
    link = pipeline._link(on=NETWORKS[network].format(middle=f"{seconds / 2:g}"))
    runs, note = real_runs.valid(lambda: emulation.run_flows(link, [kinds.request(flow)], seconds))
    return (cell(network, [measured(network, link, run, seconds) for run in runs]) if runs else "") + note


def measured(network, link, run, seconds):
    """Return the utilisation of a run, and its shares of lost and of marked packets."""
    start = seconds / 3
    log = run.log[run.log["arrival"] >= start * 1e9]
    through = (run.log["admitted"] > start * 1e9) & (run.log["admitted"] <= run.duration)
    used = run.log["size"][through].sum() * 8 / capacity(network, link.rates[0][1], start, seconds)
    return used, log["lost"].mean(), (log["marked"] == 1).mean()


def capacity(network, rate, start, end):
    """Return the amount that the link can serve from `start` to `end`; `rate` is the amount per second."""
    return rate * (end - start - (OUTAGE * 0.04 if network == "outage" else 0))


def cell(network, runs):
    """Return the text of a cell from the utilisation and the shares of lost and of marked packets of each run."""
    used, lost, marked = ([100 * value for value in values] for values in zip(*runs, strict=True))
    text = f"{real_runs.spread(used, '.1f', ' %')}, {real_runs.spread(lost, '.2f', ' %')}"
    return text + (f", {real_runs.spread(marked, '.2f', ' %')}" if network == "marking" else "")


def answering_marks(name, folder):
    """Return a file with a controller that answers marks as it answers losses."""
    text = definitions.find_file(definitions.CONTROLLERS, name, ".py").read_text()
    begin, update, rest = text.partition("def update(")
    rest = rest.replace("acked,", "acked, marked,", 1)
    rest = rest.replace("lost > lost[step]", "(lost > lost[step] or marked > marked[step])")
    file = File(folder) / f"{name}_ecn.py"
    file.write_text(begin + update + rest)
    return str(file)


def batches(rng, bound, step):
    """Return the emulator's pattern: batches end after a random part of D."""
    last = 0

    def release_at(now):
        nonlocal last
        while last < now:
            last += 1 + rng.randrange(bound)
        return last

    return release_at


def simulated(network, flow, seconds):
    """Return the cell of an exported controller."""
    model, jitter = MODELS.get(network, ("cbr_delay", 1))
    room = 2 * BDP if network == "marking" else BDP
    threshold = {"threshold": PACKET * BDP // 2} if network == "marking" else {}
    path = Path(model, Fraction(PACKET * BDP), 1, PACKET, jitter, PACKET * room, **threshold)
    steps = int(seconds / 0.04)
    change = PathChange(Fraction(steps // 2), outage=Fraction(OUTAGE)) if network == "outage" else None
    with tempfile.TemporaryDirectory() as folder:
        controller = FLOWS[flow]
        if network == "marking" and flow != "bbr":
            controller = answering_marks(controller, folder)
        sender = StatefulSender(Library(header.make(controller)), PACKET)
    simulation = Simulation(path, 0, jitter=batches if network == "aggregation" else "none", change=change)
    playing = WindowFlow(simulation, sender)
    for _ in range(steps):
        playing.step()
    run, start = simulation.run(), steps // 3
    late = run.sent > start * path.step
    served = float(run.samples["S"][-1] - run.samples["S"][start]) * PACKET
    used = served / capacity(network, 25 * BDP * PACKET, start / 25, seconds)
    return cell(network, [(used, run.loss(start), run.marked[late].mean())])


def main():
    """Read the arguments and print the table of each network."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", choices=[[], *NETWORKS], default=[])
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--simulated", action="store_true")
    options = parser.parse_args()
    print("| network | flow | kernel, emulated | exported, simulated |\n|---|---|---|---|")
    for network in options.networks or NETWORKS:
        for flow in FLOWS:
            kernel = "" if options.simulated else emulated(network, flow, options.seconds)
            print(f"| {network} | {flow} | {kernel} | {simulated(network, flow, options.seconds)} |", flush=True)


if __name__ == "__main__":
    main()
