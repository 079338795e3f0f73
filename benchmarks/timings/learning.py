"""Compare the speed of the links for learning with PCC-RL's simulator, and compare fluids with packets.

    python -m benchmarks.timings.learning [--pcc FOLDER] [--steps STEPS] [--out FILE.json] [--figure FILE]

A step is a monitor interval of a flow. In a step, the link is simulated, the measurements become an observation, and a
policy chooses an action. The policy has two random layers, of 32 and 16 units. FOLDER is a clone of
https://github.com/PCCproject/PCC-RL. Its `network_sim.py` runs unchanged, with the same policy in NumPy. A stand-in
replaces the package `gym`, because `network_sim.py` only inherits from classes of this package. Each row is the median
of three runs that alternate with PCC-RL's runs. A row has steps per second of processor time, and steps per second by
the clock. Other processes influence the steps per second of processor time less.
"""

import argparse
import contextlib
import io
import json
import sys
import time
import types
from itertools import pairwise, product
from pathlib import Path
from statistics import median

import jax
import jax.numpy as jnp
import numpy as np

from ccmatic.learning import Environment, LinkEnv, LinkOptions
from ccmatic.networks import traces

#: The quantities that vary (one at a time), and the values of the others.
LINKS, FLOWS, HISTORIES, MIDDLE = (64, 512, 4096, 16384), (1, 2, 4, 8), (1, 10, 100), (4096, 1, 10)
VARIED = {"links": "links", "flows": "flows on 4,096 / flows links", "history": "vectors of an observation"}

#: The links on which fluids and packets are compared, and the sending rates as shares of the link's rate.
RATES, BUFFERS, JITTERS, SENT = (16, 64), (0.25, 2), (0, 8), (0.5, 0.9, 1.0, 1.2)
MBIT = 125_000


def weights(size):
    """Return the weights of a policy with this number of inputs."""
    rng, sizes = np.random.default_rng(0), [size, 32, 16, 1]
    return [rng.normal(0, 0.3, pair).astype(np.float32) for pair in pairwise(sizes)]


def answer(layers, x, tanh):
    """Return the policy's action."""
    for layer in layers[:-1]:
        x = tanh(x @ layer)
    return (x @ layers[-1])[..., 0]


def ours(links, flows, history, steps):
    """Return a compiled function that simulates this many steps of each flow."""
    options = LinkOptions(links="constant", rate={"low": 1.2, "high": 6}, rtt={"low": 100, "high": 1000}, flows=flows,
                  buffer_bdp=2, loss={"low": 0, "high": 0.05}, steps=steps)  # fmt: skip
    environment = Environment(options, observe="aurora", act="aurora", reward="aurora", history=history)
    layers = weights(environment.size)

    @jax.jit
    def play(key):
        links_, state = environment.reset(key, links)

        def interval(state, _):
            observation = environment.observation(state)
            state, _, reward = environment.step(links_, state, answer(layers, observation, jnp.tanh))
            return state, reward.mean()

        return jax.lax.scan(interval, state, None, steps)[1]

    def run():
        jax.block_until_ready(play(jax.random.key(0)))
        return links * flows * steps

    run()
    return run


def theirs(folder, steps):
    """Return a function that runs this many steps of PCC-RL's simulator."""
    gym = types.ModuleType("gym")
    gym.Env, gym.spaces = object, types.SimpleNamespace(Box=lambda low, high, dtype: (low, high))
    parts = {"gym": gym, "gym.utils": types.SimpleNamespace(seeding=None), "gym.envs": types.ModuleType("gym.envs")}
    parts["gym.envs.registration"] = types.SimpleNamespace(register=lambda **_: None)
    sys.modules.update(parts)
    sys.path.insert(0, str(Path(folder) / "src" / "gym"))
    with contextlib.redirect_stdout(io.StringIO()):
        import network_sim

        env = network_sim.SimulatedNetworkEnv()
        layers = weights(len(env.reset()))

    def run():
        with contextlib.redirect_stdout(io.StringIO()):
            observation = env.reset()
            for _ in range(steps):
                observation, _, over, _ = env.step([answer(layers, np.asarray(observation, np.float32), np.tanh)])
                if over:
                    observation = env.reset()
        return steps

    return run


def speed(run):
    """Return the steps per second of processor time, and the steps per second by the clock."""
    clock, processors = time.perf_counter(), time.process_time()
    steps = run()
    return steps / (time.process_time() - processors), steps / (time.perf_counter() - clock)


