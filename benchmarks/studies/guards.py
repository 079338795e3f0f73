"""Compare each guard, which keeps a congestion control within an envelope, with the congestion control alone.

Each flow runs alone on an emulated link.
    python -m benchmarks.studies.guards [--rates 24 48 96] [--rtts 20 40 80] [--buffers 1 2 4 6 12 20]
                                       [--figure FILE] FOLDER

The command prints utilisation, queue and losses, and the proved bounds. FOLDER keeps the measures of each valid run,
and the same command resumes. The command repeats a run that is invalid or does not start in time, up to three runs in
all. With jitter, the link delays packets by up to R_m more. A run lasts 8 seconds, or 200 R_m if that is longer. For a
flow with beliefs, a run lasts 400 R_m if PROOF bounds its envelope, because these bounds hold only after the beliefs
have converged. For such runs, the command reports each guard that is outside its bounds. The command needs root,
iperf3, and everything that BPF flows need.
"""

import argparse
from itertools import product
from pathlib import Path

from ccmatic import proving, records
from ccmatic.base import parse_json, read_text, write_text
from ccmatic.deployment.emulation import emulate, machine
from ccmatic.networks import traces
from ccmatic.records import MeasuresFile

ENVELOPE = "cc_qdel_wide"
PROOF = Path(__file__).parents[2] / "results" / "proofs" / f"cc_qdel-{ENVELOPE}_T11.json"
GUARDS = {f"guard:{ENVELOPE}:{around}": colour for around, colour in (("cubic", "#D55E00"), ("bbr", "#0072B2"))}
FLOWS = {"cubic": "#E69F00", "bbr": "#56B4E9", "bpf:cc_qdel": "#009E73", **GUARDS}

#: The length of an exported sender's step, R_m + D with D = R_m, and the model's R_m + D. Both are in R_m.
STEP, ROUND = 2, 4

#: The drawn measures. Each has the value in a MeasuresFile, a function for the worst of many runs, and the key of the
#: proved bound.
DRAWN = {
    "share of the link, least": (lambda row: row.utilisation, min, "utilisation"),
    "queueing delay p95, most (R_m)": (lambda row: row.queueing_delay_rm.p95, max, "queue"),
    "share of packets lost, most": (lambda row: row.lost / row.packets, max, "loss"),
}
TRIES = 3

#: The shortest length of a run in seconds and in R_m, and its length in R_m if beliefs have to converge.
SECONDS, ROUNDS, CONVERGING = 8, 200, 400


def proved(buffer):
    """Return the envelope's proved bounds in the steady state, by key of DRAWN. `buffer` is in BDP."""
    result = proving.load_result(PROOF)
    c, window = result.values, result.horizon - 1
    if buffer < 6 * STEP:
        return {}
    bounds = {"utilisation": float(c["utilisation"] * (window - 1) / window), "queue": float(c["queue"] * ROUND)}
    return bounds | ({"loss": 0.0} if buffer >= c["lossless_buffer"] * ROUND else {})


def has_converged(row):
    """Return whether the flow's beliefs converged before the measured time; False for a flow without beliefs."""
    return bool(row.flows[0].beliefs) and row.flows[0].beliefs.converged_seconds is not None


def outside(flow, buffer, row):
    """Yield, as text, each proved bound that a run violates.

    A run may miss a bound by a hundredth, because the beginning and the end of the run cut windows short.
    """
    bounds = proved(buffer) if flow in GUARDS and has_converged(row) else {}
    for what, (value, worst, key) in DRAWN.items():
        beyond = value(row) - bounds[key] if key in bounds else 0
        if (beyond if worst is max else -beyond) > 0.01:
            yield f"OUTSIDE: {what}: {value(row):.3f}, proved: {bounds[key]:.3f}"


def measured(file, flow, rate, rtt, buffer, jitter):
    """Measure a run, return its MeasuresFile, and keep this in a file.

    If no attempt is valid, the function prints the reasons and returns None.
    """
    link = {"schedule": None, "rate": f"{rate}mbit", "rtt": f"{rtt}ms", "buffer": f"{buffer}bdp"}
    delays = {"jitter": f"{rtt}ms"} if jitter == "jitter" else {}
    rounds = CONVERGING if ":" in flow and proved(buffer) else ROUNDS
    if file.exists():
        return records.convert(parse_json(read_text(file)), MeasuresFile)
    for _ in range(TRIES):
        try:
            row = emulate([flow], seconds=max(SECONDS, rounds * rtt / 1000), **link, **delays)
            faults = row.faults
        except machine.NotReady as late:
            faults = [late.message]
        if not faults:
            write_text(file, records.line(row) + "\n")
            return row
        print(f"NOT VALID: {file.stem}: {'; '.join(faults)}", flush=True)
    return None


