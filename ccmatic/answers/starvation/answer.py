"""The answer of `starve`: the smallest share of any flow, the searches that found this share, and the reasons."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from ccmatic.answers.explanation import FlowAccount, accounts, contrast
from ccmatic.answers.worst_case import UNDECIDED, WorstCase
from ccmatic.base import counted, markup
from ccmatic.contracts import Exclusion
from ccmatic.networks.traces import Trace
from ccmatic.questions.query import Decides

#: A flow starves if its part of the served bytes is below this fraction of its fair share.
THRESHOLD = Fraction(1, 10)

STARVES, FAIR, UNKNOWN = "starves", "does not starve", "unknown"


@dataclass(frozen=True)
class Attempt:
    """One search for the smallest share of any flow.

    Attributes:
        period: The number of steps after which the executions repeat; None for one window, without repetition.
        horizon: T in steps.
        seconds: The time that the search took.
        worst: The edge value of the smallest share; None if the search found none.
        why: If there is no smallest share, the reason in words (no such execution, or a timeout).
        exists: Whether an execution of the searched kind exists; None if unknown.
        everywhere: Whether `exists` also covers executions that begin in a state which a controller reaches only after
            a while.
    """

    period: int | None
    horizon: int
    seconds: float
    worst: WorstCase | None = None
    why: str = ""
    exists: bool | None = None
    everywhere: bool = True

    @property
    def decided(self) -> bool:
        """Whether the search decided all candidate values of the share."""
        if self.exists is False:
            return self.everywhere
        return self.worst is not None and self.worst.verdict != UNDECIDED

    def proves(self, share: Fraction) -> bool:
        """Whether the search proves that each flow gets at least `share` in each searched execution."""
        if self.exists is False:
            return self.everywhere
        return self.worst is not None and self.worst.none is not None and self.worst.none >= share

    @property
    def executions(self) -> str:
        """A description of the searched executions."""
        if self.period is None:
            return f"one window of {counted(self.horizon - 1, 'step')} from a converged start"
        return f"executions that repeat every {f'{self.period} steps' if self.period > 1 else 'step'}"

    def sentence(self) -> str:
        """Return the outcome of the search as a sentence."""
        return self.why or (self.worst.sentence() if self.worst else "")


@dataclass(frozen=True, repr=False)
class Starvation:
    """The answer of `starve`.

    Attributes:
        controller: The controller, or the controllers of the flows.
        on: The network in the question language.
        where: The network, in words.
        notes: Sentences about the quantities that the network rounds.
        flows: The number of flows that share the network.
        attempts: The Attempts, in order.
        left_out: The excluded kinds of executions, such as executions outside the published model.
        seconds: The time that all searches took.
    """

    controller: Decides
    on: str
    where: str
    notes: tuple[str, ...]
    flows: int
    attempts: tuple[Attempt, ...]
    left_out: tuple[Exclusion, ...]
    seconds: float

    @property
    def fair(self) -> Fraction:
        """The fair share of a flow."""
        return Fraction(1, self.flows)

    @property
    def threshold(self) -> Fraction:
        """The share below which a flow starves."""
        return THRESHOLD * self.fair

    @property
    def verdict(self) -> str:
        """The verdict: `starves`, `does not starve` (for the tried periods), or `unknown`."""
        if self.share is not None and self.share < self.threshold:
            return STARVES
        for_ever = [attempt for attempt in self.attempts if attempt.period]
        if any(attempt.exists for attempt in for_ever) and all(each.proves(self.threshold) for each in for_ever):
            return FAIR
        return UNKNOWN

    @property
    def attempt(self) -> Attempt | None:
        """The Attempt whose trace shows the smallest share, preferably with repetition; None if there is no trace."""
        shown = [(self._lesser(each), each) for each in self.attempts if each.worst and each.worst.trace]
        return min(shown, key=lambda pair: (pair[1].period is None, pair[0]))[1] if shown else None

    @property
    def trace(self) -> Trace | None:
        """The trace of `attempt`, or None."""
        return self.attempt.worst.trace if self.attempt and self.attempt.worst else None

    @cached_property
    def accounts(self) -> list[FlowAccount]:
        """For each flow, its service, observations and actions in the last period or window of the trace."""
        return _accounts(self.attempt) if self.attempt else []

    @property
    def least(self) -> FlowAccount | None:
        """The flow that receives the fewest bytes; None if there is no trace."""
        return min(self.accounts, key=lambda account: account.served, default=None)

    @property
    def most(self) -> FlowAccount | None:
        """The flow that receives the most bytes; None if there is no trace."""
        return max(self.accounts, key=lambda account: account.served, default=None)

    @property
    def share(self) -> Fraction | None:
        """The exact share of the flow that receives the fewest bytes; None if there is no trace."""
        return self._lesser(self.attempt) if self.attempt else None

    @property
    def ratio(self) -> Fraction | None:
        """The ratio of the most to the fewest bytes that the link serves for a flow.

        The ratio is None if there is no trace, or if the link serves no bytes of some flow.
        """
        if self.least is None or self.most is None or not self.least.served:
            return None
        return self.most.served / self.least.served

    @property
    def suggestions(self) -> list[str]:
        """Sentences that suggest what to try if the search was undecided."""
        if self.verdict != UNKNOWN:
            return []
        late = [each for each in self.attempts if not each.decided]
        tried = [each.period for each in self.attempts if each.period]
        made = []
        if late:
            made.append("--timeout SECONDS: more than this time; it is shared by all periods")
        if not any(each.exists or not each.decided for each in self.attempts if each.period):
            more = max(tried, default=0)
            made.append(
                f"--period {more + 1}, or more: no execution repeats after the steps that were tried; state that "
                "counts time repeats only when it starts again"
            )
            if "infinite" in self.on:
                made.append(
                    "--on '…, buffer 1/2 bdp': windows repeat sooner in a small buffer; packets are below 1/5 bdp"
                )
                made.append("--on '…, buffer 1 bdp': an infinite buffer loses no bytes, so losses slow no flow down")
        elif len(tried) > 1 and late and late[0].period:
            made.append(f"--period {late[0].period} alone: then it has most of the time")
        return made

    def sentence(self) -> str:
        """Return the answer of the whole search as a sentence."""
        if self.attempt is None or self.least is None or self.share is None:
            reason = "no flow has less than its fair part" if self.verdict == FAIR else "the search timed out"
            none_repeats = all(each.exists is False for each in self.attempts if each.period)
            return "no execution repeats itself" if none_repeats and self.verdict == UNKNOWN else reason
        period = self.attempt.period
        long = f"for {counted(self.attempt.horizon - 1, 'step')}"
        if period:
            long = f"for ever, as all repeats every {f'{period} steps' if period > 1 else 'step'}"
        ratio = f"1 : {float(self.ratio):.4g}" if self.ratio else "0"
        return f"{self.least.name} has {_percent(self.share)} of what is served (ratio {ratio}), {long}"

    @property
    def why(self) -> list[str]:
        """Sentences, with the trace's numbers, about why a flow receives so few bytes; empty without a trace."""
        if self.attempt is None or self.least is None or self.most is None:
            return []
        sentences = [account.sentence() for account in self.accounts] + contrast(self.least, self.most)
        if self.attempt.period:
            every = "the next step" if self.attempt.period == 1 else f"{self.attempt.period} steps later"
            sentences.append(f"The state of network and senders is the same {every}, so this can go on for ever.")
        return sentences

    @staticmethod
    def _lesser(attempt: Attempt) -> Fraction:
        served = [account.served for account in _accounts(attempt)]
        return min(served) / sum(served)

    def __repr__(self) -> str:
        return f"<{self.controller.name}: {self.verdict}: {self.sentence()}>"

    def _repr_html_(self) -> str:
        table = self.trace._repr_html_() if self.trace else ""
        return markup.paragraphs([f"{self.controller.name}: {self.verdict}: {self.sentence()}"]) + table


def _accounts(attempt: Attempt) -> list[FlowAccount]:
    assert attempt.worst and attempt.worst.trace and attempt.worst.report
    trace, query = attempt.worst.trace, attempt.worst.report.query
    x = query.observed(trace, trace.columns.keys() & query.units().keys(), attempt.worst.controller.state)
    return accounts(query, attempt.worst.controller, x)


def _percent(share: Fraction) -> str:
    return f"{float(100 * share):.3g} %"
