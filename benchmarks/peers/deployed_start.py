"""Compare fluids, simulated packets and real packets: the same policies from the deployed start, ten packets.

    python -m benchmarks.peers.deployed_start FILE [FILE …]      # as root

A FILE is a policy's file, or an ONNX file with the metadata of a policy. The link has 24 Mbit/s, an R_m of 20 ms and a
buffer of 2 BDP. A run takes 30 s, and the measurements omit the first 10 s. The emulator makes five runs: a value is
the median and, in brackets, the smallest and the largest value of the valid runs. The command attempts an invalid run
at most three times. It prints a row of the table in docs/reports/paths.md for each policy and world, and the
largest relative difference of the throughput.
"""

import argparse

import jax
import numpy as np

import ccmatic as cm
from benchmarks.lib import real_runs
from ccmatic.deployment import policies
from ccmatic.learning import LinkOptions, trained
from ccmatic.learning.envs.backends import Fluid, Packets

RATE, RTT, BUFFER, SECONDS, OMITTED = 24, 20, 2, 30, 10


def simulated(back_end, file):
    """Return the throughput in Mbit/s, the mean RTT in ms, and the lost packets of a simulated run."""
    policy = policies.load(file)
    count = SECONDS * 1000 // RTT
    environment, player = trained(policy, LinkOptions(rate=RATE, rtt=RTT, buffer_bdp=BUFFER, steps=count))
    made, act = back_end(environment), jax.jit(player.act)
    links, state, observation = made.reset(1)
    memory, rows = player.begin(links), []
    for _ in range(count):
        memory, action = act(memory, links, state, observation)
        state, observation, _ = made.step(links, state, action)
        now = state.knowledge.now
        rows.append([float(np.asarray(part).ravel()[0]) for part in (now.acked, now.rtt, now.lost)])
    acked, rtt, lost = np.array(rows[OMITTED * 1000 // RTT :]).T
    return acked.sum() * 8 / 1e6 / (SECONDS - OMITTED), np.average(rtt, weights=acked) * 1000, lost.sum() / 1500


def real(file):
    """Return the measurements of the valid runs over the emulator, each like `simulated`, and the note of `count`."""
    on = f"{RATE} mbit, rtt {RTT} ms, buffer {BUFFER} bdp"
    runs, note = real_runs.valid(lambda: cm.emulate([f"policy:{file}"], on=on, seconds=SECONDS, warmup=OMITTED))
    flows = [run.flows[0] for run in runs]
    return [(flow.mbit_per_second, flow.rtt_ms.mean, flow.lost) for flow in flows], note


def main():
    """Print the rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", metavar="FILE")
    for file in parser.parse_args().files:
        simulations = {"fluid": Fluid, "packets": Packets}
        rows = {name: ([simulated(back_end, file)], "") for name, back_end in simulations.items()}
        rows["emulator"] = real(file)
        for world, (runs, note) in rows.items():
            columns = zip(zip(*runs, strict=True), (".2f", ".1f", ".0f"), strict=False)
            cells = " | ".join(real_runs.spread(column, form) for column, form in columns)
            print(f"| {file} | {world} | {cells}{note} |", flush=True)
        rates = [rate for runs, _ in rows.values() for rate, *_ in runs]
        print(f"{file}: throughput differs by at most {max(rates) / min(rates) - 1:.2%}", flush=True)


if __name__ == "__main__":
    main()
