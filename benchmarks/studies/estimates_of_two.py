"""Measure the accuracy with which each of two BBR-like flows on one link can estimate the link.

    python -m benchmarks.studies.estimates_of_two [--folder FOLDER]

Each flow estimates by particles (Learn-to-Probe, Figure 6), and by the beliefs of a model of one flow, with the
timeouts of these beliefs. The link is a fluid FIFO queue that drops the bytes that do not fit. The second flow starts
after the first flow has run for a while. The command prints coverage (the share of steps in which the true value is
within the range) and mean width. The command prints both for the time while one flow sends, and for the time while both
send. It draws FOLDER/estimates_of_two.svg.
"""

import argparse
from fractions import Fraction
from pathlib import Path
from types import SimpleNamespace

import numpy as np

import ccmatic as cm
from ccmatic.answers.estimation import ParticleFilter, signals
from ccmatic.contracts import load_definition
from ccmatic.networks import traces
from ccmatic.networks.simulation import DeployedController
from ccmatic.networks.simulation import Path as Link
from ccmatic.networks.traces import Trace

#: R_m in seconds; the buffer in C·R_m, like all bytes; the number of steps in a run; and the first step of the second
#: flow.
RTT, BUFFER, STEPS, BEGINS = 0.03, 1.0, 400, 150

#: The number of simulation intervals in a step; BBR's cycle of gains; the number of steps over which BBR takes the
#: maximum; a packet.
FINE, CYCLE, KEPT, PACKET = 100, (1.25, 0.75, 1, 1, 1, 1, 1, 1), 10, 0.02

#: The number of steps T-1 in a window of beliefs; the seeds of the filters; the number of first steps of a flow that do
#: not count.
WINDOW, SEEDS, WARM_UP = 9, (1, 2, 3), 30


class Bbr:
    """A flow that doubles its rate until its delivery no longer grows.

    After that, the flow sends at the gain of its cycle times the highest delivery rate of recent steps.
    Acknowledgements arrive one step later.
    """

    def __init__(self, begins):
        self._begins, self._starting, self._rate, self._delivered = begins, True, 2 * PACKET, [0.0]

    def rate(self, t, delivered):
        """Return the rate of step t, from t to t+1. `delivered` is the delivery rate of the previous step."""
        if t < self._begins:
            return 0.0
        self._starting = self._starting and (t < self._begins + 3 or delivered > 1.1 * self._delivered[-1])
        self._delivered = [*self._delivered, delivered][-KEPT:]
        most = max(PACKET, *self._delivered)
        self._rate = 2 * self._rate if self._starting else CYCLE[(t - self._begins) % len(CYCLE)] * most
        return self._rate


def run(flows):
    """Simulate the flows on the link.

    Returns:
        The bytes sent, served and lost by the end of each step, as three arrays of shape (flows, STEPS + 1). The
        waiting bytes follow, as an array of shape (STEPS + 1,).
    """
    sent, lost = np.zeros((2, len(flows), STEPS * FINE + 1))
    admitted, left = np.zeros((2, STEPS * FINE + 1))
    served = np.zeros((len(flows), STEPS + 1))
    for t in range(STEPS):
        delivered = served[:, t] - served[:, max(t - 1, 0)]
        rates = np.array([flow.rate(t, each) for flow, each in zip(flows, delivered, strict=True)]) / FINE
        for now in range(t * FINE, (t + 1) * FINE):
            room, coming = BUFFER + left[now] + 1 / FINE - admitted[now], rates.sum()
            fits = min(1.0, room / coming) if coming else 1.0
            sent[:, now + 1], lost[:, now + 1] = sent[:, now] + rates, lost[:, now] + (1 - fits) * rates
            admitted[now + 1] = admitted[now] + fits * coming
            left[now + 1] = min(admitted[now + 1], left[now] + 1 / FINE)
        so_far = slice((t + 1) * FINE + 1)
        for flow in range(len(flows)):
            kept = sent[flow, so_far] - lost[flow, so_far]
            served[flow, t + 1] = np.interp(left[(t + 1) * FINE], admitted[so_far], kept)
    return sent[:, ::FINE], served, lost[:, ::FINE], (admitted - left)[::FINE]


def seen_by(sent, served, lost):
    """Return the Trace of one flow from the flow's first step on. The Trace has only the bytes of this flow."""
    rates = np.diff(sent, prepend=0.0)
    columns = {"A": sent, "S": served, "L": lost, "r": rates}
    exact = {name: tuple(Fraction(float(value)) for value in column) for name, column in columns.items()}
    return Trace(len(sent), {}, exact, {})


def believed(trace):
    """Return C_L and C_U at the end of each step of a Trace, as an array (steps, 2), computed from finished windows.

    The bounds are the beliefs of a deployed sender whose model has one flow.
    """
    model = load_definition("models", "MODEL", "ccac")
    link, start = Link(model, 50, jitter=1), {"C_L": Fraction(1, 50), "C_U": 8}
    sender = DeployedController(model, cm.load_controller("cc_qdel"), link, WINDOW, start, Fraction(1, 50))
    A, S, L, r = (trace.columns[name] for name in "ASLr")
    kept, last = np.array([a - lost for a, lost in zip(A, L, strict=True)], float), 0
    for t in range(trace.horizon):
        if t and S[t] > S[t - 1]:
            last = t - int(np.searchsorted(kept, float(S[t]) - 1e-9))
        detected = L[t - 1] if t else Fraction(0)
        counts = {
            "sent": A[t],
            "delivered": S[t],
            "lost": detected,
            "dropped": L[t],
            "timely": detected,
            "excess": detected,
        }
        sender(SimpleNamespace(step=t + 1, last=last, first=last, rate=r[t], limited=False, **counts))
    columns = [[each.beliefs["C_L"][:-1], each.beliefs["C_U"][:-1]] for each in sender.windows]
    return np.concatenate(columns, axis=1).astype(float).T


