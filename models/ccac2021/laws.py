"""The network of CCAC's published tool: window senders, loss detection, waste, and several flows.

The source is V. Arun, M. Arashloo, A. Saeed, M. Alizadeh, H. Balakrishnan, "Toward Formally Verifying Congestion
Control Behavior", SIGCOMM 2021, and its tool, venkatarun95/ccac at 229d398. docs/reference/stateful.md lists the
equations and describes their oddities.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.beliefs.beside_others import BESIDE_OTHERS
from ccmatic.models.beliefs.link_rate import sender_link_rate
from ccmatic.models.beliefs.queueing_delay import sender_queueing_delay
from ccmatic.models.ccac2021.options import DelayMeasurement, JitterBox, Loss, Slack, Waste
from ccmatic.models.window_sender import (
    LONGEST,
    InitialBytes,
    LossDetection,
    Start,
    Timer,
    dupack_losses,
    idle,
    observations,
    senders,
)

from ccmatic.base import InputError
from ccmatic.contracts import APPLICATION, BYTES, LAST, Column, Exclusion, Model, choice, number, whole
from ccmatic.logic import either, equal, every, iff, implies, no, some

#: The class of each option, by the name of the option's field.
OPTIONS = {
    "waste": Waste,
    "slack": Slack,
    "detection": LossDetection,
    "timer": Timer,
    "loss": Loss,
    "delay": DelayMeasurement,
    "jitter": JitterBox,
    "begins": Start,
    "before": InitialBytes,
}

#: The parameters that a model's name may set, as in `ccac2021:flows=2,composing=no`.
PARAMETERS = {
    "flows": whole("flows"),
    "R": whole("R"),
    "D": whole("default_jitter", least=0),
    "composing": choice("waste", {"yes": Waste.COMPOSING, "no": Waste.NON_COMPOSING}),
    "most_queue": number("most_queue", least=0),
    **{name: choice(name, {option.value: option for option in options}) for name, options in OPTIONS.items()},
    **APPLICATION,
}


#: Laws about a single step, or about two steps of any distance.
FAR = frozenset(
    {
        "bytes_grow",
        "leaves_in_order",
        "let_through_grows",
        "let_through_once_sent",
        "no_loss",
        "served_after_sent",
        "served_once_let_through",
    }
)


@dataclass(frozen=True)
class CCAC2021(Model):
    """A path whose options choose the laws.

    The attributes from `waste` to `before` are options. The class of each option describes its values. The first member
    of a class is the default, as in the published tool.

    Attributes:
        flows: The number of senders.
        R: R_m in steps: one number for all flows, or a tuple with one value per flow.
        waste: The option for the situations in which the link wastes tokens.
        slack: The option for the number of bytes that may wait while the link wastes tokens.
        detection: The option for the method by which senders detect losses.
        timer: The option for the situations in which the retransmission timer fires.
        dupacks: The number of packets beyond a loss whose acknowledgement makes the sender detect the loss. None leaves
            the number open.
        loss: The option for the bytes that a full buffer loses.
        most_queue: The largest number of waiting bytes, if this limit differs from the buffer's size; "any" sets no
            limit.
        delay: The option for the measurement of delay.
        jitter: The option for shared or separate jitter of the flows.
        begins: The option for the start of traces.
        before: The option for the bytes that count as older than the trace.
        default_jitter: D in steps, for queries that set no D.
        pauses: Whether applications may pause.
    """

    name = "ccac2021"
    windows = True
    parameters = MappingProxyType(PARAMETERS)
    flows: int = 1
    R: int | tuple[int, ...] = 1
    waste: Waste = Waste.COMPOSING
    slack: Slack = Slack.NONE
    detection: LossDetection = LossDetection.DUPLICATE_ACKS
    timer: Timer = Timer.PUBLISHED
    dupacks: Fraction | None = Fraction(3)
    loss: Loss = Loss.FREE
    most_queue: Fraction | str | None = None
    delay: DelayMeasurement = DelayMeasurement.PUBLISHED
    jitter: JitterBox = JitterBox.SHARED
    begins: Start = Start.ORIGIN
    before: InitialBytes = InitialBytes.ADMITTED
    default_jitter: int = 1
    pauses: bool = False

    def __post_init__(self):
        for name, options in OPTIONS.items():
            if not isinstance(getattr(self, name), options):
                expected = ", ".join(map(str, options))
                raise InputError(f"{name} is {getattr(self, name)!r}; expected one of {expected}")
        boxed = (Waste.CONSTANT_RATE, DelayMeasurement.PER_FLOW)
        if self._own_boxes and (self.waste, self.delay) != boxed:
            setting = f"each flow has jitter of its own where waste is {self.waste} and delay is {self.delay}"
            raise InputError(f"{setting}; expected {boxed[0]} and {boxed[1]}")
        if self.pauses and self.loss is Loss.DETERMINISTIC:
            raise InputError(f"applications may pause, and loss is {self.loss}; expected {Loss.FREE}")
        if not _is_whole(self.flows, 8):
            raise InputError(f"flows is {self.flows!r}; expected a whole number from 1 to 8")
        if self.flows > 1 and self.delay is DelayMeasurement.UNMEASURED:
            problem = f"flows is {self.flows}, and delay is {self.delay}, but delays order the bytes of a shared queue"
            raise InputError(f"{problem}; expected {DelayMeasurement.PER_FLOW}")
        round_trips = self.R if isinstance(self.R, tuple) else (self.R,) * self.flows
        if len(round_trips) != self.flows or not all(_is_whole(R, 100) for R in round_trips):
            of = "" if self.flows == 1 else f", or a tuple of {self.flows}, one for each flow"
            raise InputError(f"R is {self.R!r}; expected a whole number of steps from 1 to 100{of}")

    @property
    def observations(self):
        """The observations and beliefs that senders on this path may read, by name."""
        own = self.delay is DelayMeasurement.PER_FLOW
        least, most = sender_link_rate(pauses=self.pauses)
        by_delay = (most, *sender_queueing_delay()) if self.delay is not DelayMeasurement.UNMEASURED else ()
        beliefs = (least, *by_delay, *(BESIDE_OTHERS if own and not self.pauses else ()))
        return observations(self.before, own) | {belief.name: belief for belief in beliefs}

    @property
    def far(self):
        """The names of the laws about any steps; none for traces that count bytes from their own origin."""
        return FAR if self.begins is Start.ANYWHERE else frozenset()

    @property
    def columns(self):
        """The columns: wasted tokens, losses that duplicate acknowledgements detect, and any measured delay."""
        numbers = range(1, self.flows + 1)
        boxes = map(_let, numbers) if self._own_boxes else ()
        finds = [dupack_losses(self.flows, number) for number in numbers] if self.timer is not Timer.PUBLISHED else ()
        pauses = [idle(self.flows, number) for number in numbers] if self.pauses else ()
        measured = self.delay not in (DelayMeasurement.UNMEASURED, DelayMeasurement.PER_FLOW)
        return (_WASTED, *boxes, *finds, *pauses, *((LAST,) if measured else ()))

    @property
    def _own_boxes(self):
        return self.jitter is JitterBox.PER_FLOW

    @property
    def constants(self):
        """The numbers that the laws of this path leave open."""
        open_ones = {
            "dupacks": self.dupacks is None and self.detection is not LossDetection.ORACLE,
            "epsilon": self.waste is Waste.NON_COMPOSING and self.slack is not Slack.NONE,
            "tokens_at_first": self.begins is Start.ANYWHERE,
        }
        return tuple(name for name, is_open in open_ones.items() if is_open)

    def constants_from(self, x, t):
        """Return the constants for a trace that starts at step t and counts tokens from step t on."""
        if self.begins is Start.ORIGIN:
            return x.constants
        return {**x.constants, "tokens_at_first": x.constants["tokens_at_first"] + x.C * t}

    def longest_delay(self, horizon, period=None):
        """Return the longest delay, in steps, that the laws distinguish from longer ones.

        If initial delays are open, this longest delay is up to twice the horizon (see `_delays`).
        """
        if self.delay is not DelayMeasurement.OPEN_AT_FIRST:
            return horizon
        return max(2 * horizon, LONGEST + 1 if period else 0) + 1

    def begun_anywhere(self):
        """Return the network whose traces start at any step of an execution, not at the origin of its byte counts."""
        return replace(self, begins=Start.ANYWHERE)

    def laws(self, x):
        """Yield every law; this network has no laws of beliefs."""
        yield from self._named(x, self.network(x))
        for flow in x.flows:
            yield from self._named(x, senders(self, x, flow))

    def exclusions(self):
        """Yield the executions that the published laws exclude."""
        parts = ["timeouts"] if self.timer is Timer.PUBLISHED else []
        parts += ["delays"] if self.delay in (DelayMeasurement.PUBLISHED, DelayMeasurement.CONSISTENT) else []
        parts += ["initial byte counts"] if self.begins is Start.ORIGIN else []
        if parts:
            yield Exclusion(
                "published laws", f"{' and '.join(parts)} differ from those of the published network (docs/stateful.md)"
            )
        if self.flows > 1 and self.delay in (DelayMeasurement.PUBLISHED, DelayMeasurement.CONSISTENT):
            yield Exclusion("published laws", "a flow sends nothing while another is served")

    def assumptions(self, x):
        """Return no assumptions: the published measurement of delay is a law of this network."""
        return ()

    def belief_laws(self, x, reads=None):
        """Yield the published model's additional laws for controllers that read the delay.

        docs/reference/stateful.md lists these laws.
        """
        if self.delay is DelayMeasurement.PUBLISHED and ("delay" in (reads or ()) or self.flows > 1):
            yield from self._named(x, _no_second_service(x))

    def network(self, x):
        """Yield the laws of tokens, service, waste and losses, and the laws about flows that share the link."""
        yield "packet_size", 0, x.alpha > 0
        yield from self._service(x)
        yield from self._waste(x)
        yield from self._losses(x)
        own = self.delay is DelayMeasurement.PER_FLOW
        if x.Q is not None:
            yield from self._delays(x)
        if self._own_boxes:
            yield from self._boxes(x)
            yield from _in_order(x, self.let(x))
        elif self.flows > 1:
            yield from _in_order(x, [flow.S for flow in x.flows]) if own else self._first_in_first_out(x)

    def tokens(self, x, t):
        """Return the tokens that arrived by t and were not wasted."""
        first = x.constants["tokens_at_first"] if self.begins is Start.ANYWHERE else 0
        return first + x.C * t - x.W[t]

    def _service(self, x):
        for t in range(x.horizon):
            tokens = self.tokens(x, t)
            yield "served_after_tokens", t, x.S[t] <= tokens
            if t >= x.D:
                yield "served_within_jitter", t, x.S[t] >= self.tokens(x, t - x.D)
            else:
                yield "served_within_jitter", t, x.S[t] >= self.tokens(x, 0) - x.C * (x.D - t)
            if t:
                yield "waste_grows", t, x.W[t] >= x.W[t - 1]
            if t and self.begins is Start.ANYWHERE:
                yield "waste_is_of_what_comes", t, tokens >= self.tokens(x, t - 1)

    def let(self, x):
        """Return the bytes that the link has released into each flow's jitter box."""
        return [x.own[_let(number).name] for number in range(1, self.flows + 1)] if self._own_boxes else []

    def _boxes(self, x):
        """Yield the laws of jitter boxes: bytes with a token enter the box of their flow, and leave it within D."""
        for t in range(x.horizon):
            let = [column[t] for column in self.let(x)]
            yield "let_through_by_tokens", t, equal(sum(let[1:], let[0]), self.tokens(x, t))
            for flow, column in zip(x.flows, self.let(x), strict=True):
                yield "let_through_once_sent", t, every(column[t] >= 0, column[t] <= flow.admitted(t))
                yield "served_once_let_through", t, flow.S[t] <= column[t]
                if t:
                    yield "let_through_grows", t, column[t] >= column[t - 1]
                if t >= x.D:
                    yield "served_within_own_jitter", t, flow.S[t] >= column[t - x.D]

    def _waste(self, x):
        epsilon = x.constants.get("epsilon", 0)
        if "epsilon" in self.constants:
            packet = x.alpha / 2 if self.slack is Slack.LESS_THAN_HALF_PACKET else x.alpha
            yield "slack", 0, epsilon > packet if self.slack is Slack.MORE_THAN_PACKET else epsilon < packet
        for t in range(1, x.horizon):
            most = x.S[t] + epsilon if self.waste is Waste.NON_COMPOSING else self.tokens(x, t)
            # If a sender was application-limited, all bytes of the step may have arrived after the waste.
            paused = some([flow.limited[t] for flow in x.flows])
            no_waste = either(paused, x.admitted(t - 1) <= most, x.admitted(t) <= most)
            yield "no_waste_while_queued", t, implies(x.W[t] - x.W[t - 1] > self.thinned(x, t), no_waste)
        for t in range(1, x.horizon) if self.pauses else ():
            for column in (x.own[idle(self.flows, flow.number).name] for flow in x.flows):
                yield "idle_is_within_the_step", t, every(column[t] >= 0, column[t] <= 1)
        for t in range(x.horizon) if self.waste is Waste.CONSTANT_RATE else ():
            yield "no_token_is_kept", t, self.tokens(x, t) <= x.admitted(t)

    def thinned(self, x, t):
        """Return the bytes of step t that are lost before the link. Models with losses by chance override this."""
        return 0

    def _losses(self, x):
        buffer = x.beta
        if x.buffer.kind in ("any", "at least"):
            yield "buffer", 0, buffer >= (x.buffer.size or 0)
        for t in range(1, x.horizon):
            tokens = self.tokens(x, t)
            if buffer is None:
                yield "no_loss", t, every([equal(flow.L[t], flow.L[0]) for flow in x.flows])
            elif self.loss is Loss.DETERMINISTIC:
                full = tokens + buffer
                over = x.A[t] - x.L[t - 1] > full
                yield "overflow_is_lost", t, either(over, equal(x.admitted(t), full), equal(x.L[t], x.L[t - 1]))
            else:
                full = self.tokens(x, t - 1) + buffer
                yield "only_overflow_is_lost", t, implies(x.L[t] > x.L[t - 1], x.admitted(t) >= full)
        most = buffer if self.most_queue is None else self.most_queue
        if most is not None and self.most_queue != "any":
            for t in range(x.horizon):
                yield "queue_fits", t, x.admitted(t) <= self.tokens(x, t) + most

    def _delays(self, x):
        """Yield the laws of `x.Q`, the measured delay in whole steps.

        The value T, the horizon, means an unknown delay, such as the delay of bytes from before the trace. If initial
        delays are open, a known delay of k steps with k ≥ T is stored as k + 1.
        """
        end, longest = x.horizon, x.Q.longest
        for k in range(1, longest):
            yield "delay_is_one", 0, implies(x.Q.at_least(0, k + 1), x.Q.at_least(0, k))
        if self.delay is DelayMeasurement.PUBLISHED:
            yield "delay_is_unknown_at_first", 0, x.Q.at_least(0, end)
        for t in range(1, end):
            served = x.S[t] > x.S[t - 1]
            measurable = end if self.delay is DelayMeasurement.PUBLISHED else t
            for k in range(1, longest + 1):
                stays = iff(x.Q.at_least(t, k), x.Q.at_least(t - 1, k))
                yield "delay_stays_unless_served", t, implies(no(served), stays)
                if k <= measurable:
                    waited = iff(x.Q.at_least(t, k), x.S[t] <= x.admitted(max(t - k, 0)))
                    yield "delay_is_time_since_sent", t, implies(served, waited)
                if k < longest:
                    yield "delay_is_one", t, implies(x.Q.at_least(t, k + 1), x.Q.at_least(t, k))
                if self.delay is DelayMeasurement.CONSISTENT:
                    before = x.Q.at_least(t - 1, min(k, end - 1) if k < end else end)
                    grown = x.Q.at_least(t, min(k + 1, end))
                    yield "delay_grows_by_one_a_step", t, implies(grown, before)

    def _first_in_first_out(self, x):
        """Yield the laws of one shared queue: bytes sent after a step leave after all bytes sent before the step."""
        for t in range(1, x.horizon):
            for k in range(t):
                for flow in x.flows:
                    then = flow.A[t - k - 1] - (0 if self.delay is DelayMeasurement.PUBLISHED else flow.L[t - k - 1])
                    yield "shared_in_order", t, implies(x.Q.exactly(t, k), flow.S[t] > then)


