"""What a sender can know of its path, three ways: what is possible (exact), what it believes, and what particles say.

    python -m benchmarks.studies.estimates [--folder FOLDER]

One flow on simulated links, for each model, jitter, sender and seed: coverage (the share of steps in which the truth is
within the range) and width of the own rate as a share of C, of the queue's delay, and of the wait of the last byte
served; how much narrower what is possible is than each belief; processor time per update.

FOLDER/estimates.json has the runs that are done, from which the same command goes on; estimates.svg is drawn at last.
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
from ccmatic import traces
from ccmatic.contracts import RunningMax
from ccmatic.learning.estimation import ANY, ParticleFilter, estimates, gap_of_one, signals
from ccmatic.learning.estimation.declared import declared
from ccmatic.simulation import Deployed, Simulation
from ccmatic.simulation import Path as Link

#: Packets that the link serves in a step of R_m = 30 ms, LTP's control interval, and that may wait.
BDP, RTT, BUFFER = 20, 0.03, 20

#: Steps of a run, on all of which each estimate looks back, and from which on means are taken.
STEPS, FROM = 24, 8

MODELS = ("cbr_delay", "ccac")
JITTERS = ("none", "mixed")
SENDERS = ("cc_qdel", "cc_probe_slow", "varied")
SEEDS = (1, 2, 3)

#: The filter as Eq. 5 has it, and Eq. 4; of one that knows that it is alone; and with Eq. 5 as printed.
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
    """Every run, by its keys; the beliefs that cc_probe_slow reads are cbr_delay's."""
    for model, jitter, sender, seed in product(MODELS, JITTERS, SENDERS, SEEDS):
        if (model, sender) != ("ccac", "cc_probe_slow"):
            yield {"model": model, "jitter": jitter, "sender": sender, "seed": seed}


def trace_of(model, jitter, sender, seed):
    """The Trace of a run that begins with an empty link."""
    path = Link(model, BDP, jitter=1, buffer=BUFFER)
    simulation = Simulation(path, seed, jitter=jitter, hiding="never" if jitter == "none" else "mixed")
    decide = varied(seed) if sender == "varied" else deployed(path, sender)
    for _ in range(STEPS + 1):
        simulation.step(decide(simulation.observation))
    return simulation.run().trace(1, STEPS)


def deployed(path, name):
    """A shipped controller; its lower bounds begin at a packet a step, its upper one at twice what there is."""
    start = {bound.name: 1 if isinstance(bound, RunningMax) else 2 * BDP for bound in path.model.bounds()}
    return Deployed(path.model, cm.load_controller(name), path, 9, start)


def varied(seed):
    """A sender that multiplies or divides its rate by up to 5/4 in each step, and at times doubles or halves it."""
    random, rate = np.random.default_rng(seed), [BDP / 2]

    def decide(_):
        factor = random.choice([0.5, 2.0]) if random.random() < 0.1 else 1.25 ** random.uniform(-1, 1)
        rate[0] = float(np.clip(rate[0] * factor, 2, 2 * BDP))
        return Fraction(round(rate[0]))

    return decide


def measure(run):
    """A run's keys, with `steps`: of each what is true, and the ranges (least, most) of own rate in C, of the queue's
    delay and of the last byte's wait in steps, possible and believed; `narrower`, by belief; and `seconds` per
    update."""
    trace = trace_of(**run)
    network = cm.Network(run["model"], "any", STEPS, 1, "executions")
    steps, spent, begin = {}, [], time.process_time()
    for each in estimates(trace, network):
        spent.append(time.process_time() - begin)
        steps[each.t] = step_of(trace, each)
        begin = time.process_time()
    declared(network.model, 1, trace)
    seconds = {"exact": float(np.median(spent)), "declared": (time.process_time() - begin) / STEPS}
    return run | {"steps": list(steps.values()), "seconds": seconds}


def with_particles(done):
    """A run that is done, with what particles say in its steps, and the seconds of an update."""
    trace = trace_of(*(done[name] for name in ("model", "jitter", "sender", "seed")))
    for name, options in FILTERS.items():
        updates = follow(name, ParticleFilter(RTT, done["seed"], **options), trace, done["steps"])
        done["seconds"][name] = float(np.median(list(updates)))
    return done


def step_of(trace, each):
    """What is true at a step, and what is possible and believed of it."""
    rate, possible, believed = float(trace.columns["r"][each.t]), each.possible, each.declared
    least = max(believed["C_L"], believed.get("C_Llambda", 0))
    step = {
        "true": {"own": rate, "delay": waiting(trace, each.t)},
        "exact": {"own": share(rate, possible.C.least, possible.C.most), "delay": pair(possible.delay)},
        "declared": {"own": share(rate, least, believed["C_U"])},
        "narrower": narrower(possible, believed),
    }
    if possible.waited != ANY:
        step["true"]["wait"] = waited(trace, each.t)
        step["exact"]["wait"] = pair(possible.waited)
        step["declared"]["wait"] = [float(believed["qdel_L"]), float(believed["qdel_U"] - 1)]
    return step


def share(rate, least, most):
    """The range of a rate as a share of C."""
    return [0.0 if most is None or most == inf else float(rate / most), float(rate / least)]


def pair(found):
    return [float(found.least), inf if found.most is None else float(found.most)]


def waiting(trace, t):
    """Bytes that wait at the bottleneck."""
    return max(0.0, float(trace.columns["A"][t] - trace.columns["L"][t] - trace.columns["K"][t]))


