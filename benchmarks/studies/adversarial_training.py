"""Policies that learn on links that do harm, beside benign ones.

    python -m benchmarks.studies.adversarial_training TABLE FOLDER [--seeds N] [--of WHOSE]
                                                     [--kinds KIND …] [--ratios RATIO …]

TABLE: share   Custard's policies, trained with SHARE of links that follow counterexamples and without, played on
               counterexamples of another origin: of senders by a window, where those in training are of senders by
               beliefs.
       mixed   CCLab's adversarial training (its section VII): Custard's policy, or, --of orca or orca_cubic, that of
               cclab.py, goes on, on CCLab's links, with RATIOS of adversarial traces, counterexamples, or half of each;
               played on those it has not seen, on random traces (CCLab's baseline) and on links of one rate. There are
               two adversaries of the first policy: all learn from traces of one and are played on those of the other.

Policies and adversaries are trained of so many seeds (3) where FOLDER, which may be that of custard.py or cclab.py, has
none; what was cut off goes on, and FOLDER keeps what was found. Beside them is the oracle, which knows the link.
Printed are the share of the link, the mean queueing delay and the share lost: the mean of all links, with how far the
seeds are apart in brackets, and the worst link of any seed."""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.lib import cells
from benchmarks.lib.counterexamples import exported
from benchmarks.lib.trained import played, train
from benchmarks.studies import cclab, custard
from ccmatic.learning import LinkOptions, adversaries

#: Where counterexamples are from: proofs about senders by beliefs, of which one is enough for traces that are repeated;
#: and proofs about senders by a window, and the gallery.
BELIEFS, FEWER = "results/proofs/cc_*-traces/*.json", "results/proofs/cc_qdel_T11-traces/*.json"
WINDOWS = [*(f"proofs/{name}*-traces/*.json" for name in ("aimd", "copa", "window_kept")), "results/gallery/*.json"]

#: The share of counterexamples, and how many intervals of an episode are looked at: they and as many again.
SHARE, FIRST = 0.3, 20

#: Of CCLab's Table IX.
KINDS, RATIOS = ("adversarial", "counterexamples", "both"), (0.1, 0.2, 0.5, 0.8, 1.0)


class Whose(NamedTuple):
    """Whose policies go on: the sections of their training, and from which seed on there are some; what is different
    when they go on; and the agents of adversaries."""

    sections: dict
    seed: int
    more: dict
    attacking: dict


WHOSE = {
    "custard": Whose(
        {"environment": custard.ENVIRONMENT, "agent": custard.AGENT},
        1,
        {"parallel": 128, "episodes": 5, "deviation": 1.0, "learning_rate": 3e-4},
        {"layers": [32, 16], "gamma": 0.95, "parallel": 64, "episodes": 8, "rollout": 25},
    ),
    "orca": Whose(cclab.learner("orca"), 0, {"episodes": 20, "deviation": 0.125, "learning_rate": 1e-3}, cclab.AGENT),
    "orca_cubic": Whose(
        cclab.learner("orca_cubic"), 0, {"episodes": 10, "deviation": 0.125, "learning_rate": 1e-3}, cclab.AGENT
    ),
}

#: On which links they go on, theirs but for CCLab's R_m and buffer, as those of adversaries are; how many traces of
#: adversaries are kept, those with the least use.
SAME = {key: adversaries.LINKS[key] for key in ("rtt", "buffer")}
KEPT = 8

#: Links of an evaluation for each policy; of `share`, for each counterexample.
PLAYED = 64


def mix(ratio, *groups):
    """The links of a training: so many that follow files, each group of them as often; the others of one rate."""
    files = {file: ratio / len(groups) / len(group) for group in groups for file in group}
    return {"constant": 1 - ratio, **files}


def named(kind, files):
    """The names of links that follow files."""
    return [f"{kind}:{file}" for file in files]


def of_links(who, asked, n):
    """Of each of some policies, or of a sender by its name, played on n links as asked for: the mean share of the link,
    queueing delay in ms and share lost, and the worst link's."""
    episode = played(who, asked, n)
    now, links = episode.knowledge.now, episode.links
    acked, lost = (column[:, 0].astype(np.float64) for column in (now.acked, now.lost))
    heard, total = np.maximum(1, acked.sum(0) + lost.sum(0)), np.maximum(1, acked.sum(0))
    share = acked.sum(0) / links.capacity.sum(0, dtype=np.float64)
    delay = (acked * (now.rtt[:, 0] - links.rtt[0] * links.slot)).sum(0) / total * 1000
    share, delay, lost = (column.reshape(-1, n) for column in (share, delay, lost.sum(0) / heard))
    means, worst = [share.mean(1), delay.mean(1), lost.mean(1)], [share.min(1), delay.max(1), lost.max(1)]
    return np.transpose([*means, *worst]).tolist()


def line(name, found):
    """Print what was found of each seed's policy, as of `of_links`."""
    share, delay, lost, least, longest, most = np.transpose(found)
    columns = zip((100 * share, delay, 100 * lost), (".1f", ".1f", ".2f"), ("%", "ms", "%"), strict=True)
    means = "  ".join(f"{custard.spread(values, form)} {unit}" for values, form, unit in columns)
    print(f"{name:<34}  {means}  worst {100 * least.min():.1f} %  {longest.max():.1f} ms  {100 * most.max():.1f} %")


