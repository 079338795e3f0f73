"""The proved bounds against the event simulator: random and adversarial runs, with changes of the link rate.

    python benchmarks/bounds.py [--runs N] PROOF.json …

Prints the windows looked at by the state that they begin in, the lemmas broken (there must be none), and how near the
windows came to each objective's constant.
"""

import argparse

from ccmatic import proving
from ccmatic.language import Stateful
from ccmatic.proving import Trial


def main():
    """Print the figures of each proof."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="+", metavar="PROOF.json")
    parser.add_argument("--runs", type=int, default=1000)
    arguments = parser.parse_args()
    for file in arguments.proofs:
        result = proving.load_result(file)
        if isinstance(result.controller, Stateful):
            print(f"{file}: of a controller that remembers, which is not simulated")
            continue
        trial = Trial(result)
        for seed in range(arguments.runs):
            trial.run(seed)
        broken = dict(trial.broken) or "none"
        print(f"{file}: {arguments.runs} runs, windows: {dict(trial.windows)}; lemmas broken: {broken}")
        for lemma, constant, value, closest in trial.closest_values():
            print(f"    {lemma}: {constant} is {float(value):g}; every window would allow {float(closest):g}")


if __name__ == "__main__":
    main()
