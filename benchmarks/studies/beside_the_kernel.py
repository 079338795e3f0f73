"""Run the kernel's reno, cubic and bbr on an emulated network, and exported controllers on the simulated one.

    python -m benchmarks.studies.beside_the_kernel [NETWORK …] [--seconds SECONDS] [--simulated]

The path has 24 Mbit/s and R_m 40 ms. NETWORK is `marking` (a buffer of 2 BDP and a threshold of 1/2 BDP) or
`aggregation` (a buffer of 1 BDP, and acknowledgements in batches of up to R_m). Each cell has the utilisation and the
share of lost packets after the first third of a run, and on `marking` the share of marked packets. A kernel's cell is
one run; an invalid run is repeated up to twice, and a cell says if the last run is not valid. The simulated controllers
act once per R_m. On `marking`, the simulated reno and cubic answer a mark as they answer a loss, because the kernel's
do so with ECN (RFC 3168). With --simulated, the command runs no kernel. Other runs need root and a quiet machine.
"""

import argparse
import tempfile
from fractions import Fraction
from pathlib import Path as File

from ccmatic.base import definitions
from ccmatic.emulation import kinds, pipeline
from ccmatic.emulation import run as emulation
from ccmatic.exporting import header
from ccmatic.runtime.library import Library
from ccmatic.runtime.stateful_library import StatefulSender
from ccmatic.simulation import Path, Simulation, WindowFlow

BDP, PACKET = 80, 1500
NETWORKS = {
    "marking": "marking 24 mbit, rtt 40 ms, buffer 2 bdp, threshold 1/2 bdp",
    "aggregation": "24 mbit, rtt 40 ms, buffer 1 bdp, aggregation 40 ms",
}
FLOWS = {"reno": "reno", "cubic": "cubic", "bbr": "bbr_v1"}
ATTEMPTS = 3


def emulated(network, flow, seconds):
    """Return the cell of a kernel's flow."""
    link = pipeline._link(on=NETWORKS[network])
    for _ in range(ATTEMPTS):
        run = emulation.emulate(link, [kinds.request(flow)], seconds)
        if not run.faults:
            break
    start = seconds / 3
    log = run.log[run.log["arrival"] >= start * 1e9]
    through = (run.log["admitted"] > start * 1e9) & (run.log["admitted"] <= run.duration)
    used = run.log["size"][through].sum() * 8 / (link.rates[0][1] * (seconds - start))
    return cell(network, used, log["lost"].mean(), (log["marked"] == 1).mean()) + (" (not valid)" if run.faults else "")


def cell(network, used, lost, marked):
    """Return the text of a cell."""
    return f"{used:.1%}, {lost:.2%}" + (f", {marked:.2%}" if network == "marking" else "")


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
    model = "marking" if network == "marking" else "cbr_delay"
    room = 2 * BDP if network == "marking" else BDP
    threshold = {"threshold": PACKET * BDP // 2} if network == "marking" else {}
    path = Path(model, Fraction(PACKET * BDP), 1, PACKET, 1, PACKET * room, **threshold)
    with tempfile.TemporaryDirectory() as folder:
        controller = FLOWS[flow]
        if network == "marking" and flow != "bbr":
            controller = answering_marks(controller, folder)
        sender = StatefulSender(Library(header.make(controller)), PACKET)
    simulation = Simulation(path, 0, jitter="none" if network == "marking" else batches)
    playing, steps = WindowFlow(simulation, sender), int(seconds / 0.04)
    for _ in range(steps):
        playing.step()
    run, start = simulation.run(), steps // 3
    late = run.sent > start * path.step
    return cell(network, run.utilisation(start), run.loss(start), run.marked[late].mean())


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