def share(given):
    """Whether counterexamples help on counterexamples."""
    seen = named("schedule", exported([BELIEFS], "schedule", 32, 32, given.policies / "seen"))
    unseen = named("schedule", exported(WINDOWS, "schedule", 32, 32, given.policies / "unseen"))
    print(f"{len(seen)} counterexamples to learn from, {len(unseen)} others")
    groups = {
        "without": custard.policies(given),
        f"with {SHARE:.0%}": custard.policies(given, "share", {"links": mix(SHARE, seen)}),
        "oracle": "oracle",
    }
    links = {
        "unseen": LinkOptions(links=mix(1, unseen), steps=FIRST),
        "seen": LinkOptions(links=mix(1, seen), steps=FIRST),
        "benign": LinkOptions(),
    }

    def find(cell):
        asked = links[cell["links"]]
        return {"found": of_links(groups[cell["policy"]], asked, PLAYED * len(asked.mix))}

    asked = [{"links": where, "policy": name, "seeds": given.seeds} for where, name in product(links, groups)]
    for cell in cells.results(asked, given.policies / "share.json", find, lambda cell: "played"):
        line(f"{cell['links']}, {cell['policy']}", cell["found"])


def mixed(given):
    """CCLab's Tables V and IX, with counterexamples."""
    seen = named("mahimahi", exported([FEWER], "mahimahi", 48, 20, given.policies / "seen"))
    unseen = named("mahimahi", exported(WINDOWS, "mahimahi", 48, 20, given.policies / "unseen"))
    print(f"{len(seen)} counterexamples to learn from, {len(unseen)} others")
    whose, harmful = WHOSE[given.of], {**adversaries.LINKS, **cclab.LINKS}
    seeds = range(whose.seed, whose.seed + given.seeds)
    policies = list(train(given.policies, given.of, whose.sections, seeds))
    against, others = (named("mahimahi", files) for files in adversarial(given))
    groups = {"as it was": policies, **continued(given, seeds, against, seen)}
    who = {" ".join(groups): [each for group in groups.values() for each in group], "oracle": "oracle"}
    links = {
        "adversarial": LinkOptions(**harmful, links=mix(1, others)),
        "counterexamples": LinkOptions(**harmful, links=mix(1, unseen)),
        "random": LinkOptions(**harmful, links="smooth"),
        "benign": LinkOptions(rate=whose.sections["environment"]["rate"], **SAME),
    }

    def find(cell):
        return {"found": of_links(who[cell["who"]], links[cell["links"]], PLAYED)}

    asked = [{"links": where, "who": every, "seeds": given.seeds} for where in links for every in who]
    for cell in cells.results(asked, given.policies / f"mixed_{given.of}.json", find, lambda cell: "played"):
        names = ["oracle"] if cell["who"] == "oracle" else [*groups]
        for name, values in zip(names, np.split(np.array(cell["found"]), len(names)), strict=True):
            line(f"{cell['links']}, {name}", values)


def adversarial(given):
    """Yields of two adversaries against the first policy the files of their traces: those of least use among those with
    CCLab's delay at least, and then of the longest delay."""
    folder, whose = given.policies, WHOSE[given.of]
    target = {"target": f"policy:{folder}/{given.of}_{whose.seed}.json"}
    sections = {"environment": cclab.LINKS, "adversary": target, "agent": whose.attacking}
    for each in train(folder, f"against_{given.of}", sections, (1, 2), adversaries.load):
        names = [f"against_{given.of}_{each.file.seed}_{place}" for place in range(KEPT)]
        files = [folder / f"{name}.mahimahi" for name in names]
        if not all(file.exists() for file in files):
            found = each.played()
            worst = np.lexsort((found.used, -np.minimum(found.delay, each.attack.threshold)))
            for name, link in zip(names, worst, strict=False):
                adversaries.written(folder, name, found.rates[:, link], each.attack.options)
        yield files


def continued(given, seeds, against, counterexamples):
    """The policies of all seeds that go on, by what of, and in which ratio."""
    kinds = {"adversarial": [against], "counterexamples": [counterexamples], "both": [against, counterexamples]}
    mixes = {f"{kind} {ratio}": mix(ratio, *kinds[kind]) for kind, ratio in product(given.kinds, given.ratios)}
    whose, found = WHOSE[given.of], {}
    environment, agent = {**whose.sections["environment"], **SAME}, {**whose.sections["agent"], **whose.more}
    for name, links in {"0": mix(0), **mixes}.items():
        found[name] = []
        for seed in seeds:
            more = {**agent, "initial": f"{given.policies}/{given.of}_{seed}.json"}
            sections = {"environment": {**environment, "links": links}, "agent": more}
            found[name] += train(given.policies, f"{given.of}_on_{name.replace(' ', '_')}", sections, [seed])
    return found


TABLES = {"share": share, "mixed": mixed}


def main():
    """Train what is missing, play it, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("policies", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--of", choices=WHOSE, default="custard", help="whose policies, in mixed")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="of traces, in mixed")
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS, help="of them, in mixed")
    given = parser.parse_args()
    TABLES[given.table](given)


if __name__ == "__main__":
    main()