def waited(trace, t):
    """How many whole steps the last byte served had waited at the bottleneck."""
    served, tokens = trace.columns["S"], trace.columns["K"]
    last = next(s for s in range(t, 0, -1) if served[s] > served[s - 1])
    through = next(s for s in range(trace.horizon) if tokens[s] >= served[last])
    return max(0, through - int(last - trace.columns["Q"][last]))


def narrower(possible, believed):
    """By belief: the possible least of C over the bound, the bound over the possible most, and bytes of the queue that
    the bound allows and that are not possible, in C·R_m. inf: one says nothing; left out where neither does."""
    found = {"C_L": float(possible.C.least / believed["C_L"])}
    if possible.C.most is not None:
        found["C_U"] = float(believed["C_U"] / possible.C.most)
    if "q_U" in believed:
        found["C_Llambda"] = float(possible.C.least / believed["C_Llambda"])
        found["q_U"] = float(believed["q_U"] - possible.queue.most)
    return found


def follow(name, found, trace, steps):
    """Put what particles say into the steps 1, 2, …, under a name; yields the seconds of each update."""
    for t, each in enumerate(signals(trace, RTT), 1):
        begin = time.process_time()
        if each:
            found.update(each)
        yield time.process_time() - begin
        if found.state:
            ranges = found.ranges()
            exact, state = steps[t - 1]["exact"], found.state
            outside = 1 - np.mean(within(state.own, exact["own"]) & within(state.delay / RTT, exact["delay"]))
            steps[t - 1][name] = {
                "own": list(ranges["own"]),
                "delay": [end / RTT for end in ranges["delay"]],
                "impossible": float(outside),
            }


def within(value, ends):
    """Whether it is in a range, but for what a float cannot tell."""
    return (ends[0] - 1e-9 <= value) & (value <= ends[1] + 1e-9)


def covered(step, who, what):
    """Whether the truth is within a range; None where there is none."""
    if what not in step.get(who, ()) or what not in step["true"]:
        return None
    return within(step["true"][what], step[who][what])


def of_steps(found, who, what):
    """Coverage and mean width of a range from step FROM on, means of the seeds with their deviation; '-' for none."""
    each = []
    for _, mine in grouped(found, "seed"):
        steps = [step for run in mine for step in run["steps"][FROM - 1 :] if covered(step, who, what) is not None]
        if steps:
            inside, widths = zip(*((covered(step, who, what), np.ptp(step[who][what])) for step in steps), strict=True)
            each.append([np.mean(inside), np.mean(widths)])
    if not each:
        return "-"
    (coverage, width), (deviation, _) = np.mean(each, axis=0), np.std(each, axis=0)
    return f"{coverage:.0%} ± {deviation:.0%}, {width:.2f}"


def table(found):
    """A row for each model and jitter, and each that estimates; impossible: the share of particles that are where no
    execution can be."""
    yield "| model | jitter | by | own rate/C: covered, width | queue/C, steps | wait of the last byte | impossible |"
    yield "|---|---|---|---|---|---|---|"
    for keys, mine in grouped(found, "model", "jitter"):
        for who in COLOURS:
            cells = " | ".join(of_steps(mine, who, what) for what in ("own", "delay", "wait"))
            steps = [step[who] for run in mine for step in run["steps"][FROM - 1 :] if who in step]
            impossible = f"{np.mean([step['impossible'] for step in steps]):.0%}" if who in FILTERS else "-"
            yield f"| {' | '.join(keys)} | {who} | {cells} | {impossible} |"


def gains(found):
    """A row for each model, jitter and belief: how much narrower what is possible is."""
    yield "| model | jitter | belief | exact says more | median | mean | says nothing where exact does |"
    yield "|---|---|---|---|---|---|---|"
    for keys, mine in grouped(found, "model", "jitter"):
        steps = [step["narrower"] for run in mine for step in run["steps"][FROM - 1 :]]
        for name in ("C_L", "C_Llambda", "C_U", "q_U"):
            values = np.array([step[name] for step in steps if name in step])
            if len(values):
                same, times = (0, "") if name == "q_U" else (1, "×")
                finite = values[np.isfinite(values)]
                more, none = f"{np.mean(values > same + 1e-9):.0%}", f"{np.mean(np.isinf(values)):.0%}"
                middle, mean = f"{times}{np.median(finite):.2f}", f"{times}{np.mean(finite):.2f}"
                yield f"| {' | '.join(keys)} | {name} | {more} | {middle} | {mean} | {none} |"


def grouped(found, *names):
    """(keys, runs) of all runs whose keys of these names are the same."""
    for keys in dict.fromkeys(tuple(run[name] for name in names) for run in found):
        yield keys, [run for run in found if tuple(run[name] for name in names) == keys]


def draw(found, path):
    """Coverage and width of own rate/C over time, of each that estimates."""
    with traces.figure(path, (9, 6)) as figure:
        panels = figure.subplots(2, len(JITTERS), sharex=True, sharey="row")
        for column, jitter in zip(panels.T, JITTERS, strict=True):
            mine = [run for run in found if run["jitter"] == jitter]
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
    """Do the runs that are not done yet; print tables, and draw."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("estimates"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    known = cells.results(runs(), folder / "estimates.json", measure, lambda run: f"{run['seconds']['exact']:.2g} s")
    known = [with_particles(run) for run in known]
    print(*table(known), "", *gains(known), "", sep="\n")
    for who in COLOURS:
        print(f"{who}: {1e3 * np.median([run['seconds'][who] for run in known]):.3g} ms per update")
    draw(known, folder / "estimates.svg")


if __name__ == "__main__":
    main()
