"""Mutants of clean controllers: how many `ccmatic judge search` flags, by which rule, and after how many runs.

    python -m benchmarks.studies.mutations FOLDER [--runs 160] [--seeds 1] [--jobs 2]

Each mutant replaces one text in a clean base (benchmarks/studies/mutants). A mutant counts as flagged if the search
sees a rule broken that the search of its base, with the same seed and number of runs, does not.
"""

import argparse
import json
import time
import tomllib
from pathlib import Path

from ccmatic.judging.search import Search
from ccmatic.judging.verdicts import Source

MUTANTS = Path(__file__).parent / "mutants"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=int, default=160)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    mutants = tomllib.loads((MUTANTS / "mutants.toml").read_text())["mutant"]
    for seed in range(given.seeds):
        clean = {}
        for base in sorted({mutant["base"] for mutant in mutants}):
            broken, _ = searched(given, seed, base, base, (MUTANTS / f"{base}.c").read_text())
            clean[base] = {*broken}
            print(json.dumps({"base": base, "seed": seed, "broken": broken}), flush=True)
        for mutant in mutants:
            text = (MUTANTS / f"{mutant['base']}.c").read_text()
            assert text.count(mutant["from"]) == 1, mutant["name"]
            changed = text.replace(mutant["from"], mutant["to"])
            begin = time.monotonic()
            broken, runs = searched(given, seed, mutant["name"], mutant["base"], changed)
            by = {rule: number for rule, number in broken.items() if rule not in clean[mutant["base"]]}
            line = {"mutant": mutant["name"], "seed": seed, "flagged": bool(by), "first_run_by_rule": by}
            print(json.dumps({**line, "runs": runs, "seconds": round(time.monotonic() - begin, 1)}), flush=True)


def searched(given, seed, name, base, text):
    """Search one controller; return the first run that breaks each broken rule, and the number of runs."""
    folder = given.folder / name
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{base}.c"
    file.write_text(text)
    search = Search(Source(str(file)), seed=seed, file=folder / f"runs-{seed}.jsonl")
    first = {}

    def told(now):
        for rule, line in now.lines.items():
            if line.is_broken:
                first.setdefault(rule, now.number)

    search.run(3600, given.jobs, given.runs, told)
    return first, search.number


if __name__ == "__main__":
    main()
