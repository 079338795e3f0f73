"""Measure whether probing pays off, by Learn-to-Probe's figures in the fluid simulator.

    python -m benchmarks.studies.probing FIGURE --folder FOLDER [--seeds N] [--regions NAME …]
                                        [--algorithm td3] [--beside]

The paper is Tian et al., EuroSys 2026, sections 7.2 to 7.5. FIGURE is 7 (reward by observations and reward formula), 8
(bandwidth, delay, loss, buffer), 9 (ranking on random links), 10 (fairness), 11 (friendliness to CUBIC), 14 (cost of an
update), 15 (oscillation), 17 (satellite, 10 Gbit/s), `particles` (the effect of the number of particles on the reward),
or `drawing`. The last draws the results for figures 7, 8 and 15 to FOLDER/probing.svg.

The command trains missing policies by PPO, by default for 3 seeds. With --algorithm td3, it trains by TD3, in
FOLDER/td3. With --beside, it trains with three flows on each link, with the fairness term and without it, in
FOLDER/beside. The folder keeps the results, and an interrupted command resumes. The command prints the mean of the
seeds and, in brackets, their spread.
"""

import argparse
import json
import time
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from msgspec import structs

from benchmarks.lib import cells, trained
from benchmarks.studies.custard import fair, jain, later_half, spread
from ccmatic.answers.estimation import ParticleFilter, Signals
from ccmatic.controllers import signal
from ccmatic.learning import Environment, LinkOptions, sender
from ccmatic.learning.envs import rollout
from ccmatic.learning.envs.particles import begin as begin_particles
from ccmatic.networks import traces

#: The values of Table 3, in Mbit/s and ms. Base delays are one-way delays, as in section 7.3, so R_m is twice as long.
REGIONS = {
    "small": {"rate": (10, 100), "rtt": (10, 60), "buffer_bdp": (0.8, 1), "loss": (0, 0.001)},
    "medium": {"rate": (10, 300), "rtt": (10, 120), "buffer_bdp": (0.8, 1.5), "loss": (0, 0.005)},
    "large": {"rate": (10, 600), "rtt": (10, 240), "buffer_bdp": (0.8, 2), "loss": (0, 0.01)},
}

#: The trained learners, with their observations and rewards.
LEARNERS = {
    "ltp_particles": {"observe": "ltp", "reward": "ltp_particles"},
    "ltp_beliefs": {"observe": "ltp", "reward": "ltp_beliefs"},
    "ltp_no_probe": {"observe": "ltp", "reward": "ltp"},
    "aurora_inputs": {"observe": "aurora", "reward": "ltp"},
    "orca_inputs": {"observe": "orca", "reward": "ltp"},
}

#: The same learners, trained with three flows on each link.
BESIDE = {
    "ltp_fair": {"observe": "ltp", "reward": "ltp_fair", "flows": 3},
    "ltp_no_term": {"observe": "ltp", "reward": "ltp", "flows": 3},
}

AGENT = {"layers": [32, 16], "gamma": 0.98, "episodes": 20, "learning_rate": 0.003}
AGENTS = {
    "ppo": {**AGENT, "parallel": 128, "deviation": 0.5},
    "td3": {**AGENT, "parallel": 64, "deviation": 0.3, "algorithm": "td3"},
}
STEPS = 101

#: The senders that are not trained. The oracle knows the link, and is the best possible sender.
OTHERS = ("bbr", "copa", "cubic", "vegas")

#: The link of section 7.3, and the values of the varied quantities.
LINK = {"rate": 100, "rtt": 30, "buffer_bdp": 1, "loss": 0, **trained.START}
SWEEPS = {
    "rate": (10, 50, 100, 200, 400, 600),
    "rtt": (30, 60, 120, 240),
    "loss": (0, 0.002, 0.005, 0.01),
    "buffer_bdp": (0.2, 0.6, 1, 1.4, 2.2),
}


def region(name):
    """Return the options of the links of a region."""
    return {key: {"low": low, "high": high} for key, (low, high) in REGIONS[name].items()} | trained.START


def policies(given, learner, where="large"):
    """Return a learner's policies of all seeds."""
    environment = {**given.learners[learner], "act": "ltp", "history": 10, "steps": STEPS, **region(where)}
    agent = AGENTS[given.algorithm]
    links = agent["parallel"] // environment.get("flows", 1)
    sections = {"environment": environment, "agent": agent | {"parallel": links}}
    return list(trained.train(given.folder, f"{learner}_{where}", sections, range(1, given.seeds + 1)))


