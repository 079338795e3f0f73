"""Train policies on harmful links, and compare them with policies trained on benign links.

    python -m benchmarks.studies.adversarial_training TABLE FOLDER [--seeds N] [--of WHOSE]
                                                     [--kinds KIND …] [--ratios RATIO …]

TABLE is one of:

- `share`: Custard's policies, trained with and without counterexamples. In the training with counterexamples, a share
  SHARE of the links follows counterexamples of senders with beliefs. The command plays both sorts of policies on
  counterexamples of window-based senders.
- `mixed`: CCLab's adversarial training (section VII of the CCLab paper). Custard's policy continues its training on
  CCLab's links. With --of orca or --of orca_cubic, a policy of cclab.py continues instead. A ratio in RATIOS of the
  links follows adversarial traces, counterexamples, or both in equal parts. The command plays the policy on new traces
  and counterexamples, on random traces (CCLab's baseline), and on links of constant rate. The first policy has two
  adversaries. All policies train on the traces of one adversary and play on the traces of the other.

The command trains missing policies and adversaries, by default for 3 seeds. FOLDER may be the folder of custard.py or
cclab.py. FOLDER keeps the results, and an interrupted command resumes. For comparison, the command plays the oracle,
which knows the link. The command prints the used share of the link, the mean queueing delay and the lost share. For
each measure, it prints the mean over all links, the spread of the seeds in brackets, and the value on the worst link of
all seeds.
"""

import argparse
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks.lib import cells
from benchmarks.lib.counterexamples import exported
from benchmarks.lib.trained import START, played, train
from benchmarks.studies import cclab, custard
from ccmatic.learning import LinkOptions, adversaries

#: The sources of counterexamples. For senders with beliefs, the sources are proofs (one proof is enough, because traces
#: repeat). For window senders, the sources are proofs and the gallery.
BELIEFS, FEWER = "results/proofs/cc_*-traces/*.json", "results/proofs/cc_qdel_T11-traces/*.json"
WINDOWS = [
    *(f"results/proofs/{name}*-traces/*.json" for name in ("aimd", "copa", "window_kept")),
    "results/gallery/*.json",
]

#: The share of counterexamples, and the number of measured intervals of an episode.
SHARE, FIRST = 0.3, 20

#: The kinds and ratios of CCLab's Table IX.
KINDS, RATIOS = ("adversarial", "counterexamples", "both"), (0.1, 0.2, 0.5, 0.8, 1.0)


class ContinuedPolicies(NamedTuple):
    """The policies that continue their training.

    Attributes:
        sections: The sections of the query of their training.
        seed: The first seed with a policy.
        more: The changes of the section [agent] for the continued training.
        attacking: The section [agent] of the adversaries of these policies.
    """

    sections: dict
    seed: int
    more: dict
    attacking: dict


WHOSE = {
    "custard": ContinuedPolicies(
        {"environment": custard.ENVIRONMENT, "agent": custard.AGENT},
        1,
        {"parallel": 128, "episodes": 5, "deviation": 1.0, "learning_rate": 3e-4},
        {"layers": [32, 16], "gamma": 0.95, "parallel": 64, "episodes": 8, "rollout": 25},
    ),
    "orca": ContinuedPolicies(
        cclab.learner("orca"), 0, {"episodes": 20, "deviation": 0.125, "learning_rate": 1e-3}, cclab.AGENT
    ),
    "orca_cubic": ContinuedPolicies(
        cclab.learner("orca_cubic"), 0, {"episodes": 10, "deviation": 0.125, "learning_rate": 1e-3}, cclab.AGENT
    ),
}

#: The links of continued training have CCLab's R_m and buffer, like the links of adversaries. KEPT is the number of
#: adversarial traces to keep: those with the lowest use of the link.
SAME = {key: adversaries.LINKS[key] for key in ("rtt", "buffer")} | START
KEPT = 8

#: The number of links in an evaluation per policy; for `share`, the number per counterexample.
PLAYED = 64


def mix(ratio, *groups):
    """Return the links for a training.

    A share `ratio` of the links follows files, and each group of files is equally likely. The other links have a
    constant rate.
    """
    files = {file: ratio / len(groups) / len(group) for group in groups for file in group}
    return {"constant": 1 - ratio, **files}


def named(kind, files):
    """Return the names of links that follow files."""
    return [f"{kind}:{file}" for file in files]


def of_links(who, options, n):
    """Play policies, or a sender given by its name, on n links.

    Returns:
        For each policy, the mean used share of the link, the mean queueing delay in ms and the mean lost share. Then
        come the same three values for the worst link.
    """
    episode = played(who, options, n)
    now, links = episode.knowledge.now, episode.links
    acked, lost = (column[:, 0].astype(np.float64) for column in (now.acked, now.lost))
    heard, total = np.maximum(1, acked.sum(0) + lost.sum(0)), np.maximum(1, acked.sum(0))
    share = acked.sum(0) / links.capacity.sum(0, dtype=np.float64)
    delay = (acked * (now.rtt[:, 0] - links.rtt[0] * links.slot)).sum(0) / total * 1000
    share, delay, lost = (column.reshape(-1, n) for column in (share, delay, lost.sum(0) / heard))
    means, worst = [share.mean(1), delay.mean(1), lost.mean(1)], [share.min(1), delay.max(1), lost.max(1)]
    return np.transpose([*means, *worst]).tolist()


def line(name, results):
    """Print the results of each seed's policy, in the form that `of_links` returns."""
    share, delay, lost, least, longest, most = np.transpose(results)
    columns = zip((100 * share, delay, 100 * lost), (".1f", ".1f", ".2f"), ("%", "ms", "%"), strict=True)
    means = "  ".join(f"{custard.spread(values, form)} {unit}" for values, form, unit in columns)
    print(f"{name:<34}  {means}  worst {100 * least.min():.1f} %  {longest.max():.1f} ms  {100 * most.max():.1f} %")


