"""Check expectations on a run. The run's log becomes an execution of numbers with steps of R_m/10.

A packet counts as sent when it arrives at the link, and as lost when the link drops it. A packet counts as served one
propagation delay before the link passes it to the receivers. The models have the same order: first the bottleneck and
the jitter box, then all propagation. So bytes that are sent but neither lost nor served wait in the bottleneck, in the
jitter box, or because of a delay of the machine. All bytes of a packet wait until the whole packet is served.
"""

from fractions import Fraction
from types import SimpleNamespace

import numpy as np

from ccmatic import questions
from ccmatic.base import InputError, shown
from ccmatic.deployment.emulation.link import ENDLESS, SECOND
from ccmatic.deployment.emulation.run import RECORD

#: The number of steps per R_m, and the largest number of steps of a run.
R, MOST = 10, 10**6

#: The quantities of expectations that a run can show.
SHOWN = ("utilisation", "share", "loss", "marked", "queue", "delay", "recovery")


class Monitor:
    def __init__(self, link, texts):
        if texts and link.schedule:
            raise InputError("an expectation of a run on a schedule, which may serve bytes with tokens from before it; "
                             "expected a path, such as --on '24 mbit, rtt 40 ms, buffer 1 bdp'")  # fmt: skip
        units = questions.units(Fraction(link.rates[0][1], 8), Fraction(link.rtt, SECOND))
        self._link, self._expected = link, [(text, questions.read(text, units)) for text in texts]
        for text, expectation in self._expected:
            if expectation.by is not None:
                raise InputError(f"'{shown(text)}' is about the first steps, which the log of a run does not have; "
                                 f"expected such as '{shown(str(expectation.comparison))}'")  # fmt: skip
            for part in expectation.comparisons:
                if part.subject not in SHOWN:
                    raise InputError(
                        f"'{shown(text)}' is about {shown(part.subject)}, which a run does not show; "
                        f"expected {', '.join(SHOWN[:-1])} or {SHOWN[-1]}"
                    )

    @property
    def amounts(self):
        """The amount of each expectation, in the unit of its text."""
        comparisons = [expectation.comparison for _, expectation in self._expected]
        return [comparison.amount / comparison.written[1] for comparison in comparisons]

    @property
    def units(self):
        return [expectation.comparison.written[0] for _, expectation in self._expected]

    def require(self, flows, seconds):
        """Check that a run whose measured part has this many seconds can show the expectations."""
        farthest = max((self._link.rtt, *(request.rtt or 0 for request in flows)))
        steps = self._steps(0, int(seconds * SECOND), farthest)
        if self._expected and not 1 <= steps <= MOST:
            least, most = farthest / SECOND, MOST * self._link.rtt / R / SECOND
            raise InputError(f"{seconds:g} s are measured; expected above R_m, {least:g} s, and at most {most:g} s")
        try:
            self._judge(np.zeros(0, RECORD), len(flows), 0, steps)
        except InputError as error:
            length = self._link.rtt / R / SECOND * 1000
            problem = f"{error.message} (a step is R_m/{R}, {length:g} ms; {seconds:g} s are measured)"
            raise InputError(problem) from None

    def judged(self, emulation, start):
        """Return the ExpectationRecords of the part of an Emulation after the first `start` seconds."""
        return self.judge(emulation.log, len(emulation.flows), emulation.duration, start, emulation.link)

    def judge(self, packets, flows, duration, start, link=None):
        """Return the ExpectationRecords of packets, in order of arrival, after the first `start` seconds.

        The run has a number of flows, and lasts for `duration` ns. The link is that of the Monitor, unless another one
        is given.
        """
        begin = int(start * SECOND)
        farthest = max((self._link.rtt, *(link or self._link).rtts))
        return self._judge(packets, flows, begin, self._steps(begin, duration, farthest), link)

    def _steps(self, begin, end, propagation):
        """Return the number of steps for which the log contains all served packets.

        Packets that are served in later steps arrive after the end of the run.
        """
        return (end - propagation - begin) * R // self._link.rtt

    def _judge(self, log, flows, begin, steps, link=None):
        if not self._expected:
            return []
        instants = [begin + t * self._link.rtt // R for t in range(steps + 1)]
        x = _execution(link or self._link, log, flows, instants)
        since = "P" if self._link.change else None
        path = SimpleNamespace(
            windows=False,
            pauses=False,
            threshold=self._link.threshold,
            beliefs=(),
            offered=lambda x, t: x.offered[t],
            since=since,
            least_horizon=0,
        )

        def clock(t):
            return Fraction(instants[t], SECOND)

        return [questions.judge(path, x, text, expectation, ("s", clock)) for text, expectation in self._expected]


def _execution(link, log, flows, instants):
    """Return the packets of a log as an execution of numbers in bytes, with the parts that expectations read."""
    numbers = range(flows)
    of_flows = [_byte_counts(link, log[log["flow"] == number], number, instants) for number in numbers]
    others = _byte_counts(link, log[~np.isin(log["flow"], numbers)], -1, instants)
    total = {name: [sum(values) for values in zip(*(part[name] for part in (*of_flows, others)), strict=True)]
             for name in "ASL"}  # fmt: skip
    own = {f"echoed{number + 1 if flows > 1 else ''}": part["echoed"] for number, part in enumerate(of_flows)}
    if link.change:
        own["P"] = [Fraction(max(0, now - link.change.at) * R, link.rtt) for now in instants]
    none = {"beliefs": {}, "state": {}, "kept": (), "Ld": (), "r": ()}
    return SimpleNamespace(
        **total,
        flows=[SimpleNamespace(**part, **none) for part in of_flows],
        own=own,
        offered=[Fraction(link.capacity(instants[0], now), 8 * SECOND) for now in instants],
        horizon=len(instants),
        period=None,
        history=0,
        R=R,
        C=link.bdp / R,
        D=Fraction(link.jitter * R, link.rtt),
        alpha=link.mtu,
        beta=None if link.buffer == ENDLESS else link.buffer,
    )


def _byte_counts(link, log, flow, instants):
    """Return columns: the bytes of a flow that were sent, served and lost by each instant."""
    lost, passed_on = log["lost"] != 0, log["released"] >= 0
    served = (log["released"] - link.propagations(log))[passed_on]
    return {
        "A": _by(log["arrival"], log["size"], instants),
        "S": _by(served, log["size"][passed_on], instants),
        "L": _by(log["arrival"][lost], log["size"][lost], instants),
        "echoed": _by(served, np.where(log["marked"] == 1, log["size"], 0)[passed_on], instants),
    }


def _by(times, sizes, instants):
    """Return, for each instant, the bytes of the packets up to that instant, whose times are in order."""
    sums = np.concatenate(([0], np.cumsum(sizes, dtype=np.int64)))
    return sums[np.searchsorted(times, instants, side="right")].tolist()
