"""The network of CCAC's published tool: senders with windows, losses that they find out about, waste, several flows.

V. Arun, M. Arashloo, A. Saeed, M. Alizadeh, H. Balakrishnan, "Toward Formally Verifying Congestion Control Behavior",
SIGCOMM 2021, and its tool, venkatarun95/ccac at 229d398. docs/stateful.md has the equations, with what is odd in them.
"""

from dataclasses import dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from ccmatic.models.beliefs.beside_others import BESIDE_OTHERS
from ccmatic.models.beliefs.link_rate import SENDER_C_L, SENDER_C_U
from ccmatic.models.beliefs.queueing_delay import SENDER_QUEUEING_DELAY
from ccmatic.models.window_sender import LONGEST, found_losses, observations, senders

from ccmatic.base import InputError
from ccmatic.contracts import BYTES, LAST, Column, Exclusion, Model, choice, number, whole
from ccmatic.logic import either, equal, every, iff, implies, no

#: What each law may be. The first is the published tool's default.
CHOICES = {
    "waste": ("composing", "non-composing", "constant rate"),
    "slack": ("none", "less than a packet", "less than half a packet", "more than a packet"),
    "detection": ("duplicate acknowledgements", "oracle"),
    "timer": ("published", "of losses not found"),
    "loss": ("free", "deterministic"),
    "delay": ("published", "consistent", "open at first", "not measured", "each flow's own"),
    "jitter": ("of the link", "each flow's own"),
    "begins": ("at origin", "anywhere"),
    "before": ("admitted", "sent"),
}


#: What a name may set, as in `ccac2021:flows=2,composing=no`.
PARAMETERS = {
    "flows": whole("flows"),
    "R": whole("R"),
    "D": whole("default_jitter"),
    "composing": choice("waste", {"yes": "composing", "no": "non-composing"}),
    "waste": choice(
        "waste", {"composing": "composing", "non-composing": "non-composing", "constant-rate": "constant rate"}
    ),
    "detection": choice("detection", {"dupacks": "duplicate acknowledgements", "oracle": "oracle"}),
    "timer": choice("timer", {"published": "published", "executions": "of losses not found"}),
    "loss": choice("loss", {"free": "free", "deterministic": "deterministic"}),
    "delay": choice(
        "delay",
        {
            "published": "published",
            "consistent": "consistent",
            "open": "open at first",
            "none": "not measured",
            "own": "each flow's own",
        },
    ),
    "jitter": choice("jitter", {"link": "of the link", "own": "each flow's own"}),
    "begins": choice("begins", {"origin": "at origin", "anywhere": "anywhere"}),
    "most_queue": number("most_queue"),
}


