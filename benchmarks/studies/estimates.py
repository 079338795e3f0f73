"""Compare three estimates of a sender's path: exact ranges of possible values, beliefs, and particles.

    python -m benchmarks.studies.estimates [--folder FOLDER]

One flow runs on a simulated link, for each model, jitter, sender and seed. The command estimates the sender's rate as a
share of C, the queue's delay, and the wait of the last served byte. For each estimate, the command measures coverage
(the share of steps in which the true value is within the range) and width. The command also measures the gain of the
possible range over each belief, and the processor time per update.

FOLDER/estimates.json has the finished runs, and the same command resumes from them. At the end the command draws
estimates.svg.
"""

import argparse
import time
from fractions import Fraction
from itertools import product
from math import inf
from pathlib import Path

import numpy as np

import ccmatic as cm
from benchmarks.lib import cells
from ccmatic.answers.estimation import ANY, ParticleFilter, estimates, gap_of_one, signals
from ccmatic.answers.estimation.senders import declared
from ccmatic.contracts import RunningMax
from ccmatic.networks import traces
from ccmatic.networks.simulation import DeployedController, Simulation
from ccmatic.networks.simulation import Path as Link

#: The number of packets that the link serves in a step; R_m, which is Learn-to-Probe's control interval of 30 ms; and
#: the number of packets that may wait.
BDP, RTT, BUFFER = 20, 0.03, 20

#: The number of steps in a run (each estimate uses all earlier steps), and the first step that counts in means.
STEPS, FROM = 24, 8

MODELS = ("cbr_delay", "ccac")
JITTERS = ("none", "mixed")
SENDERS = ("cc_qdel", "cc_probe_slow", "varied")
SEEDS = (1, 2, 3)

#: The particle filter by Eq. 5; by Eq. 4; by Eq. 4 for a sender that knows that it is alone; and by Eq. 5 as printed.
FILTERS = {
    "particles": {},
    "particles, Eq. 4": {"bounds": True},
    "particles, Eq. 4, alone": {"bounds": True, "alone": 1},
    "particles, product": {"mismatch": gap_of_one},
}
COLOURS = {
    "exact": traces.NETWORK,
    "declared": traces.BELIEF,
    **dict(zip(FILTERS, (traces.PROBE, traces.SENDER, traces.LOSS, traces.QUIET), strict=True)),
}


def runs():
    """Yield the keys of every run.

    Runs of cc_probe_slow use only the model cbr_delay, because other models lack its beliefs.
    """
    for model, jitter, sender, seed in product(MODELS, JITTERS, SENDERS, SEEDS):
        if (model, sender) != ("ccac", "cc_probe_slow"):
            yield {"model": model, "jitter": jitter, "sender": sender, "seed": seed}


def trace_of(model, jitter, sender, seed):
    """Return the Trace of a run that begins with an empty link."""
    path = Link(model, BDP, jitter=1, buffer=BUFFER)
    simulation = Simulation(path, seed, jitter=jitter, hiding="never" if jitter == "none" else "mixed")
    decide = varied(seed) if sender == "varied" else deployed(path, sender)
    for _ in range(STEPS + 1):
        simulation.step(decide(simulation.observation))
    return simulation.run().trace(1, STEPS)


def deployed(path, name):
    """Return a shipped controller as a sender.

    The sender's lower bounds begin at one packet per step, and its upper bound begins at twice C.
    """
    start = {bound.name: 1 if isinstance(bound, RunningMax) else 2 * BDP for bound in path.model.bounds()}
    return DeployedController(path.model, cm.load_controller(name), path, 9, start)


def varied(seed):
    """Return a sender that scales its rate by up to 5/4 in each step, and sometimes doubles or halves its rate."""
    random, rate = np.random.default_rng(seed), [BDP / 2]

    def decide(_):
        factor = random.choice([0.5, 2.0]) if random.random() < 0.1 else 1.25 ** random.uniform(-1, 1)
        rate[0] = float(np.clip(rate[0] * factor, 2, 2 * BDP))
        return Fraction(round(rate[0]))

    return decide


def measure(run):
    """Measure a run.

    Returns:
        A dict. It has the run's keys. The entry `steps` has the truth, and the possible and the believed ranges (least,
        most), of the sender's rate in C, of the queue's delay, and of the last byte's wait in steps. The entry
        `narrower` has the gain over each belief, by name, and `seconds` is the time per update.
    """
    trace = trace_of(**run)
    network = cm.Network(run["model"], "any", STEPS, 1, "executions")
    steps, spent, begin = {}, [], time.process_time()
    for estimate in estimates(trace, network):
        spent.append(time.process_time() - begin)
        steps[estimate.t] = step_of(trace, estimate)
        begin = time.process_time()
    declared(network.model, 1, trace)
    seconds = {"exact": float(np.median(spent)), "declared": (time.process_time() - begin) / STEPS}
    return run | {"steps": list(steps.values()), "seconds": seconds}


