"""The proved bounds against the event simulator: random and adversarial runs, with changes of the link rate.

    python benchmarks/bounds.py [--runs N] [--from SEED] [--step 1/8] PROOF.json …

Prints the windows looked at by the state that they begin in, the lemmas broken (there must be none), and how near the
windows came to each objective's constant. In an envelope random and hostile policies choose the rates; each of its ends
is then moved by a step, and the lemma told that a window of the wider one breaks.
"""

import argparse
from fractions import Fraction

from ccmatic import proving
from ccmatic.language import Stateful
from ccmatic.proving import Prover, Trial
from ccmatic.verification import replay
from ccmatic.widening import Grid


def wider(result, step):
    """Each end of an envelope that may be moved by a step, as text, and the Answer on the first lemma that breaks then,
    or None."""
    prover = Prover(result.proof, result.controller, result.horizon)
    grid = Grid(result.controller, prover.query.units(), step, 1 + step)
    for number, end in enumerate(grid.ends):
        if len(end.factors) == 1:
            continue
        envelope = grid.envelope([int(i == number) for i in range(len(grid.ends))])
        prover = Prover(result.proof, envelope, result.horizon)
        lemmas = [lemma for lemma in prover.lemmas.values() if not lemma.paper]
        yield f"{end.which} in line {end.line}, times {end.factors[1]}", prover.first_fault(lemmas, result.values)


def main():
    """Print the figures of each proof."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="+", metavar="PROOF.json")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--step", type=Fraction, default=Fraction(1, 8))
    arguments = parser.parse_args()
    for file in arguments.proofs:
        result = proving.load_result(file)
        if isinstance(result.controller, Stateful):
            print(f"{file}: of a controller that remembers, which is not simulated")
            continue
        trial = Trial(result)
        for seed in range(arguments.first, arguments.first + arguments.runs):
            trial.run(seed)
        broken = dict(trial.broken) or "none"
        print(f"{file}: {arguments.runs} runs, windows: {dict(trial.windows)}; lemmas broken: {broken}", flush=True)
        for lemma, constant, value, closest in trial.closest_values():
            print(f"    {lemma}: {constant} is {float(value):g}; every window would allow {float(closest):g}")
        for end, answer in wider(result, arguments.step) if result.controller.is_envelope else ():
            told = f"{answer.lemma}, {replay(answer.trace).outcome.value}" if answer else "nothing"
            print(f"    {end}, breaks: {told}", flush=True)


if __name__ == "__main__":
    main()
