"""Search for bugs that upstream fixed, in the version before the fix and in the version after it.

    python -m benchmarks.studies.regressions [--folder FOLDER] [--timeout SECONDS] [--sources SOURCES] [SUBJECT …]

regressions.toml has the pairs of versions. A pair with a `repository` is about a stack whose versions no registry has:
`before` and `after` are tags or commits of this public repository. The command never fetches them. The user places what
the adaptor takes as `--source` into SOURCES/STACK/VERSION, such as SOURCES/ngtcp2/v1.7.0. Without --sources, the
command leaves these pairs out. For each pair and each of five seeds, the command searches the version
before the fix by the pair's rule, for at most 300 runs, and stops once a run breaks the rule. Then the command searches
the version after the fix with the same seed for 300 runs, and replays the scenario of the version before on it. A seed
counts if the version before breaks the rule, and neither the search nor the replay of the version after does. A pair is
told apart if at least three of the five seeds count.

FOLDER/regressions.json has the results so far, and the same command resumes from them. Each pair needs the toolchain of
its stack.
"""

import tomllib
from pathlib import Path
from statistics import median

from benchmarks.lib import cells
from ccmatic import records
from ccmatic.judging.search import Search
from ccmatic.judging.verdicts import Source, outcome

PAIRS = Path(__file__).with_suffix(".toml")
SEEDS, RUNS = range(5), 300


def pairs(subjects):
    """Return the pairs of the given subjects, or all pairs."""
    every = tomllib.loads(PAIRS.read_text())["pair"]
    return [pair for pair in every if not subjects or pair["subject"] in subjects]


def first_broken(source, rule, seed, seconds):
    """Search until a run breaks the rule. Return the number of runs and the broken run of the search, or None."""
    search = Search(source, [rule], seed=seed)
    [line] = search.lines.values()
    while search.number < RUNS and not line.is_broken:
        before = search.number
        search.run(seconds, most=min(RUNS, before + 16))
        if search.number == before:
            raise SystemExit(f"{source}: no run ended within {seconds} s")
    return (search.number, line.best[0] if line.is_broken else None)


def source(pair, version, sources):
    """Return the code of a pair's version: a release, or the folder of this version in the folder of sources."""
    subject = pair["subject"]
    if "repository" not in pair:
        return Source(subject, version)
    folder = sources / subject.split(":")[0] / version
    if not folder.is_dir():
        raise SystemExit(f"{folder} is no folder; expected {version} of {pair['repository']}")
    return Source(subject, None, folder)


def find(pair, cell, seconds, sources):
    """Return the result of one pair and seed."""
    before, after = (source(pair, pair[version], sources) for version in ("before", "after"))
    runs, broken = first_broken(before, pair["rule"], cell["seed"], seconds)
    found = {"runs": runs, "value": broken and broken[3], "scenario": broken and records.line(broken[2])}
    if broken:
        replayed = outcome(after, broken[2], [pair["rule"]], [], True).margins.get(pair["rule"])
        found["replayed"] = replayed and replayed[1]
        found["replay_kept"] = replayed is None or replayed[0] >= 0
        _, other = first_broken(after, pair["rule"], cell["seed"], seconds)
        found["searched"] = other and other[3]
    return found


def is_told(cell):
    """Return whether a seed tells the versions of its pair apart."""
    return cell["value"] is not None and cell["replay_kept"] and cell["searched"] is None


def summary(cell):
    """Return the line of a seed."""
    if cell["value"] is None:
        return f"not found in {cell['runs']} runs"
    broken = cell["replayed"] if cell["searched"] is None else cell["searched"]
    after = "passes" if is_told(cell) else f"breaks the rule too: {broken:.4g}"
    return f"{cell['value']:.4g} after {cell['runs']} runs; the version after {after}"


def main():
    arguments = cells.arguments(__doc__, [], "results/tables", 600.0, "search", sources=True)
    chosen = [pair for pair in pairs(arguments.controllers) if arguments.sources or "repository" not in pair]
    keys = ("subject", "before", "after", "rule")
    file = arguments.folder / "regressions.json"
    for pair in chosen:
        wanted = [{key: pair[key] for key in keys} | {"seed": seed} for seed in SEEDS]
        of_pair = cells.results(
            wanted, file, lambda cell, pair=pair: find(pair, cell, arguments.timeout, arguments.sources), summary
        )
        told = [cell["runs"] for cell in of_pair if is_told(cell)]
        runs = f", median {median(told):g} runs" if told else ""
        verdict = "told apart" if len(told) > len(SEEDS) / 2 else "NOT told apart"
        print(f"{' '.join(pair[key] for key in keys)}: {verdict} by {len(told)} of {len(of_pair)} seeds{runs}")


if __name__ == "__main__":
    main()