def with_particles(done):
    """Add the particles' ranges and the seconds of an update to a finished run."""
    trace = trace_of(*(done[name] for name in ("model", "jitter", "sender", "seed")))
    for name, options in FILTERS.items():
        updates = follow(name, ParticleFilter(RTT, done["seed"], **options), trace, done["steps"])
        done["seconds"][name] = float(np.median(list(updates)))
    return done


def step_of(trace, estimate):
    """Return the truth of a step, and its possible and believed ranges."""
    rate, possible, believed = float(trace.columns["r"][estimate.t]), estimate.possible, estimate.declared
    least = max(believed["C_L"], believed.get("C_Llambda", 0))
    step = {
        "true": {"own": rate, "delay": waiting(trace, estimate.t)},
        "exact": {"own": share(rate, possible.C.least, possible.C.most), "delay": pair(possible.delay)},
        "declared": {"own": share(rate, least, believed["C_U"])},
        "narrower": narrower(possible, believed),
    }
    if possible.waited != ANY:
        step["true"]["wait"] = waited(trace, estimate.t)
        step["exact"]["wait"] = pair(possible.waited)
        step["declared"]["wait"] = [float(believed["qdel_L"]), float(believed["qdel_U"] - 1)]
    return step


def share(rate, least, most):
    """Return the range of a rate as a share of C."""
    return [0.0 if most is None or most == inf else float(rate / most), float(rate / least)]


def pair(bounds):
    """Return the ends of a Range as floats."""
    return [float(bounds.least), inf if bounds.most is None else float(bounds.most)]


def waiting(trace, t):
    """Return the number of bytes that wait at the bottleneck."""
    return max(0.0, float(trace.columns["A"][t] - trace.columns["L"][t] - trace.columns["K"][t]))


def waited(trace, t):
    """Return the waiting time of the last served byte at the bottleneck, in whole steps."""
    served, tokens = trace.columns["S"], trace.columns["K"]
    last = next(s for s in range(t, 0, -1) if served[s] > served[s - 1])
    through = next(s for s in range(trace.horizon) if tokens[s] >= served[last])
    return max(0, through - int(last - trace.columns["Q"][last]))


def narrower(possible, believed):
    """Return, by belief, the gain of the possible range over the belief: how much narrower the range is.

    For a lower bound on C, the value is the ratio of the least possible C to the bound. For an upper bound on C, the
    value is the ratio of the bound to the largest possible C. For the queue, the value is the bound minus the longest
    possible queue, in C·R_m. The value is infinite if only one of the two ranges is bounded. The dict omits a belief if
    neither range is bounded.
    """
    gains_by_belief = {"C_L": float(possible.C.least / believed["C_L"])}
    if possible.C.most is not None:
        gains_by_belief["C_U"] = float(believed["C_U"] / possible.C.most)
    if "q_U" in believed:
        gains_by_belief["C_Llambda"] = float(possible.C.least / believed["C_Llambda"])
        gains_by_belief["q_U"] = float(believed["q_U"] - possible.queue.most)
    return gains_by_belief


def follow(name, particles, trace, steps):
    """Add the particles' ranges to steps 1, 2, …, under the key `name`. Yield the seconds that each update took."""
    for t, observed in enumerate(signals(trace, RTT), 1):
        begin = time.process_time()
        if observed:
            particles.update(observed)
        yield time.process_time() - begin
        if particles.state:
            ranges = particles.ranges()
            exact, state = steps[t - 1]["exact"], particles.state
            outside = 1 - np.mean(within(state.own, exact["own"]) & within(state.delay / RTT, exact["delay"]))
            steps[t - 1][name] = {
                "own": list(ranges["own"]),
                "delay": [end / RTT for end in ranges["delay"]],
                "impossible": float(outside),
            }


def within(value, ends):
    """Return whether a value is within a range, except for rounding errors."""
    return (ends[0] - 1e-9 <= value) & (value <= ends[1] + 1e-9)


def covered(step, who, what):
    """Return whether the truth is within a range; None if there is no range."""
    if what not in step.get(who, ()) or what not in step["true"]:
        return None
    return within(step["true"][what], step[who][what])


