"""Compare the time of a whole proof with the time of only its lemmas at known constants.

    python -m benchmarks.timings.proofs [--jobs N] [PROOF:HORIZON …]

Each proof is about the controller with the same name. The command prints the CPU seconds of `prove`, without
certificates. Afterwards, the same process decides each lemma once, and the command prints these CPU seconds, too. The
command also prints the ratio of both times, which does not depend on the machine's speed and load. At the end, it
prints the total time.
"""

import argparse
from concurrent.futures import ProcessPoolExecutor
from time import monotonic, process_time

import ccmatic as cm
from ccmatic.logic import isolated
from ccmatic.proving.prover import Prover

PROOFS = ("cc_qdel:10", "cc_probe_slow:10", "cc_qdel:11")


@isolated
def measured(name, horizon):
    """Return the CPU seconds of a whole proof, and the CPU seconds of its lemmas."""
    begin = process_time()
    proved = cm.prove(name, name, horizon=horizon)
    middle = process_time()
    prover = Prover(name, name, horizon)
    again = {lemma.name: prover.ask(lemma, proved.constants).verdict for lemma in prover.lemmas.values()}
    assert again == proved.lemmas
    return middle - begin, process_time() - middle


def main():
    """Print a line for each proof."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("proofs", nargs="*", default=PROOFS)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    begin = monotonic()
    names, horizons = zip(*(proof.split(":") for proof in options.proofs), strict=True)
    with ProcessPoolExecutor(options.jobs) as pool:
        for proof, (proving, lemmas) in zip(options.proofs, pool.map(measured, names, map(int, horizons)), strict=True):
            print(f"{proof:<20} {proving:6.1f} s, its lemmas {lemmas:6.1f} s: {proving / lemmas:.2f} times", flush=True)
    print(f"all: {monotonic() - begin:.0f} s with {options.jobs} processes")


if __name__ == "__main__":
    main()