@dataclass(frozen=True)
class CCAC2021(Model):
    """A path whose laws are chosen.

    flows: how many senders. R: R_m, in steps; of several flows, that of all, or of each. waste: tokens are wasted where
    no more was admitted than there are tokens (composing), or than is served (non-composing), but for a slack; of a
    link of constant rate, all that are not used at once.
    detection: of losses. dupacks: bytes that must be acknowledged beyond a lost one, in packets; None leaves it open.
    timer: fires whenever the queue is empty after any loss ever, and then nothing is lost (published); or where it is
    and a loss is not found.
    loss: of what does not fit, the network may lose what it likes, or loses all of it at once. most_queue: the most
    bytes that wait, if not the buffer's; "any" is no limit. delay: how the delay of what was served is measured; each
    flow's own: of its own bytes, and all leave in the order in which they came; open at first: of what was there at
    first it may be any, also longer than the trace, or not known. jitter: whether it delays all alike, or each flow in
    a box of its own, behind a link of constant rate. begins: whether service is counted from 0, with no more tokens
    than come at the link rate. before: what counts as older than the trace, for a sender that cannot know its delay.
    default_jitter: D, in steps, unless a query says another.
    """

    name = "ccac2021"
    windows = True
    parameters = MappingProxyType(PARAMETERS)
    flows: int = 1
    R: int | tuple[int, ...] = 1
    waste: str = "composing"
    slack: str = "none"
    detection: str = "duplicate acknowledgements"
    timer: str = "published"
    dupacks: Fraction | None = Fraction(3)
    loss: str = "free"
    most_queue: Fraction | str | None = None
    delay: str = "published"
    jitter: str = "of the link"
    begins: str = "at origin"
    before: str = "admitted"
    default_jitter: int = 1

    def __post_init__(self):
        for name, choices in CHOICES.items():
            if getattr(self, name) not in choices:
                raise InputError(f"{name} is {getattr(self, name)!r}; expected one of {', '.join(choices)}")
        if self._own_boxes and (self.waste, self.delay) != ("constant rate", "each flow's own"):
            found = f"each flow has jitter of its own where waste is {self.waste!r} and delay is {self.delay!r}"
            raise InputError(f"{found}; expected 'constant rate' and \"each flow's own\"")
        if not _is_whole(self.flows, 8):
            raise InputError(f"flows is {self.flows!r}; expected a whole number from 1 to 8")
        each = self.R if isinstance(self.R, tuple) else (self.R,) * self.flows
        if len(each) != self.flows or not all(_is_whole(R, 100) for R in each):
            of = "" if self.flows == 1 else f", or a tuple of {self.flows}, one for each flow"
            raise InputError(f"R is {self.R!r}; expected a whole number of steps from 1 to 100{of}")

    @property
    def observations(self):
        """What its senders may read, by name: what they observe and what they believe."""
        own = self.delay == "each flow's own"
        by_delay = (SENDER_C_U, *SENDER_QUEUEING_DELAY) if self.delay != "not measured" else ()
        beliefs = (SENDER_C_L, *by_delay, *(BESIDE_OTHERS if own else ()))
        return observations(self.before, own) | {belief.name: belief for belief in beliefs}

    @property
    def columns(self):
        """Wasted tokens, what duplicate acknowledgements find, and the delay where it is measured."""
        numbers = range(1, self.flows + 1)
        boxes = map(_let, numbers) if self._own_boxes else ()
        finds = [found_losses(self.flows, number) for number in numbers] if self.timer != "published" else ()
        measured = self.delay in ("published", "consistent", "open at first")
        return (_WASTED, *boxes, *finds, *((LAST,) if measured else ()))

    @property
    def _own_boxes(self):
        return self.jitter == "each flow's own"

    @property
    def constants(self):
        """Numbers that its laws leave open."""
        open_ones = {
            "dupacks": self.dupacks is None and self.detection != "oracle",
            "epsilon": self.waste == "non-composing" and self.slack != "none",
            "tokens_at_first": self.begins == "anywhere",
        }
        return tuple(name for name, is_open in open_ones.items() if is_open)

    def constants_from(self, x, t):
        """As its base; tokens are counted from another step."""
        if self.begins == "at origin":
            return x.constants
        return {**x.constants, "tokens_at_first": x.constants["tokens_at_first"] + x.C * t}

    def longest_delay(self, horizon, period=None):
        """Where delays are open at first, those of up to twice the horizon: `_delays` says how."""
        if self.delay != "open at first":
            return horizon
        return max(2 * horizon, LONGEST + 1 if period else 0) + 1

    def begun_anywhere(self):
        """Not at the origin, from which bytes are counted."""
        return replace(self, begins="anywhere")

    def laws(self, x):
        """Every law; of the beliefs there are none."""
        yield from self._named(x, self.network(x))
        for flow in x.flows:
            yield from self._named(x, senders(self, x, flow))

    def exclusions(self):
        """What the published laws leave out."""
        parts = ["timeouts"] if self.timer == "published" else []
        parts += ["delays"] if self.delay in ("published", "consistent") else []
        parts += ["counts of bytes at first"] if self.begins == "at origin" else []
        if parts:
            yield Exclusion("published laws", f"{' and '.join(parts)} are not the published ones (docs/stateful.md)")
        if self.flows > 1 and self.delay in ("published", "consistent"):
            yield Exclusion("published laws", "a flow sends nothing while another is served")

    def assumptions(self, x):
        """None: the published delay is a law."""
        return ()

    def belief_laws(self, x, reads=None):
        """What the published model says more where delay is read: see docs/stateful.md."""
        if self.delay == "published" and ("delay" in (reads or ()) or self.flows > 1):
            yield from self._named(x, _no_second_service(x))

    def network(self, x):
        """Tokens, service, waste, losses, and how flows share."""
        yield "packet_size", 0, x.alpha > 0
        yield from self._service(x)
        yield from self._waste(x)
        yield from self._losses(x)
        own = self.delay == "each flow's own"
        if x.Q is not None:
            yield from self._delays(x)
        if self._own_boxes:
            yield from self._boxes(x)
            yield from _in_order(x, self.let(x))
        elif self.flows > 1:
            yield from _in_order(x, [flow.S for flow in x.flows]) if own else self._first_in_first_out(x)

    def tokens(self, x, t):
        """Those that came by t and were not wasted."""
        first = x.constants["tokens_at_first"] if self.begins == "anywhere" else 0
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
            if t and self.begins == "anywhere":
                yield "waste_is_of_what_comes", t, tokens >= self.tokens(x, t - 1)

    def let(self, x):
        """Of each flow, what the link has let through into the box that delays it."""
        return [x.own[_let(number).name] for number in range(1, self.flows + 1)] if self._own_boxes else []

    def _boxes(self, x):
        """All that has a token is let through, into its flow's box, and leaves that within D."""
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
            packet = x.alpha / 2 if "half" in self.slack else x.alpha
            yield "slack", 0, epsilon > packet if "more" in self.slack else epsilon < packet
        for t in range(1, x.horizon):
            most = x.S[t] + epsilon if self.waste == "non-composing" else self.tokens(x, t)
            yield "no_waste_while_queued", t, implies(x.W[t] > x.W[t - 1], x.admitted(t) <= most)
        for t in range(x.horizon) if self.waste == "constant rate" else ():
            yield "no_token_is_kept", t, self.tokens(x, t) <= x.admitted(t)

    def _losses(self, x):
        buffer = x.beta
        if x.buffer.kind in ("any", "at least"):
            yield "buffer", 0, buffer >= (x.buffer.size or 0)
        for t in range(1, x.horizon):
            tokens = self.tokens(x, t)
            if buffer is None:
                yield "no_loss", t, every([equal(flow.L[t], flow.L[0]) for flow in x.flows])
            elif self.loss == "deterministic":
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
        """`x.Q`: whole steps; the horizon T where it is not known, as the bytes served were there at first.

        A delay of T steps or more that the sender knows, as open at first, is one more than its steps.
        """
        end, longest = x.horizon, x.Q.longest
        for k in range(1, longest):
            yield "delay_is_one", 0, implies(x.Q.at_least(0, k + 1), x.Q.at_least(0, k))
        if self.delay == "published":
            yield "delay_is_unknown_at_first", 0, x.Q.at_least(0, end)
        for t in range(1, end):
            served = x.S[t] > x.S[t - 1]
            known = end if self.delay == "published" else t
            for k in range(1, longest + 1):
                stays = iff(x.Q.at_least(t, k), x.Q.at_least(t - 1, k))
                yield "delay_stays_unless_served", t, implies(no(served), stays)
                if k <= known:
                    waited = iff(x.Q.at_least(t, k), x.S[t] <= x.admitted(max(t - k, 0)))
                    yield "delay_is_time_since_sent", t, implies(served, waited)
                if k < longest:
                    yield "delay_is_one", t, implies(x.Q.at_least(t, k + 1), x.Q.at_least(t, k))
                if self.delay == "consistent":
                    before = x.Q.at_least(t - 1, min(k, end - 1) if k < end else end)
                    grown = x.Q.at_least(t, min(k + 1, end))
                    yield "delay_grows_by_one_a_step", t, implies(grown, before)

    def _first_in_first_out(self, x):
        """Where bytes leave that were sent after a step, all that was sent before it has left."""
        for t in range(1, x.horizon):
            for k in range(t):
                for flow in x.flows:
                    then = flow.A[t - k - 1] - (0 if self.delay == "published" else flow.L[t - k - 1])
                    yield "shared_in_order", t, implies(x.Q.exactly(t, k), flow.S[t] > then)


def _in_order(x, left):
    """What has left, of each flow, is what came first: where all that left by t had come by u, so had each flow's, and
    where all that came by u has left, so has each flow's."""
    for t in range(x.horizon):
        out = sum((column[t] for column in left[1:]), left[0][t])
        for u in range(t):
            for flow, column in zip(x.flows, left, strict=True):
                yield "leaves_in_order", t, implies(out <= x.admitted(u), column[t] <= flow.admitted(u))
                yield "leaves_in_order", t, implies(out >= x.admitted(u), column[t] >= flow.admitted(u))


def _is_whole(number, most):
    return type(number) is int and 1 <= number <= most


def _no_second_service(x):
    """Once service has passed what was there at first, none ends within what was sent in the first step."""
    for t in range(1, x.horizon):
        again = every(x.S[t] > x.S[t - 1], x.admitted(0) < x.S[t - 1])
        yield "no_second_service_in_first_batch", t, implies(again, no(x.Q.exactly(t, t - 1)))


def _let(number):
    return Column(f"K{number}", BYTES, f"bytes of flow {number} that the link has let through")


_WASTED = Column("W", BYTES, "tokens wasted")

MODEL = CCAC2021()