def played(given, who, options, links):
    """Return the Episode of a learner's policies, or of a sender, and the number of seeds in it.

    Learners with the same observations are played together.
    """
    if who not in given.learners:
        return trained.played(who, options, links), 1
    names = alike(given, who)
    part = slice(*(links * given.seeds * (names.index(who) + end) for end in (0, 1)))
    every, total = _together(given, names, options, links), links * given.seeds * len(names)
    is_of_links = lambda column: np.ndim(column) > 0 and np.shape(column)[-1] == total  # noqa: E731
    return jax.tree.map(lambda column: column[..., part] if is_of_links(column) else column, every), given.seeds


def alike(given, who):
    """Return the names of all learners that have the same observations as the learner `who`."""
    observed = given.learners[who]["observe"]
    return tuple(name for name, learner in given.learners.items() if learner["observe"] == observed)


@dataclass(frozen=True, kw_only=True)
class RepeatedLinks(LinkOptions):
    """The same links several times, with the same random events each time.

    Attributes:
        times: The number of repetitions.
    """

    times: int

    def draw(self, key, links, ranges=None):
        """Draw links as LinkOptions does, and repeat them."""
        drawn = super().draw(key, links // self.times, ranges)
        return jax.tree.map(lambda column: jnp.tile(column, self.times) if jnp.ndim(column) else column, drawn)


@cache
def _together(given, names, options, links):
    return trained.episode(unprobing([policy for name in names for policy in policies(given, name)]), options, links)


def unprobing(group):
    """Return the Policies with a reward that reads no beliefs. This changes only the time of their episodes."""
    return [replace(policy, file=structs.replace(policy.file, reward="ltp")) for policy in group]


class Options(argparse.Namespace):
    """The options of the command line, the trained learners, and all learners and senders to play."""

    __hash__ = object.__hash__
    learners, everyone = LEARNERS, (*LEARNERS, *OTHERS)


def results(given, made, find):
    """Return the results of each cell, which are kept in the figure's file."""
    return cells.results(made, given.folder / f"figure_{given.figure}.json", find, lambda cell: "is found")


def regions(given):
    """Reproduce figure 7: the mean R_perf on 100 links of the region in which the learners were trained."""

    def find(cell):
        options, where = LinkOptions(steps=STEPS, **region(cell["where"])), cell["where"]
        if cell["who"] == "oracle":
            episode, seeds = trained.played("oracle", options, 100), 1
        else:
            episode, seeds = trained.episode(policies(given, cell["who"], where), options, 100), given.seeds
        reward = np.asarray(episode.knowledge.measure("relative_power")).mean((0, 1))
        return {"reward": reward.reshape(seeds, -1).mean(1).tolist()}

    made = [{"where": where, "who": who} for where in given.regions for who in (*given.learners, "oracle")]
    for cell in results(given, made, find):
        print(f"{cell['where']:>8}  {cell['who']:<14}  {spread(cell['reward'], '.3f')}")


def sweeps(given):
    """Reproduce figure 8: the used share of the link, and the mean RTT in R_m, for each value of a varied quantity."""

    def find(cell):
        name, values = cell["varied"], SWEEPS[cell["varied"]]
        options = LinkOptions(steps=400, **{**LINK, name: list(values)})
        episode, seeds = played(given, cell["who"], options, 10 * len(values))
        links = episode.links
        per = {
            "rate": links.capacity[0] / links.slot / 125_000,
            "rtt": 1000 * links.slot,
            "loss": links.loss,
            "buffer_bdp": links.buffer / links.capacity[0],
        }[name]
        rows = [later_half(episode, seeds, np.isclose(per, value, rtol=0.02)) for value in values]
        rtt = [value if name == "rtt" else LINK["rtt"] for value in values]
        used, late = zip(*(((row[:, 0]), row[:, 2] / base) for row, base in zip(rows, rtt, strict=True)), strict=True)
        return {"used": np.array(used).tolist(), "late": np.array(late).tolist()}

    made = [{"varied": name, "who": who} for name in SWEEPS for who in given.everyone]
    for cell in results(given, made, find):
        values = zip(SWEEPS[cell["varied"]], cell["used"], cell["late"], strict=True)
        line = "  ".join(f"{value:g}: {spread(used, '.2f')} ×{np.mean(late):.2f}" for value, used, late in values)
        print(f"{cell['varied']:>10}  {cell['who']:<14}  {line}")


def league(given):
    """Reproduce figure 9: the share of random links on which a sender scores at least 90 % of the highest score.

    There are three scores: the Perf-Score of one flow on links of the large region, the Perf-Score of three flows on
    links of 60 ms, and Jain's index of these three flows.
    """

    def find(cell):
        shared = {"flows": 3, "rtt": 60} if cell["flows"] == 3 else {}
        times = given.seeds * len(alike(given, cell["who"])) if cell["who"] in given.learners else 1
        options = RepeatedLinks(steps=200, times=times, **{**region("large"), **shared})
        episode, seeds = played(given, cell["who"], options, cell["links"])
        now = jax.tree.map(lambda column: column[len(column) // 2 :].astype(np.float64), episode.knowledge.now)
        acked, lost = now.acked.sum(0), now.lost.sum(0)
        delay, loss = (now.acked * now.rtt).sum(0) / np.maximum(acked, 1), lost / np.maximum(acked + lost, 1)
        power = acked.sum(0) / delay.mean(0) * (1 - 40 * loss.mean(0))
        both = power, jain(acked)
        scores = [*zip(*(score.reshape(seeds, -1).tolist() for score in both), strict=True)]
        return {"scores": scores}

    made = [{"flows": n, "who": who, "links": given.links} for n in (1, 3) for who in given.everyone]
    kept = results(given, made, find)
    for flows, score, name in ((1, 0, "performance"), (3, 0, "performance"), (3, 1, "fairness")):
        here = [cell for cell in kept if cell["flows"] == flows]
        best = np.max([np.array(seed[score]) for cell in here for seed in cell["scores"]], axis=0)
        for cell in here:
            wins = [np.mean(np.array(seed[score]) >= 0.9 * best) for seed in cell["scores"]]
            print(f"{flows} flows  {name:<12}  {cell['who']:<14}  {spread(wins, '.2f')}")


def fairness(given):
    """Reproduce figure 10: three flows that start one after another.

    The function prints Jain's index while all three flows send, the used share of the link, and the lost share of
    bytes.
    """
    links = {"100 Mbit/s, 30 ms": {}, "50 Mbit/s, 60 ms": {"rate": 50, "rtt": 60}, "a loss of 0.5 %": {"loss": 0.005}}

    def find(cell):
        options = LinkOptions(flows=3, steps=1500, starts=cell["starts"], **{**LINK, **links[cell["link"]]})
        episode, seeds = played(given, cell["who"], options, 10)
        half = len(episode.reward) // 2
        acked = episode.knowledge.now.acked[half:].sum((0, 1), dtype=np.float64)
        used = acked / episode.links.capacity[half:].sum(0, dtype=np.float64)
        lost = episode.knowledge.now.lost[half:].sum((0, 1), dtype=np.float64)
        by_name = {"used": used, "lost": lost / (acked + lost)}
        kept = {name: share.reshape(seeds, -1).mean(1).tolist() for name, share in by_name.items()}
        return {"jain": fair(episode, seeds).tolist(), **kept}

    starts = {"low": 1, "high": 8}
    made = [{"link": name, "who": who, "starts": starts} for name in links for who in given.everyone]
    for cell in results(given, made, find):
        index, used, lost = spread(cell["jain"], ".3f"), spread(cell["used"], ".2f"), spread(cell["lost"], ".3f")
        print(f"{cell['link']:>18}  {cell['who']:<14}  Jain {index}  used {used}  lost {lost}")


def friendliness(given):
    """Reproduce figure 11: the bytes of a flow beside CUBIC flows, divided by the mean bytes of a CUBIC flow."""

    def find(cell):
        mine = cell["who"] in given.learners
        names, seeds = (alike(given, cell["who"]), given.seeds) if mine else ((cell["who"],), 1)
        every = _beside_cubic(given, names, cell["cubics"], cell["rtt"])
        return {"ratio": every[names.index(cell["who"]) * seeds :][:seeds]}

    made = [{"cubics": 1, "rtt": rtt, "who": who} for rtt in (15, 30, 60, 120) for who in given.everyone]
    made += [{"cubics": 5, "rtt": 30, "who": who} for who in given.everyone]
    for cell in results(given, made, find):
        print(f"{cell['cubics']} CUBIC  R_m {cell['rtt']:>3} ms  {cell['who']:<14}  {spread(cell['ratio'], '.2f')}")


@cache
def _beside_cubic(given, names, cubics, rtt):
    """Return a ratio per policy, or one ratio for another sender. Each of them runs on four links."""
    options = LinkOptions(flows=1 + cubics, steps=4000, **{**LINK, "rtt": rtt})
    if names[0] in given.learners:
        group = [policy for name in names for policy in policies(given, name)]
        environment = Environment(options, observe=group[0].file.observe, act="rate", reward="ltp")
        first, count = trained.saying_rates(group), len(group)
    else:
        environment, count = Environment(options, act="rate"), 1
        first = sender(names[0], environment)
    episode = rollout(environment, trained.beside(first, sender("cubic", environment)), jax.random.key(1), 4 * count)
    acked = episode.knowledge.now.acked[1000:].sum(0, dtype=np.float64).reshape(1 + cubics, count, -1).sum(2)
    return (acked[0] / acked[1:].mean(0)).tolist()


def cost(given):
    """Reproduce figure 14: the processor time of an update for different numbers of particles.

    Each time is in µs, and is the smallest of five measurements.
    """
    rng = np.random.default_rng(1)
    observed = [Signals(1 + 0.2 * rng.random(), 0.03 + 0.01 * rng.random(), 1 + rng.random(), 0.0) for _ in range(200)]
    for count in (100, 300, 1000, 3000, 10_000):
        seconds = []
        for seed in range(5):
            tested, begin = ParticleFilter(0.03, seed, count), time.process_time()
            for signals in observed:
                tested.update(signals)
            seconds.append((time.process_time() - begin) / len(observed))
        print(f"{count:>6} particles  {1e6 * min(seconds):8.1f} µs an update  {25 * count / 1000:6.1f} kB of state")


def particles(given):
    """Compare different numbers of particles on the same flows of `ltp_particles`, ten links per seed.

    The function prints the reward for narrow particles, the correlation of this reward with the reward of another
    thousand particles, and its random deviation.
    """
    links = LinkOptions(steps=STEPS, **region("large"))
    episode = trained.episode(unprobing(policies(given, "ltp_particles")), links, 10)
    rtt = episode.links.rtt * episode.links.slot

    @partial(jax.jit, static_argnums=0)
    def probe(count, seed):
        def step(them, knowledge):
            them = them.learned(knowledge)
            rewarded = knowledge._replace(particles=them).value(signal.load("reward", "ltp_particles").term)
            return them, rewarded - knowledge.measure("relative_power")

        return jax.lax.scan(step, begin_particles(jax.random.key(seed), rtt, count), episode.knowledge)[1]

    thousand = np.asarray(probe(1000, 1))
    for count in (100, 300, 1000):
        one, other = (np.asarray(probe(count, seed)) for seed in (2, 3))
        mean = one.reshape(STEPS, given.seeds, -1).mean((0, 2))
        alike = np.corrcoef(one.ravel(), thousand.ravel())[0, 1]
        print(f"{count:>6} particles  {spread(mean, '.3f')}  r {alike:.2f}  ±{np.std(one - other) / 2**0.5:.3f}")


def oscillation(given):
    """Reproduce figure 15: the settled window's deviation from its mean over 16 intervals, divided by the mean."""

    def find(cell):
        options = LinkOptions(flows=cell["flows"], steps=600, rate=120, rtt=80, buffer_bdp=1, **trained.START)
        episode, seeds = played(given, cell["who"], options, 8)
        now = jax.tree.map(lambda column: column[300:].astype(np.float64), episode.knowledge.now)
        window = (now.sent / now.seconds * now.rtt).transpose(2, 1, 0)  # links, flows, intervals
        smooth = np.apply_along_axis(lambda one: np.convolve(one, np.full(16, 1 / 16), "same"), 2, window)
        part = slice(16, -16)
        varies = ((window - smooth)[..., part] ** 2).mean((1, 2)) ** 0.5 / window.mean((1, 2))
        rtt = now.rtt.std(0).mean(0) * 1000
        return {"window": varies.reshape(seeds, -1).mean(1).tolist(), "rtt": rtt.reshape(seeds, -1).mean(1).tolist()}

    for cell in results(given, [{"flows": flows, "who": who} for flows in (1, 3) for who in given.learners], find):
        print(f"{cell['flows']} flows  {cell['who']:<14}  window ±{spread(cell['window'], '.3f')}  "
              f"RTT ±{spread(cell['rtt'], '.2f')} ms")  # fmt: skip


#: The links of Appendix C. The appendix does not state their buffers.
CHALLENGES = {
    "satellite": {"rate": 42, "rtt": 800, "loss": 0.0074, "buffer_bdp": 1},
    "10 Gbit/s": {"rate": 10_000, "rtt": 30, "buffer_bdp": 1},
}


def challenges(given):
    """Reproduce figure 17: the used share of the link, and the mean RTT in R_m."""

    def find(cell):
        episode, seeds = played(
            given, cell["who"], LinkOptions(steps=400, **CHALLENGES[cell["link"]], **trained.START), 10
        )
        rows = later_half(episode, seeds)
        return {"used": rows[:, 0].tolist(), "late": (rows[:, 2] / CHALLENGES[cell["link"]]["rtt"]).tolist()}

    for cell in results(given, [{"link": name, "who": who} for name in CHALLENGES for who in given.everyone], find):
        print(f"{cell['link']:>10}  {cell['who']:<14}  {spread(cell['used'], '.2f')}  ×{spread(cell['late'], '.2f')}")


def drawing(given):
    """Draw the available results of figures 7, 8 and 15."""
    by_figure = {name: json.loads((given.folder / f"figure_{name}.json").read_text()) for name in ("7", "8", "15")}
    who = [*LEARNERS, *OTHERS]
    colour = {name: f"C{number}" for number, name in enumerate(who)}
    with traces.figure(given.folder / "probing.svg", (11, 6)) as figure:
        first, *panels, last = figure.subplots(2, 3).flat
        wide = 1 / (len(LEARNERS) + 1)
        for panel, name, across, value in ((first, "7", "where", "reward"), (last, "15", "flows", "window")):
            cells_ = [cell for cell in by_figure[name] if cell["who"] in LEARNERS]
            places = list(dict.fromkeys(cell[across] for cell in cells_))
            for cell in cells_:
                x = places.index(cell[across]) + wide * who.index(cell["who"])
                panel.plot([x] * len(cell[value]), cell[value], "o", color=colour[cell["who"]])
            panel.set_xticks([place + wide * 2 for place in range(len(places))], [str(place) for place in places])
        first.set_title("Figure 7: R_perf of each seed, by region")
        last.set_title("Figure 15: deviation of the window, by flows")
        names = {"rate": "Mbit/s", "rtt": "R_m, ms", "loss": "random loss", "buffer_bdp": "buffer, BDP"}
        for panel, (varied, name) in zip(panels, names.items(), strict=True):
            for cell in (cell for cell in by_figure["8"] if cell["varied"] == varied):
                used = np.array(cell["used"])
                panel.plot(SWEEPS[varied], used.mean(1), color=colour[cell["who"]], label=cell["who"])
                panel.fill_between(SWEEPS[varied], used.min(1), used.max(1), color=colour[cell["who"]], alpha=0.15)
            panel.set_title("Figure 8: share of the link")
            panel.set_xlabel(name)
            panel.set_ylim(0, 1.05)
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(who))


FIGURES = {"7": regions, "8": sweeps, "9": league, "10": fairness, "11": friendliness, "14": cost, "15": oscillation,
           "17": challenges, "particles": particles, "drawing": drawing}  # fmt: skip


def main():
    """Print the numbers of a figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--regions", nargs="+", choices=REGIONS, default=list(REGIONS))
    parser.add_argument("--links", type=int, default=1000, help="the number of random links in the ranking")
    parser.add_argument("--algorithm", choices=AGENTS, default="ppo")
    parser.add_argument("--beside", action="store_true", help="use policies that were trained beside two others")
    given = parser.parse_args(namespace=Options())
    if given.beside:
        given.folder, given.learners, given.everyone = given.folder / "beside", BESIDE, tuple(BESIDE)
    if given.algorithm != "ppo":
        given.folder /= given.algorithm
    given.folder.mkdir(parents=True, exist_ok=True)
    FIGURES[given.figure](given)


if __name__ == "__main__":
    main()
