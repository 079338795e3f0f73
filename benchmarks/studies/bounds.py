"""Compare proved bounds with random and adversarial runs of the event simulator, in which the link rate changes.

    python -m benchmarks.studies.bounds [--runs N] [--from SEED] [--step 1/8] [--outside N] PROOF.json …

The command prints the number of checked windows, by the state in which they begin. The command prints the broken lemmas
(no lemma may break), and the nearest approach of the windows to each objective's constant. If the proof has an
envelope, random and hostile policies choose the rates in the envelope. The command then moves each end of the envelope
outwards, step by step. The command prints the lemma that breaks after one step, and the first envelope in which at
least one of N simulated runs breaks a lemma.
"""

import argparse
from dataclasses import replace
from fractions import Fraction

from benchmarks.trials import Trial
from ccmatic import proving
from ccmatic.answers.verification import replay
from ccmatic.controllers import Stateful
from ccmatic.proving.prover import Prover
from ccmatic.synthesis.widening import Grid


def wider(result, step, runs):
    """Yield three values for each end of an envelope that can move: the end as text, an Answer and another text.

    The Answer is about the first lemma that breaks if the end moves by one step; it is None if no lemma breaks. The
    other text is about the first lemma that a simulated run breaks if the end moves far enough.
    """
    prover = Prover(result.proof, result.controller, result.horizon)
    grid = Grid(result.controller, prover.query.units(), step, 2)
    for number, end in enumerate(grid.ends):
        envelopes = [
            (factor, grid.envelope([moved if i == number else 0 for i in range(len(grid.ends))]))
            for moved, factor in enumerate(end.factors)
        ]
        if len(envelopes) == 1:
            continue
        factor, envelope = envelopes[1]
        prover = Prover(result.proof, envelope, result.horizon)
        lemmas = [lemma for lemma in prover.lemmas.values() if not lemma.paper]
        answer = prover.first_fault(lemmas, result.values)
        yield f"{end.which} in line {end.line}, times {factor}", answer, simulated(result, envelopes[1:], runs)


def simulated(result, envelopes, runs):
    """Return, as text, the first envelope in which a simulated run breaks a lemma, and the broken lemmas.

    Args:
        result: The Result of the proof.
        envelopes: Pairs (factor, envelope).
        runs: The number of runs per envelope.
    """
    for factor, envelope in envelopes:
        trial = Trial(replace(result, controller=envelope))
        for seed in range(runs):
            trial.run(seed)
            if trial.broken:
                return f"times {factor}, run {seed}: {', '.join(trial.broken)}"
    return f"none up to times {factor}, in {runs} runs each"


def main():
    """Print the figures of each proof."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="+", metavar="PROOF.json")
    parser.add_argument("--runs", type=int, default=1000)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--step", type=Fraction, default=Fraction(1, 8))
    parser.add_argument("--outside", type=int, default=50)
    arguments = parser.parse_args()
    for file in arguments.proofs:
        result = proving.load_result(file)
        if isinstance(result.controller, Stateful):
            print(f"{file}: its controller has state, and is not simulated")
            continue
        trial = Trial(result)
        for seed in range(arguments.first, arguments.first + arguments.runs):
            trial.run(seed)
        broken = dict(trial.broken) or "none"
        print(f"{file}: {arguments.runs} runs, windows: {dict(trial.windows)}; lemmas broken: {broken}", flush=True)
        for lemma, constant, value, closest in trial.closest_values():
            print(f"    {lemma}: {constant} is {float(value):g}; every window would allow {float(closest):g}")
        given = (arguments.step, arguments.outside)
        for end, answer, run in wider(result, *given) if result.controller.is_envelope else ():
            outcome = f"{answer.lemma}, {replay(answer.trace).outcome.value}" if answer else "nothing"
            print(f"    {end}, breaks: {outcome}; of simulated runs: {run}", flush=True)


if __name__ == "__main__":
    main()