def as_text(name, row, problems):
    """Return the line of a run as text."""
    parts = [f"utilisation {row.utilisation:6.1%}", f"queue p95 {row.queueing_delay_rm.p95:5.2f} R_m",
            f"lost {row.lost / row.packets:6.2%}"]  # fmt: skip
    guard = row.flows[0].guard
    if guard:
        parts.append(f"{guard.above} above (by {guard.most_above:.1f}), {guard.below} below of {guard.steps} steps")
        parts += [] if has_converged(row) else ["beliefs not converged"]
    return "  ".join([f"{name:<52}", *parts, *problems])


def summarise(rows, total):
    """Print the number of valid runs, the behaviour of the guards, and each flow's worst run, as in the drawing."""
    guards = [row.flows[0].guard for (flow, *_), row in rows.items() if flow in GUARDS]
    above, steps = (sum(getattr(guard, what) for guard in guards) for what in ("above", "steps"))
    beyond = sum(any(outside(flow, buffer, row)) for (flow, _, _, buffer, _), row in rows.items())
    converged = sum(map(has_converged, rows.values()))
    print(f"{len(rows)} of {total} runs are valid; beliefs converged in {converged}; {beyond} outside what is proved")
    print(f"guards sent more than a packet above the envelope in {above} of {steps} steps")
    for flow, buffer, jitter in sorted({(flow, buffer, jitter) for flow, _, _, buffer, jitter in rows}):
        of = [row for key, row in rows.items() if (key[0], *key[3:]) == (flow, buffer, jitter)]
        worst_of = (f"{what}: {worst(map(value, of)):.3f}" for what, (value, worst, _) in DRAWN.items())
        print(f"{flow:<26}{buffer:>4} BDP {jitter:<6} {len(of)} runs;", "; ".join(worst_of))


def draw(rows, file):
    """Draw, against the buffer, each flow's worst values among all rates and R_m.

    Dashed lines show the proved bounds of the guards.
    """
    jitters, buffers = (sorted({key[place] for key in rows}) for place in (4, 3))
    with traces.figure(file, (11, 2.9 * len(jitters) + 0.6)) as figure:
        panels = figure.subplots(len(jitters), len(DRAWN), squeeze=False, sharex=True)
        places = zip(panels.flat, product(jitters, DRAWN.items()), strict=True)
        for axes, (jitter, (what, (value, worst, bound))) in places:
            for flow, colour in FLOWS.items():
                of = {b: [value(r) for k, r in rows.items() if (k[0], *k[3:]) == (flow, b, jitter)] for b in buffers}
                there = [(b, worst(values)) for b, values in of.items() if values]
                axes.plot(*zip(*there, strict=True), marker="o", markersize=3, color=colour, label=flow)
            held = [(b, proved(b)[bound]) for b in buffers if bound in proved(b)]
            if held:
                axes.plot(*zip(*held, strict=True), "--_", color=traces.QUIET, label="proved of the guards")
            axes.set_title(f"{what}; {'with' if jitter == 'jitter' else 'no'} jitter", fontsize=8)
            axes.set_xscale("log", base=2)
            axes.set_ylim(bottom=0)
            axes.spines[["top", "right"]].set_visible(False)
        panels[0][0].legend(frameon=False, fontsize=7)
        figure.supxlabel("buffer (BDP)")


def main():
    """Measure the missing runs, and print the results."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in {"rates": (24, 48, 96), "rtts": (20, 40, 80), "buffers": (1, 2, 4, 6, 12, 20)}.items():
        parser.add_argument(f"--{option}", nargs="+", type=int, default=default)
    parser.add_argument("--jitters", nargs="+", choices=("none", "jitter"), default=("none", "jitter"))
    parser.add_argument("--figure", type=Path)
    parser.add_argument("folder", type=Path)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    grid = list(product(given.rates, given.rtts, given.buffers, given.jitters, FLOWS))
    rows = {}
    for rate, rtt, buffer, jitter, flow in grid:
        of = flow, rate, rtt, buffer, jitter
        file = given.folder / f"{flow.replace(':', '-')}_{rate}mbit_{rtt}ms_{buffer}bdp_{jitter}.json"
        row = measured(file, *of)
        if row:
            rows[of] = row
            print(as_text(file.stem, row, outside(flow, buffer, row)), flush=True)
    summarise(rows, len(grid))
    if given.figure:
        draw(rows, given.figure)


if __name__ == "__main__":
    main()
