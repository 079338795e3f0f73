"""How long proofs take from scratch, beside their lemmas alone, asked once each with the constants that were found.

    python -m benchmarks.timings.proofs [--jobs N] [PROOF:HORIZON …]

Prints, for each proof of the controller of its name: CPU seconds of `prove`, without certificates; of its lemmas, in
the same process after it; their ratio, which the machine's speed and load leave as it is. Last the time for all.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from time import monotonic, process_time

import ccmatic as cm
from ccmatic.logic import isolated
from ccmatic.proving import Prover

PROOFS = ("cc_qdel:10", "cc_probe_slow:10", "cc_qdel:11")


@isolated
def measured(name, horizon):
    """CPU seconds of a proof, and of its lemmas."""
    begin = process_time()
    proved = cm.prove(name, name, horizon=horizon)
    found = process_time()
    prover = Prover(name, name, horizon)
    again = {lemma.name: prover.ask(lemma, proved.constants).verdict for lemma in prover.lemmas.values()}
    assert again == proved.lemmas
    return found - begin, process_time() - found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="*", default=PROOFS)
    parser.add_argument("--jobs", type=int, default=2)
    asked = parser.parse_args()
    begin = monotonic()
    names, horizons = zip(*(proof.split(":") for proof in asked.proofs), strict=True)
    with ProcessPoolExecutor(asked.jobs) as pool:
        for proof, (proving, lemmas) in zip(asked.proofs, pool.map(measured, names, map(int, horizons)), strict=True):
            print(f"{proof:<20} {proving:6.1f} s, its lemmas {lemmas:6.1f} s: {proving / lemmas:.2f} times", flush=True)
    print(f"all: {monotonic() - begin:.0f} s with {asked.jobs} processes")


if __name__ == "__main__":
    main()