def speeds(folder, steps):
    """Yield a row for each value of each varied quantity."""
    other = theirs(folder, 400) if folder else None
    for place, (name, values) in enumerate(zip(VARIED, (LINKS, FLOWS, HISTORIES), strict=True)):
        for value in values:
            links, flows, history = (value if at == place else middle for at, middle in enumerate(MIDDLE))
            run = ours(links // flows, flows, history, steps)
            turns = [(speed(run), speed(other) if other else None) for _ in range(3)]
            row = {"varied": name, "links": links // flows, "flows": flows, "history": history}
            row |= _medians("", [mine for mine, _ in turns])
            if other:
                row |= _medians("pcc_rl_", [pcc for _, pcc in turns])
                row["times"] = row["per_cpu_second"] / row["pcc_rl_per_cpu_second"]
            yield row


def _medians(prefix, turns):
    names = (f"{prefix}per_cpu_second", f"{prefix}per_second")
    return {name: median(values) for name, values in zip(names, zip(*turns, strict=True), strict=True)}


def draw(rows, file):
    """Draw the cost of a step, in ns of processor time, against each varied quantity."""
    with traces.figure(file, (9, 3)) as figure:
        for (name, label), panel in zip(VARIED.items(), figure.subplots(1, 3, sharey=True), strict=True):
            points = [(row[name], 1e9 / row["per_cpu_second"]) for row in rows if row["varied"] == name]
            panel.plot(*zip(*points, strict=True), "o-")
            panel.set_xscale("log")
            panel.set_xticks([value for value, _ in points], [f"{value:,}" for value, _ in points])
            panel.minorticks_off()
            panel.set_ylim(0, 1.1e9 / min(row["per_cpu_second"] for row in rows))
            panel.set_xlabel(label)
        figure.supylabel("processor time per step (ns)")


def apart():
    """Yield comparisons of fluids and packets on the same links at the same sending rates.

    A comparison has the utilisation, the mean and the 95th percentile of the queueing delay in ms, and the loss. These
    values cover 200 intervals except the first 20.
    """
    for rate, buffer, jitter in product(RATES, BUFFERS, JITTERS):
        link = {"rate": rate, "rtt": 32, "buffer_bdp": buffer, "jitter": jitter}
        envs = {name: LinkEnv(backend=name, act="rate", steps=200, **link) for name in ("fluid", "packets")}
        for sent in SENT:
            yield {**link, "sent": sent, **{name: _measured(env, sent, rate) for name, env in envs.items()}}


def _measured(env, sent, rate):
    env.reset(seed=1)
    infos = [env.step([sent * rate * MBIT])[-1] for _ in range(200)][20:]
    throughput, rtt, loss = (np.array([info[name] for info in infos]) for name in infos[0])
    return [*map(float, (throughput.mean() / rate, np.mean(rtt - 32), np.percentile(rtt - 32, 95), loss.mean()))]


def main():
    """Print both tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pcc", metavar="FOLDER")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--out", type=Path, metavar="FILE.json")
    parser.add_argument("--figure", metavar="FILE", help="draw the cost of a step to this file")
    given = parser.parse_args()
    results = {"speeds": [], "apart": []}
    for row in speeds(given.pcc, given.steps):
        results["speeds"].append(row)
        beside = f"  {row['times']:8,.0f} times PCC-RL's {row['pcc_rl_per_cpu_second']:,.0f}" if given.pcc else ""
        print(
            f"{row['links']:6} links {row['flows']:2} flows  history {row['history']:3}  "
            f"{row['per_cpu_second'] / 1e6:7.2f} M steps/s of processors, {row['per_second'] / 1e6:6.2f} by the clock"
            f"{beside}",
            flush=True,
        )
    if given.figure:
        draw(results["speeds"], given.figure)
    for row in apart():
        results["apart"].append(row)
        columns = "   ".join(
            "{} {:.3f} {:6.2f} ms {:6.2f} ms {:.4f}".format(name, *row[name]) for name in ("fluid", "packets")
        )
        link = f"{row['rate']} Mbit/s, {row['buffer_bdp']} BDP, jitter {row['jitter']} ms, sent {row['sent']}"
        print(f"{link:42} {columns}", flush=True)
    if given.out:
        given.out.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