def of_steps(results, who, what):
    """Return coverage and mean width of a range from step FROM on, or '-' without a range.

    Both values are means over the seeds. The coverage also has its standard deviation.
    """
    by_seed = []
    for _, mine in grouped(results, "seed"):
        steps = [step for run in mine for step in run["steps"][FROM - 1 :] if covered(step, who, what) is not None]
        if steps:
            inside, widths = zip(*((covered(step, who, what), np.ptp(step[who][what])) for step in steps), strict=True)
            by_seed.append([np.mean(inside), np.mean(widths)])
    if not by_seed:
        return "-"
    (coverage, width), (deviation, _) = np.mean(by_seed, axis=0), np.std(by_seed, axis=0)
    return f"{coverage:.0%} ± {deviation:.0%}, {width:.2f}"


def table(results):
    """Yield a row for each model, jitter and estimator.

    The entry `impossible` is the share of particles whose values occur in no execution.
    """
    yield "| model | jitter | by | own rate/C: covered, width | queue/C, steps | wait of the last byte | impossible |"
    yield "|---|---|---|---|---|---|---|"
    for keys, mine in grouped(results, "model", "jitter"):
        for who in COLOURS:
            cells = " | ".join(of_steps(mine, who, what) for what in ("own", "delay", "wait"))
            steps = [step[who] for run in mine for step in run["steps"][FROM - 1 :] if who in step]
            impossible = f"{np.mean([step['impossible'] for step in steps]):.0%}" if who in FILTERS else "-"
            yield f"| {' | '.join(keys)} | {who} | {cells} | {impossible} |"


def gains(results):
    """Yield a row for each model, jitter and belief. The row states the gain of the possible range over the belief."""
    yield "| model | jitter | belief | exact says more | median | mean | says nothing where exact does |"
    yield "|---|---|---|---|---|---|---|"
    for keys, mine in grouped(results, "model", "jitter"):
        steps = [step["narrower"] for run in mine for step in run["steps"][FROM - 1 :]]
        for name in ("C_L", "C_Llambda", "C_U", "q_U"):
            values = np.array([step[name] for step in steps if name in step])
            if len(values):
                same, times = (0, "") if name == "q_U" else (1, "×")
                finite = values[np.isfinite(values)]
                more, none = f"{np.mean(values > same + 1e-9):.0%}", f"{np.mean(np.isinf(values)):.0%}"
                middle, mean = f"{times}{np.median(finite):.2f}", f"{times}{np.mean(finite):.2f}"
                yield f"| {' | '.join(keys)} | {name} | {more} | {middle} | {mean} | {none} |"


def grouped(results, *names):
    """Yield (keys, runs) for all runs that share the values of these keys."""
    for keys in dict.fromkeys(tuple(run[name] for name in names) for run in results):
        yield keys, [run for run in results if tuple(run[name] for name in names) == keys]


def draw(results, path):
    """Draw, for each step, the share of runs in which an estimator's range is right, and the width of the range."""
    with traces.figure(path, (9, 6)) as figure:
        panels = figure.subplots(2, len(JITTERS), sharex=True, sharey="row")
        for column, jitter in zip(panels.T, JITTERS, strict=True):
            mine = [run for run in results if run["jitter"] == jitter]
            for who, colour in COLOURS.items():
                rows = [[run["steps"][t] for run in mine if who in run["steps"][t]] for t in range(STEPS - 1)]
                shares = [np.mean([covered(step, who, "own") for step in row]) if row else np.nan for row in rows]
                widths = [np.mean([np.ptp(step[who]["own"]) for step in row]) if row else np.nan for row in rows]
                for axes, values in zip(column, (shares, widths), strict=True):
                    axes.plot(range(1, STEPS), values, color=colour, label=who)
            column[0].set_title(f"jitter: {jitter}", loc="left")
            column[1].set(xlabel="step", ylim=(0, 2))
        panels[0, 0].set_ylabel("covered, share of runs")
        panels[1, 0].set_ylabel("width of own rate / C")
        figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3)


def main():
    """Do the missing runs, print the tables, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("estimates"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    results = cells.results(runs(), folder / "estimates.json", measure, lambda run: f"{run['seconds']['exact']:.2g} s")
    results = [with_particles(run) for run in results]
    print(*table(results), "", *gains(results), "", sep="\n")
    for who in COLOURS:
        print(f"{who}: {1e3 * np.median([run['seconds'][who] for run in results]):.3g} ms per update")
    draw(results, folder / "estimates.svg")


if __name__ == "__main__":
    main()
