"""Does probing pay? Learn-to-Probe's figures (Tian et al., EuroSys 2026, sections 7.2 to 7.5) in the fluid simulator.

    python -m benchmarks.studies.probing FIGURE --folder FOLDER [--seeds N] [--regions NAME …]
                                        [--algorithm td3] [--beside]

FIGURE: 7 (reward by what is observed and rewarded), 8 (bandwidth, delay, loss, buffer), 9 (ranking on random links),
10 (fairness), 11 (friendliness to CUBIC), 14 (cost of an update), 15 (oscillation), 17 (satellite, 10 Gbit/s); or
`particles`: what their number changes in the reward; `drawing`: FOLDER/probing.svg of what was found of 7, 8 and 15.
Policies are trained where FOLDER has none, of so many seeds (3), by PPO, or in FOLDER/td3 by TD3, or in FOLDER/beside
with three flows on each link, with the fairness term and without; what was found is kept there, and what was cut off
goes on. Printed is the mean of the seeds and, in brackets, how far apart they are."""

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
from benchmarks.studies.custard import fair, jain, spread, told
from ccmatic import traces
from ccmatic.controllers import signal
from ccmatic.learning import Environment, LinkOptions, sender
from ccmatic.learning.envs import rollout
from ccmatic.learning.estimation import ParticleFilter, Signals
from ccmatic.learning.estimation.particles import begin as begin_particles

#: Table 3. Base delays are one way, as in section 7.3: R_m is twice as long. Mbit/s, ms.
REGIONS = {
    "small": {"rate": (10, 100), "rtt": (10, 60), "buffer_bdp": (0.8, 1), "loss": (0, 0.001)},
    "medium": {"rate": (10, 300), "rtt": (10, 120), "buffer_bdp": (0.8, 1.5), "loss": (0, 0.005)},
    "large": {"rate": (10, 600), "rtt": (10, 240), "buffer_bdp": (0.8, 2), "loss": (0, 0.01)},
}

#: Who is trained: what it observes, and its reward.
LEARNERS = {
    "ltp_particles": {"observe": "ltp", "reward": "ltp_particles"},
    "ltp_beliefs": {"observe": "ltp", "reward": "ltp_beliefs"},
    "ltp_no_probe": {"observe": "ltp", "reward": "ltp"},
    "aurora_inputs": {"observe": "aurora", "reward": "ltp"},
    "orca_inputs": {"observe": "orca", "reward": "ltp"},
}

#: The same with three flows on each link.
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

#: Those that are not learned; that the link is known is as good as can be.
OTHERS = ("bbr", "copa", "cubic", "vegas")

#: Section 7.3's link, and what varies on it.
LINK = {"rate": 100, "rtt": 30, "buffer_bdp": 1, "loss": 0}
SWEEPS = {
    "rate": (10, 50, 100, 200, 400, 600),
    "rtt": (30, 60, 120, 240),
    "loss": (0, 0.002, 0.005, 0.01),
    "buffer_bdp": (0.2, 0.6, 1, 1.4, 2.2),
}


def region(name):
    """Options of links of a region."""
    return {key: {"low": low, "high": high} for key, (low, high) in REGIONS[name].items()}


def policies(given, learner, where="large"):
    """A list of a learner's policies of all seeds."""
    environment = {**given.learners[learner], "act": "ltp", "history": 10, "steps": STEPS, **region(where)}
    agent = AGENTS[given.algorithm]
    links = agent["parallel"] // environment.get("flows", 1)
    sections = {"environment": environment, "agent": agent | {"parallel": links}}
    return list(trained.train(given.folder, f"{learner}_{where}", sections, range(1, given.seeds + 1)))