def followed(trace, seed):
    """Return the particles' ranges at each step of a Trace, by quantity: (steps, 2), with NaN if there is no range."""
    particles, ranges = ParticleFilter(RTT, seed), {name: np.full((trace.horizon, 2), np.nan) for name in QUANTITIES}
    for t, observed in enumerate(signals(trace, RTT), 1):
        if observed:
            particles.update(observed)
        for name, ends in particles.ranges().items():
            ranges[name][t] = ends
    return ranges


#: The estimated quantities, by their names in a `FilterState`, with their labels.
QUANTITIES = {"own": "own rate / C", "others": "others' rate / C", "delay": "queueing delay (s)"}


def estimated():
    """Yield the estimates of each flow.

    A tuple has four entries: the step of the run at which the flow starts; the true values by name, arrays (steps,);
    the ranges of each filter; and the believed ranges of the flow's rate / C, an array (steps, 2).
    """
    sent, served, lost, queue = run([Bbr(0), Bbr(BEGINS)])
    for flow, begins in enumerate((0, BEGINS)):
        trace = seen_by(*(column[flow, begins:] for column in (sent, served, lost)))
        rates = np.diff(sent[:, begins:], prepend=np.nan)
        true = {"own": rates[flow], "others": rates[1 - flow], "delay": queue[begins:] * RTT}
        bounds = believed(trace)
        by_beliefs = rates[flow][: len(bounds), None] / bounds[:, ::-1]
        yield begins, true, [followed(trace, seed) for seed in SEEDS], by_beliefs


def covered(true, ranges, part):
    """Return coverage and mean width over the steps that `part` selects."""
    value, ends = true[part], ranges[part]
    has_range = ~np.isnan(ends).any(axis=1)
    inside = (ends[:, 0] - 1e-9 <= value) & (value <= ends[:, 1] + 1e-9)
    return np.mean(inside[has_range]), np.mean(np.diff(ends[has_range], axis=1))


def table(flows):
    """Yield a row with coverage and width for each flow and period. For particles, they are means over all seeds."""
    yield "| flow | while | by | own rate/C: covered, width | others' | queueing delay, ms |"
    yield "|---|---|---|---|---|---|"
    for number, (begins, true, filters, by_beliefs) in enumerate(flows, 1):
        alone = {"one sends": slice(WARM_UP, BEGINS)} if not begins else {}
        for when, part in (alone | {"both send": slice(BEGINS + WARM_UP - begins, None)}).items():
            cells = []
            for name in QUANTITIES:
                measures = np.array([covered(true[name], ranges[name], part) for ranges in filters])
                scale = 1e3 if name == "delay" else 1
                cells.append(
                    f"{measures[:, 0].mean():.0%} ± {measures[:, 0].std():.0%}, {scale * measures[:, 1].mean():.2f}"
                )
            yield f"| {number} | {when} | particles | {' | '.join(cells)} |"
            until = slice(part.start, len(by_beliefs) if part.stop is None else part.stop)
            inside, width = covered(true["own"][: len(by_beliefs)], by_beliefs, until)
            yield f"| {number} | {when} | beliefs | {inside:.0%}, {width:.2f} | - | - |"


def draw(flows, path):
    """Draw the truth and the ranges of the first filter over time."""
    with traces.figure(path, (10, 6)) as figure:
        for row, name in zip(figure.subplots(len(QUANTITIES), 2, sharex=True, sharey="row"), QUANTITIES, strict=True):
            for number, (axes, (begins, true, filters, by_beliefs)) in enumerate(zip(row, flows, strict=True), 1):
                steps = (begins + np.arange(len(true[name]))) * RTT
                axes.fill_between(steps, *filters[0][name].T, color=traces.PROBE, alpha=0.4, label="particles")
                if name == "own":
                    times = steps[: len(by_beliefs)]
                    axes.fill_between(times, *by_beliefs.T, color=traces.BELIEF, alpha=0.3, label="beliefs")
                    axes.set_title(f"flow {number}", loc="left")
                axes.plot(steps, true[name], color=traces.TRUTH, linewidth=0.8, label="truth")
                axes.set_ylim(0, 0.1 if name == "delay" else 1.6)
            row[0].set_ylabel(QUANTITIES[name])
            row[0].legend(frameon=False, fontsize=7)
        for axes in row:
            axes.set_xlabel("s")


def main():
    """Print the table, and draw the figure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("estimates"))
    folder = parser.parse_args().folder
    folder.mkdir(parents=True, exist_ok=True)
    flows = list(estimated())
    print(*table(flows), sep="\n")
    draw(flows, folder / "estimates_of_two.svg")


if __name__ == "__main__":
    main()