def share(given):
    """Measure whether counterexamples in training help against other counterexamples."""
    learned_from = named("schedule", exported([BELIEFS], "schedule", 32, 32, given.policies / "seen"))
    unseen = named("schedule", exported(WINDOWS, "schedule", 32, 32, given.policies / "unseen"))
    print(f"{len(learned_from)} counterexamples to learn from, {len(unseen)} others")
    groups = {
        "without": custard.policies(given),
        f"with {SHARE:.0%}": custard.policies(given, "share", {"links": mix(SHARE, learned_from)}),
        "oracle": "oracle",
    }
    links = {
        "unseen": LinkOptions(links=mix(1, unseen), steps=FIRST, **START),
        "seen": LinkOptions(links=mix(1, learned_from), steps=FIRST, **START),
        "benign": LinkOptions(**START),
    }

    def find(cell):
        options = links[cell["links"]]
        return {"found": of_links(groups[cell["policy"]], options, PLAYED * len(options.mix))}

    requests = [{"links": where, "policy": name, "seeds": given.seeds} for where, name in product(links, groups)]
    for cell in cells.results(requests, given.policies / "share.json", find, lambda cell: "played"):
        line(f"{cell['links']}, {cell['policy']}", cell["found"])


def mixed(given):
    """Compute CCLab's Tables V and IX, extended by counterexamples."""
    learned_from = named("mahimahi", exported([FEWER], "mahimahi", 48, 20, given.policies / "seen"))
    unseen = named("mahimahi", exported(WINDOWS, "mahimahi", 48, 20, given.policies / "unseen"))
    print(f"{len(learned_from)} counterexamples to learn from, {len(unseen)} others")
    whose, harmful = WHOSE[given.of], {**adversaries.LINKS, **cclab.LINKS}
    seeds = range(whose.seed, whose.seed + given.seeds)
    policies = list(train(given.policies, given.of, whose.sections, seeds))
    against, others = (named("mahimahi", files) for files in adversarial(given))
    groups = {"as it was": policies, **continued(given, seeds, against, learned_from)}
    who = {" ".join(groups): [policy for group in groups.values() for policy in group], "oracle": "oracle"}
    links = {
        "adversarial": LinkOptions(**harmful, links=mix(1, others)),
        "counterexamples": LinkOptions(**harmful, links=mix(1, unseen)),
        "random": LinkOptions(**harmful, links="smooth"),
        "benign": LinkOptions(rate=whose.sections["environment"]["rate"], **SAME),
    }

    def find(cell):
        return {"found": of_links(who[cell["who"]], links[cell["links"]], PLAYED)}

    requests = [{"links": where, "who": every, "seeds": given.seeds} for where in links for every in who]
    for cell in cells.results(requests, given.policies / f"mixed_{given.of}.json", find, lambda cell: "played"):
        names = ["oracle"] if cell["who"] == "oracle" else [*groups]
        for name, values in zip(names, np.split(np.array(cell["found"]), len(names)), strict=True):
            line(f"{cell['links']}, {name}", values)


def adversarial(given):
    """Yield the files of the traces of two adversaries against the first policy.

    The traces with the lowest use of the link and at least CCLab's delay come first. Then come the traces with the
    longest delay.
    """
    folder, whose = given.policies, WHOSE[given.of]
    target = {"target": f"policy:{folder}/{given.of}_{whose.seed}.json"}
    sections = {"environment": cclab.LINKS, "adversary": target, "agent": whose.attacking}
    for adversary in train(folder, f"against_{given.of}", sections, (1, 2), adversaries.load):
        names = [f"against_{given.of}_{adversary.file.seed}_{place}" for place in range(KEPT)]
        files = [folder / f"{name}.mahimahi" for name in names]
        if not all(file.exists() for file in files):
            episodes = adversary.played()
            worst = np.lexsort((episodes.used, -np.minimum(episodes.delay, adversary.attack.threshold)))
            for name, link in zip(names, worst, strict=False):
                adversaries.written(folder, name, episodes.rates[:, link], adversary.attack.options)
        yield files


def continued(given, seeds, against, counterexamples):
    """Return the continued policies of all seeds, by the kind and ratio of their links."""
    kinds = {"adversarial": [against], "counterexamples": [counterexamples], "both": [against, counterexamples]}
    mixes = {f"{kind} {ratio}": mix(ratio, *kinds[kind]) for kind, ratio in product(given.kinds, given.ratios)}
    whose, groups = WHOSE[given.of], {}
    environment, agent = {**whose.sections["environment"], **SAME}, {**whose.sections["agent"], **whose.more}
    for name, links in {"0": mix(0), **mixes}.items():
        groups[name] = []
        for seed in seeds:
            more = {**agent, "initial": f"{given.policies}/{given.of}_{seed}.json"}
            sections = {"environment": {**environment, "links": links}, "agent": more}
            groups[name] += train(given.policies, f"{given.of}_on_{name.replace(' ', '_')}", sections, [seed])
    return groups


TABLES = {"share": share, "mixed": mixed}


def main():
    """Train the missing policies, play all policies, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", choices=TABLES)
    parser.add_argument("policies", type=Path, metavar="FOLDER")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--of", choices=WHOSE, default="custard", help="the owner of the policies in mixed")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, help="the kinds of traces in mixed")
    parser.add_argument("--ratios", nargs="+", type=float, default=RATIOS, help="the ratios of traces in mixed")
    given = parser.parse_args()
    TABLES[given.table](given)


if __name__ == "__main__":
    main()
