"""Decide which share, range of link rates and queue contracts can have, by the factor between levels and their number.

    python -m benchmarks.studies.contracts [--folder FOLDER] [--timeout SECONDS]

A contract has `levels` levels; its highest level is 16 packets per R_m. The rate falls by a factor with each band of
delay. Two flows of the contract share a link of constant rate (`cbr_delay_own_jitter`). There are two kinds of
questions:

- Bands: which band keeps the rates of two or three flows within the factor? The study decides a band of D + 1 steps,
  and a band of D steps, for each D.
- Front: with bands of D + 1 steps, which range of C does a contract cover? On a covered link, the flows use at least
  three quarters of the link over eight R_m, and a queue of more than QUEUE C·R_m falls by at least C·R_m/20 in a step.
  The largest C is 15/16 of the two flows' total rate while both send at the highest level. The smallest C is 5/4 of
  their total rate while both send at the lowest level. The study also decides two wider ranges: in one, the largest C
  is larger by a quarter; in the other, the smallest C is smaller by a quarter.

A share is that of the slower flow in the long run. The delay is the age at which a flow sends at its lowest level.
FOLDER/bands.json and FOLDER/contracts.json have the results so far. The same command resumes from them. At the end, the
command prints the tables and draws the front (contracts.svg).
"""

from fractions import Fraction
from time import process_time

import ccmatic as cm
from benchmarks.lib import cells, pages

#: The packets per R_m at the highest level, the queue in C·R_m that falls, and the steps over which use is measured.
TOP, QUEUE, SPAN = 16, 200, 8

#: The largest C and the smallest C, as parts of the two flows' total rate at the highest and at the lowest level.
MOST, LEAST = Fraction(15, 16), Fraction(5, 4)

#: The factors by which the largest C and the smallest C of a range are multiplied.
WIDER = {"in range": (1, 1), "faster link": (Fraction(5, 4), 1), "slower link": (1, Fraction(3, 4))}

BANDS = [
    {"flows": flows, "R": R, "D": D, "band": band}
    for flows, R, D in ((2, 1, 0), (2, 1, 1), (2, 1, 2), (2, 2, 2), (3, 1, 1))
    for band in (D + 1, D)
    if band
]
FRONT = [
    {"factor": factor, "levels": levels, "link": link}
    for factor, most in (("2/3", 5), ("1/2", 5), ("1/3", 4))
    for levels in range(2, most + 1)
    for link in WIDER
]


def controller(levels, factor, band, first):
    """Return the text of a contract. `first` is the largest age, in steps, of its highest level."""
    factor = Fraction(factor)
    least = TOP * factor ** (levels - 1)
    lines = [f"level: bytes = between({least} * MSS, {TOP} * MSS)\n\n"]
    lines += ["def update(acked, sent, lost, MSS, R_m, step):"]
    for number in range(levels - 1):
        test = f"acked + lost >= sent[R_m + {first + number * band} * step]"
        lines += [f"    {'elif' if number else 'if'} {test}:", f"        level = {TOP * factor**number} * MSS"]
    lines += ["    else:", f"        level = {least} * MSS"]
    return "\n".join(lines) + "\n\n\ndef send(level, R_m):\n    return level / R_m\n"


def unfair(flows, factor):
    """Return the condition that a flow sends less than `factor` times what another flow sent D before."""
    pairs = [(one, other) for one in range(flows) for other in range(flows) if one != other]
    last = "A_f[{0}][T - 1 - {1}] - A_f[{0}][T - 2 - {1}]"
    return ", ".join(f"{last.format(one, 0)} < {factor} * ({last.format(other, 'D')})" for one, other in pairs)


def decide(text, model, horizon, jitter, what, given, timeout):
    """Return the verdict of a question, and its processor time."""
    begin = process_time()
    network = cm.Network(model, "infinite", horizon, jitter)
    query = cm.Query(network, "avoids", what=f"Or({what})", given=given)
    verdict = cm.verify(text, query, solver=cm.SolverOptions(timeout=timeout))
    return {"verdict": verdict.verdict, "seconds": round(process_time() - begin, 1)}


def lossless(flows):
    """Return the condition that no loss is undetected at first."""
    return "; ".join(f"L_f[{flow}][0] == Ld_f[{flow}][0]" for flow in range(flows))