def played(given, who, asked, links):
    """The Episode of a learner's policies, or of a sender, and of how many seeds it is. Learners that observe the same
    are played together."""
    if who not in given.learners:
        return trained.played(who, asked, links), 1
    names = alike(given, who)
    part = slice(*(links * given.seeds * (names.index(who) + end) for end in (0, 1)))
    every, total = _together(given, names, asked, links), links * given.seeds * len(names)
    is_of_links = lambda column: np.ndim(column) > 0 and np.shape(column)[-1] == total  # noqa: E731
    return jax.tree.map(lambda column: column[..., part] if is_of_links(column) else column, every), given.seeds


def alike(given, who):
    """The learners that observe the same as one."""
    observed = given.learners[who]["observe"]
    return tuple(name for name, asked in given.learners.items() if asked["observe"] == observed)


@dataclass(frozen=True, kw_only=True)
class Repeated(LinkOptions):
    """So many times the same links, and the same luck on them."""

    times: int

    def draw(self, key, links):
        """As that of an LinkOptions."""
        drawn = super().draw(key, links // self.times)
        return jax.tree.map(lambda column: jnp.tile(column, self.times) if jnp.ndim(column) else column, drawn)


@cache
def _together(given, names, asked, links):
    return trained.episode(unprobing([each for name in names for each in policies(given, name)]), asked, links)


def unprobing(group):
    """Policies that are not rewarded for what they know: that changes nothing but what it costs to play them."""
    return [replace(each, file=structs.replace(each.file, reward="ltp")) for each in group]


class Given(argparse.Namespace):
    """What the command line says; who is trained, and who is played."""

    __hash__ = object.__hash__
    learners, everyone = LEARNERS, (*LEARNERS, *OTHERS)


def found(given, made, find):
    """What is found of each cell, kept in a file of the figure."""
    return cells.results(made, given.folder / f"figure_{given.figure}.json", find, lambda cell: "is found")


def regions(given):
    """Figure 7: the mean of R_perf on 100 links of the region of the training."""

    def find(cell):
        asked, where = LinkOptions(steps=STEPS, **region(cell["where"])), cell["where"]
        if cell["who"] == "oracle":
            episode, seeds = trained.played("oracle", asked, 100), 1
        else:
            episode, seeds = trained.episode(policies(given, cell["who"], where), asked, 100), given.seeds
        reward = np.asarray(episode.knowledge.measure("relative_power")).mean((0, 1))
        return {"reward": reward.reshape(seeds, -1).mean(1).tolist()}

    made = [{"where": where, "who": who} for where in given.regions for who in (*given.learners, "oracle")]
    for cell in found(given, made, find):
        print(f"{cell['where']:>8}  {cell['who']:<14}  {spread(cell['reward'], '.3f')}")


def sweeps(given):
    """Figure 8: of each value of one that varies, the share of the link that is used, and the mean RTT in R_m."""

    def find(cell):
        name, values = cell["varied"], SWEEPS[cell["varied"]]
        asked = LinkOptions(steps=400, **{**LINK, name: list(values)})
        episode, seeds = played(given, cell["who"], asked, 10 * len(values))
        links = episode.links
        per = {
            "rate": links.capacity[0] / links.slot / 125_000,
            "rtt": 1000 * links.slot,
            "loss": links.loss,
            "buffer_bdp": links.buffer / links.capacity[0],
        }[name]
        rows = [told(episode, seeds, np.isclose(per, value, rtol=0.02)) for value in values]
        rtt = [value if name == "rtt" else LINK["rtt"] for value in values]
        used, late = zip(*(((row[:, 0]), row[:, 2] / base) for row, base in zip(rows, rtt, strict=True)), strict=True)
        return {"used": np.array(used).tolist(), "late": np.array(late).tolist()}

    made = [{"varied": name, "who": who} for name in SWEEPS for who in given.everyone]
    for cell in found(given, made, find):
        values = zip(SWEEPS[cell["varied"]], cell["used"], cell["late"], strict=True)
        line = "  ".join(f"{value:g}: {spread(used, '.2f')} ×{np.mean(late):.2f}" for value, used, late in values)
        print(f"{cell['varied']:>10}  {cell['who']:<14}  {line}")


def league(given):
    """Figure 9: in what share of random links a sender's score is 90 % of the highest at least: Perf-Score of one flow
    on links of the large region, and of three on links of 60 ms; Jain's index of these."""

    def find(cell):
        shared = {"flows": 3, "rtt": 60} if cell["flows"] == 3 else {}
        times = given.seeds * len(alike(given, cell["who"])) if cell["who"] in given.learners else 1
        asked = Repeated(steps=200, times=times, **{**region("large"), **shared})
        episode, seeds = played(given, cell["who"], asked, cell["links"])
        now = jax.tree.map(lambda column: column[len(column) // 2 :].astype(np.float64), episode.knowledge.now)
        acked, lost = now.acked.sum(0), now.lost.sum(0)
        delay, loss = (now.acked * now.rtt).sum(0) / np.maximum(acked, 1), lost / np.maximum(acked + lost, 1)
        power = acked.sum(0) / delay.mean(0) * (1 - 40 * loss.mean(0))
        both = power, jain(acked)
        scores = [*zip(*(score.reshape(seeds, -1).tolist() for score in both), strict=True)]
        return {"scores": scores}

    made = [{"flows": n, "who": who, "links": given.links} for n in (1, 3) for who in given.everyone]
    kept = found(given, made, find)
    for flows, score, name in ((1, 0, "performance"), (3, 0, "performance"), (3, 1, "fairness")):
        here = [cell for cell in kept if cell["flows"] == flows]
        best = np.max([np.array(seed[score]) for cell in here for seed in cell["scores"]], axis=0)
        for cell in here:
            wins = [np.mean(np.array(seed[score]) >= 0.9 * best) for seed in cell["scores"]]
            print(f"{flows} flows  {name:<12}  {cell['who']:<14}  {spread(wins, '.2f')}")


def fairness(given):
    """Figure 10: three flows, each of which comes later: Jain's index while all send, and the shares of
    the link that are used and of bytes that are lost."""
    links = {"100 Mbit/s, 30 ms": {}, "50 Mbit/s, 60 ms": {"rate": 50, "rtt": 60}, "a loss of 0.5 %": {"loss": 0.005}}

    def find(cell):
        asked = LinkOptions(flows=3, steps=1500, starts=cell["starts"], **{**LINK, **links[cell["link"]]})
        episode, seeds = played(given, cell["who"], asked, 10)
        half = len(episode.reward) // 2
        acked = episode.knowledge.now.acked[half:].sum((0, 1), dtype=np.float64)
        used = acked / episode.links.capacity[half:].sum(0, dtype=np.float64)
        lost = episode.knowledge.now.lost[half:].sum((0, 1), dtype=np.float64)
        each = {"used": used, "lost": lost / (acked + lost)}
        kept = {name: share.reshape(seeds, -1).mean(1).tolist() for name, share in each.items()}
        return {"jain": fair(episode, seeds).tolist(), **kept}

    starts = {"low": 1, "high": 8}
    made = [{"link": name, "who": who, "starts": starts} for name in links for who in given.everyone]
    for cell in found(given, made, find):
        index, used, lost = spread(cell["jain"], ".3f"), spread(cell["used"], ".2f"), spread(cell["lost"], ".3f")
        print(f"{cell['link']:>18}  {cell['who']:<14}  Jain {index}  used {used}  lost {lost}")


def friendliness(given):
    """Figure 11: what one flow gets beside CUBICs, over what each of these gets."""

    def find(cell):
        mine = cell["who"] in given.learners
        names, seeds = (alike(given, cell["who"]), given.seeds) if mine else ((cell["who"],), 1)
        every = _beside_cubic(given, names, cell["cubics"], cell["rtt"])
        return {"ratio": every[names.index(cell["who"]) * seeds :][:seeds]}

    made = [{"cubics": 1, "rtt": rtt, "who": who} for rtt in (15, 30, 60, 120) for who in given.everyone]
    made += [{"cubics": 5, "rtt": 30, "who": who} for who in given.everyone]
    for cell in found(given, made, find):
        print(f"{cell['cubics']} CUBIC  R_m {cell['rtt']:>3} ms  {cell['who']:<14}  {spread(cell['ratio'], '.2f')}")


@cache
def _beside_cubic(given, names, cubics, rtt):
    """The ratios of learners that observe the same, or of one other, each on four links."""
    asked = LinkOptions(flows=1 + cubics, steps=4000, **{**LINK, "rtt": rtt})
    if names[0] in given.learners:
        group = [each for name in names for each in policies(given, name)]
        environment = Environment(asked, observe=group[0].file.observe, act="rate", reward="ltp")
        first, count = trained.saying_rates(group), len(group)
    else:
        environment, count = Environment(asked, act="rate"), 1
        first = sender(names[0], environment)
    episode = rollout(environment, trained.beside(first, sender("cubic", environment)), jax.random.key(1), 4 * count)
    acked = episode.knowledge.now.acked[1000:].sum(0, dtype=np.float64).reshape(1 + cubics, count, -1).sum(2)
    return (acked[0] / acked[1:].mean(0)).tolist()


def cost(given):
    """Figure 14: processor time of an update of so many particles, µs, the least of five."""
    rng = np.random.default_rng(1)
    told = [Signals(1 + 0.2 * rng.random(), 0.03 + 0.01 * rng.random(), 1 + rng.random(), 0.0) for _ in range(200)]
    for count in (100, 300, 1000, 3000, 10_000):
        seconds = []
        for seed in range(5):
            found, begin = ParticleFilter(0.03, seed, count), time.process_time()
            for each in told:
                found.update(each)
            seconds.append((time.process_time() - begin) / len(told))
        print(f"{count:>6} particles  {1e6 * min(seconds):8.1f} µs an update  {25 * count / 1000:6.1f} kB of state")


def particles(given):
    """What so many particles say of the same flows of `ltp_particles`, ten links a seed: the reward for narrow ones,
    how it correlates with that of another thousand, and how it deviates by luck."""
    links = LinkOptions(steps=STEPS, **region("large"))
    episode = trained.episode(unprobing(policies(given, "ltp_particles")), links, 10)
    rtt = episode.links.rtt * episode.links.slot

    @partial(jax.jit, static_argnums=0)
    def probe(count, seed):
        def step(them, known):
            them = them.learned(known)
            rewarded = known._replace(particles=them).value(signal.load("reward", "ltp_particles").term)
            return them, rewarded - known.measure("relative_power")

        return jax.lax.scan(step, begin_particles(jax.random.key(seed), rtt, count), episode.knowledge)[1]

    thousand = np.asarray(probe(1000, 1))
    for count in (100, 300, 1000):
        one, other = (np.asarray(probe(count, seed)) for seed in (2, 3))
        mean = one.reshape(STEPS, given.seeds, -1).mean((0, 2))
        alike = np.corrcoef(one.ravel(), thousand.ravel())[0, 1]
        print(f"{count:>6} particles  {spread(mean, '.3f')}  r {alike:.2f}  ±{np.std(one - other) / 2**0.5:.3f}")


def oscillation(given):
    """Figure 15: how much the window varies around its mean over 16 intervals, once settled, as a share of it."""

    def find(cell):
        asked = LinkOptions(flows=cell["flows"], steps=600, rate=120, rtt=80, buffer_bdp=1)
        episode, seeds = played(given, cell["who"], asked, 8)
        now = jax.tree.map(lambda column: column[300:].astype(np.float64), episode.knowledge.now)
        window = (now.sent / now.seconds * now.rtt).transpose(2, 1, 0)  # links, flows, intervals
        smooth = np.apply_along_axis(lambda one: np.convolve(one, np.full(16, 1 / 16), "same"), 2, window)
        part = slice(16, -16)
        varies = ((window - smooth)[..., part] ** 2).mean((1, 2)) ** 0.5 / window.mean((1, 2))
        rtt = now.rtt.std(0).mean(0) * 1000
        return {"window": varies.reshape(seeds, -1).mean(1).tolist(), "rtt": rtt.reshape(seeds, -1).mean(1).tolist()}

    for cell in found(given, [{"flows": flows, "who": who} for flows in (1, 3) for who in given.learners], find):
        print(f"{cell['flows']} flows  {cell['who']:<14}  window ±{spread(cell['window'], '.3f')}  "
              f"RTT ±{spread(cell['rtt'], '.2f')} ms")  # fmt: skip


#: Appendix C. The buffers are not stated.
CHALLENGES = {
    "satellite": {"rate": 42, "rtt": 800, "loss": 0.0074, "buffer_bdp": 1},
    "10 Gbit/s": {"rate": 10_000, "rtt": 30, "buffer_bdp": 1},
}


def challenges(given):
    """Figure 17: the share of the link, and the mean RTT in R_m."""

    def find(cell):
        episode, seeds = played(given, cell["who"], LinkOptions(steps=400, **CHALLENGES[cell["link"]]), 10)
        rows = told(episode, seeds)
        return {"used": rows[:, 0].tolist(), "late": (rows[:, 2] / CHALLENGES[cell["link"]]["rtt"]).tolist()}

    for cell in found(given, [{"link": name, "who": who} for name in CHALLENGES for who in given.everyone], find):
        print(f"{cell['link']:>10}  {cell['who']:<14}  {spread(cell['used'], '.2f')}  ×{spread(cell['late'], '.2f')}")


def drawing(given):
    """Draw what is known of figures 7, 8 and 15."""
    known = {name: json.loads((given.folder / f"figure_{name}.json").read_text()) for name in ("7", "8", "15")}
    who = [*LEARNERS, *OTHERS]
    colour = {each: f"C{number}" for number, each in enumerate(who)}
    with traces.figure(given.folder / "probing.svg", (11, 6)) as figure:
        first, *panels, last = figure.subplots(2, 3).flat
        wide = 1 / (len(LEARNERS) + 1)
        for panel, name, across, value in ((first, "7", "where", "reward"), (last, "15", "flows", "window")):
            cells_ = [cell for cell in known[name] if cell["who"] in LEARNERS]
            places = list(dict.fromkeys(cell[across] for cell in cells_))
            for cell in cells_:
                x = places.index(cell[across]) + wide * who.index(cell["who"])
                panel.plot([x] * len(cell[value]), cell[value], "o", color=colour[cell["who"]])
            panel.set_xticks([place + wide * 2 for place in range(len(places))], [str(place) for place in places])
        first.set_title("Figure 7: R_perf of each seed, by region")
        last.set_title("Figure 15: deviation of the window, by flows")
        names = {"rate": "Mbit/s", "rtt": "R_m, ms", "loss": "random loss", "buffer_bdp": "buffer, BDP"}
        for panel, (varied, name) in zip(panels, names.items(), strict=True):
            for cell in (cell for cell in known["8"] if cell["varied"] == varied):
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
    """Print a figure's numbers."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("figure", choices=FIGURES)
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--regions", nargs="+", choices=REGIONS, default=list(REGIONS))
    parser.add_argument("--links", type=int, default=1000, help="random links of the ranking")
    parser.add_argument("--algorithm", choices=AGENTS, default="ppo")
    parser.add_argument("--beside", action="store_true", help="of policies that are trained beside two others")
    given = parser.parse_args(namespace=Given())
    if given.beside:
        given.folder, given.learners, given.everyone = given.folder / "beside", BESIDE, tuple(BESIDE)
    if given.algorithm != "ppo":
        given.folder /= given.algorithm
    given.folder.mkdir(parents=True, exist_ok=True)
    FIGURES[given.figure](given)


if __name__ == "__main__":
    main()