def _in_order(x, left):
    """Yield the laws that the bytes of each flow leave in the order in which they arrived.

    The laws carry two statements over from all bytes to the bytes of each flow. First, if all bytes that left by t had
    arrived by u, then the same is true of each flow's bytes. Second, if all bytes that arrived by u have left by t,
    then the same is true of each flow's bytes.
    """
    for t in range(x.horizon):
        out = sum((column[t] for column in left[1:]), left[0][t])
        for u in range(t):
            for flow, column in zip(x.flows, left, strict=True):
                yield "leaves_in_order", t, implies(out <= x.admitted(u), column[t] <= flow.admitted(u))
                yield "leaves_in_order", t, implies(out >= x.admitted(u), column[t] >= flow.admitted(u))


def _is_whole(number, most):
    return type(number) is int and 1 <= number <= most


def _no_second_service(x):
    """Yield the law: after the step that serves the last initial byte, no step ends with a byte of the first step."""
    for t in range(1, x.horizon):
        again = every(x.S[t] > x.S[t - 1], x.admitted(0) < x.S[t - 1])
        yield "no_second_service_in_first_batch", t, implies(again, no(x.Q.exactly(t, t - 1)))


def _let(number):
    return Column(f"K{number}", BYTES, f"bytes of flow {number} that the link has released")


_WASTED = Column("W", BYTES, "tokens wasted")

MODEL = CCAC2021()