def band(flows, R, D, band, timeout):
    """Decide whether three levels with such bands keep the rates within 1/2."""
    model = f"ccac2021:flows={flows},R={R},begins=anywhere,timer=executions,waste=constant-rate,delay=own,jitter=own"
    horizon = R + D + band + D + 4
    text = controller(3, "1/2", band, D)
    given = f"alpha <= 2; {lossless(flows)}"
    return decide(text, model, horizon, D, unfair(flows, "1/2"), given, timeout)


def ends(levels, factor, link):
    """Return the largest and the smallest C of a range, in packets per R_m."""
    faster, slower = WIDER[link]
    return 2 * TOP * MOST * faster, 2 * TOP * Fraction(factor) ** (levels - 1) * LEAST * slower


def point(factor, levels, link, timeout):
    """Decide whether a contract is fair, uses the link, and has a bounded queue on a range of links."""
    high, low = ends(levels, factor, link)
    first = 1 + 2 * (levels - 2)
    used = f"W[-1] - W[-{SPAN + 1}] > {SPAN}/4"
    queue = f"And(A[-1] - L[-1] - K1[-1] - K2[-1] > {QUEUE}, A[-1] - A[-2] > 19/20 - W[-1] + W[-2])"
    what = f"{unfair(2, factor)}, {used}, {queue}"
    given = f"alpha >= {1 / high}; alpha <= {1 / low}; {lossless(2)}"
    horizon = first + SPAN + 2
    return decide(controller(levels, factor, 2, 1), "cbr_delay_own_jitter", horizon, 1, what, given, timeout)


def rows(results):
    """Yield a row of the front for each contract."""
    for each in [cell for cell in results if cell["link"] == "in range"]:
        factor, levels = Fraction(each["factor"]), each["levels"]
        same = [cell for cell in results if (cell["factor"], cell["levels"]) == (each["factor"], levels)]
        high, low = ends(levels, each["factor"], "in range")
        verdicts = [f"{cell['verdict']}, {cell['seconds']} s" for cell in same]
        shares = [f"{float(factor / (factor + flows - 1)):.2f}" for flows in (2, 3, 4)]
        yield [each["factor"], str(levels), *shares, f"{float(high / low):.1f}", f"{2 * (levels - 1)} R_m", *verdicts]


def draw(results, file):
    """Draw the front: the range of C by the delay, for each factor."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for factor in dict.fromkeys(cell["factor"] for cell in results):
        points = [cell for cell in results if cell["factor"] == factor and cell["link"] == "in range"]
        ranges = [Fraction(*ends(cell["levels"], factor, "in range")) for cell in points]
        share = float(Fraction(factor) / (1 + Fraction(factor)))
        axes.plot([2 * (cell["levels"] - 1) for cell in points], ranges, "o-", label=f"share {share:.2f}")
    axes.set(xlabel="delay of the lowest level (R_m)", ylabel="largest C / smallest C", yscale="log")
    axes.legend(frameon=False)
    axes.grid(color="#e6e6e6")
    figure.savefig(file)


def main():
    """Decide the missing cells, print both tables, and draw the front."""
    options = cells.arguments(__doc__, (), folder="contracts", timeout=120)

    def settled(cell):
        return cell["verdict"] != "unknown"

    def summary(cell):
        return f"{cell['verdict']}, {cell['seconds']} s"

    bands = cells.results(
        BANDS,
        options.folder / "bands.json",
        lambda cell: band(**cell, timeout=options.timeout),
        summary,
        settled,
    )
    front = cells.results(
        FRONT,
        options.folder / "contracts.json",
        lambda cell: point(**cell, timeout=options.timeout),
        summary,
        settled,
    )
    head = ["flows", "steps of R_m", "D in steps", "band in steps", "rates within 1/2", "seconds"]
    print("\n".join(pages.table(head, [[*map(str, cell.values())] for cell in bands])), end="\n\n")
    head = ["factor", "levels", "share of 2", "of 3", "of 4", "range of C", "delay", *WIDER]
    print("\n".join(pages.table(head, rows(front))))
    draw(front, options.folder / "contracts.svg")


if __name__ == "__main__":
    main()
