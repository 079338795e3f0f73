"""Network models: the contract of a file in models/, and the laws that all models share."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from ccmatic.base import InputError, place_of, shown, suggest
from ccmatic.contracts.belief import Belief, RunningBound, StateBelief
from ccmatic.contracts.columns import (
    LAST,
    SHARED,
    TOKENS,
    Column,
    Delay,
    Laws,
    MeasuredDelay,
    Number,
    Observation,
    SenderBelief,
)
from ccmatic.contracts.program import TIMEOUT
from ccmatic.contracts.query import Exclusion, Parameter
from ccmatic.contracts.views import Bounds, FlowView, NetworkView
from ccmatic.logic import Condition, Term, Truth, either, equal, every, iff, implies, no, some


@dataclass(frozen=True)
class Law:
    """A named condition on a step. `str` returns the name of the law for reports."""

    model: str
    name: str
    t: int
    formula: Truth

    def __str__(self) -> str:
        return f"{self.model}.{self.name} at t={self.t}"


class Model:
    """A network model.

    A subclass defines `name`, `beliefs`, `default_jitter`, `columns`, and `network(x)`. The method `network` yields
    (law name, t, formula) for the model's own laws. A subclass may also define `timeouts(x)`.

    Attributes:
        name: The name of the model.
        beliefs: The beliefs of the model's senders.
        default_jitter: D in steps, for queries that set no D.
        variation: The factor γ. The link's rate varies between C and γ·C within a trace; γ = 1 means a constant rate.
        columns: The columns of executions in addition to A (sent), S (served), L (lost), Ld (detected losses) and r
            (rate). A column is TOKENS, a measured delay (LAST or FIRST) that the model reads, or a `Column` that
            belongs to this model only. Laws read such a Column as `x.NAME[t]`. A column that no law reads may have any
            values.
    """

    name: str
    beliefs: Sequence[Belief] = ()
    default_jitter: int = 1
    variation: Fraction | int = 1
    columns: Sequence[Column | MeasuredDelay] = (TOKENS, LAST)

    #: Whether senders detect a loss at the end of the step in which it happens. Otherwise they detect it one step
    #: later.
    sees_losses_at_once: bool = False

    #: Whether senders send by a window. Such senders decide by `observations` (by name, beliefs included), and
    #: `laws` also covers the senders and losses. `flows` is the number of flows. R is R_m in steps: one number for all
    #: flows, or one value per flow. `constants` names the numbers that the laws leave open.
    windows: bool = False
    observations: Mapping[str, Observation | SenderBelief] = MappingProxyType({})
    flows: int = 1
    R: int | tuple[int, ...] = 1
    constants: Sequence[str] = ()

    #: Whether waiting bytes may be lost, as on a link that drops from the head of its queue. Otherwise only arriving
    #: bytes are lost. Networks of a model with such losses have a finite buffer.
    loses_waiting: bool = False

    #: Whether bytes may be lost although the buffer has room. Networks of such a model have a finite buffer.
    loses_by_chance: bool = False

    #: The noun for the size β in descriptions of a network: a `buffer` of waiting bytes, or another store, such as a
    #: bucket of tokens. Only a buffer may be infinite.
    store: str = "buffer"

    #: A token-bucket policer in front of the bottleneck: the size of its bucket in C·R_m, and the rate of its tokens as
    #: a share of C. None if the network has no policer.
    policer: tuple[Fraction, Fraction] | None = None

    #: The threshold θ in C·step: the link marks a packet that arrives while more than θ bytes wait. None if the network
    #: marks no packets.
    threshold: Fraction | None = None

    #: Whether applications may pause. If so, the bytes that applications offer are an input of the network. A sender
    #: may then send less than its window and rate allow.
    pauses: bool = False

    #: The column with the time since the path changed, in steps; None if the path never changes. `least_horizon` is the
    #: least horizon that shows the change.
    since: str | None = None
    least_horizon: int = 0

    #: The parameters, by name, that a model's name may set, as in `ccac2021:flows=2`.
    parameters: Mapping[str, Parameter] = MappingProxyType({})

    #: The names of laws that also hold for steps which do not follow each other: for any steps of an execution in the
    #: order of time; some may be equal.
    far: Collection[str] = ()

    #: The number of earlier steps that the laws need, because columns do not record the whole past of some quantities.
    looks_back: int = 0

    def before_period(self, jitter: int) -> int:
        """Return the number of steps before the last period that a trace of a repeating execution needs.

        The running bounds of senders with a rate need two samples that differ by a period.
        """
        rounds = (self.round_trip(number) for number in range(1, self.flows + 1))
        return max(self.looks_back, jitter if self.windows else jitter + 2, *rounds)

    def with_parameters(self, texts: Mapping[str, str]) -> "Model":
        """Return this model with other values for some of its parameters.

        Args:
            texts: The values as users write them, by the names of the parameters.

        Raises:
            InputError: If a parameter does not exist, or does not accept its value.
        """
        for name in texts:
            if name not in self.parameters:
                has = f"; {suggest(name, self.parameters)}" if self.parameters else ""
                raise InputError(f"the model {self.name} has no parameter '{shown(name)}'{has}")
        fields = {self.parameters[name].field: self.parameters[name].value(name, text) for name, text in texts.items()}
        if len(fields) < len(texts):
            raise InputError(f"{' and '.join(texts)} of {self.name} set the same field; expected one of them")
        return replace(self, **fields) if is_dataclass(self) else type(self)(**fields)

    def with_threshold(self, threshold: Fraction) -> "Model":
        pauses = {"application": "pauses"} if self.pauses else {}
        return self.with_parameters({"threshold": str(threshold), **pauses})

    @property
    def full_name(self) -> str:
        """The name of the model for records, which includes the parameter for pauses."""
        return f"{self.name}{',' if ':' in self.name else ':'}application=pauses" if self.pauses else self.name

    def round_trip(self, number: int) -> int:
        """Return R_m of a flow in steps. `number` is the number of the flow, starting at 1."""
        return self.R if isinstance(self.R, int) else self.R[number - 1]

    def link_numbers(self, packet: int) -> tuple[int, ...]:
        """Return the whole numbers that the model's packets.h reads as `own`.

        The argument is the packet size in bytes.
        """
        return ()

    def constants_from(self, x: NetworkView, t: int) -> Mapping[str, Number]:
        """Return the constants that the laws leave open, for the part of `x` that begins at step t."""
        return x.constants

    def longest_delay(self, horizon: int, period: int | None = None) -> int:
        """Return the longest delay, in steps, that traces of window senders distinguish from longer delays."""
        return horizon

    def begun_anywhere(self) -> "Model":
        """Return the same network. Its traces may begin at any step of an execution.

        Window senders then count bytes from an origin before the trace.
        """
        return self

    @property
    def measures(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns if isinstance(column, MeasuredDelay))

    @property
    def own_columns(self) -> tuple[Column, ...]:
        return tuple(column for column in self.columns if isinstance(column, Column) and column != TOKENS)

    def declared(self) -> dict[str, Column | MeasuredDelay]:
        """Return every column of a trace except beliefs, by name. Each column has its unit and its text for legends."""
        return {column.name: column for column in (*SHARED, *self.columns)}

    def network(self, x: NetworkView) -> Laws:
        """Yield this network's own laws, as (law name, t, formula). The laws that all models share are not included."""
        raise NotImplementedError

    def tokens(self, x: NetworkView, t: int) -> Number:
        """Return the tokens that the link admitted by t. Traces of window senders have no column for tokens."""
        return x.K[t]

    def offered(self, x: NetworkView, t: int) -> Number:
        """Return the bytes that the link could have served by t."""
        return x.C * t

    def timeouts(self, x: FlowView) -> Iterable[tuple[str, Term]]:
        """Yield (name, term) for each belief that times out at the end of a window of a deployed controller.

        The term is the value after the timeout. The programs of the beliefs compute this value from `x.before_timeout`
        and the window's observations (section 5.1.2).
        """
        for belief in self.carried_over():
            program, function = belief.program, belief.name + TIMEOUT
            # Only the belief itself may be missing from x. If another belief that the timeout reads is missing, the
            # timeout cannot be checked, so raise KeyError.
            if program and function in program.definitions and belief.name in x.beliefs:
                yield belief.name, program.at(x, x.horizon - 1).value(function)

    def exclusions(self) -> Iterator[Exclusion]:
        """Yield the Exclusions of this network: executions that every query about the network omits."""
        yield Exclusion("packets", "MSS is C·R_m/5 or more")

    def laws(self, x: NetworkView) -> Iterator[Law]:
        """Yield every law of the network, the sender and the measured delays, but no law of the beliefs.

        Every execution satisfies each of these laws.
        """
        parts = [_path(x), _sender(x), _losses(self, x), self.network(x)]
        parts += [_measured_delay(self, x, name) for name in self.measures]
        for part in parts:
            yield from self._named(x, part)

    def assumptions(self, x: NetworkView) -> Iterator[Law]:
        """Yield the published model's laws that real executions may break (docs/reference/encoding.md, section 5)."""
        for name in self.measures:
            yield from self._named(x, _published_delay(x, name))

    def belief_laws(self, x: NetworkView, reads: Collection[str] | None = None) -> Iterator[Law]:
        """Yield the laws of the beliefs in `reads` (None means all) and of those that they read.

        Where `x.bounds` is STAY, running bounds have their frozen encoding.
        """
        encoded = {belief.name for belief in self.beliefs} if reads is None else self.closure(reads)
        for belief in self.beliefs:
            if belief.name not in encoded:
                continue
            yield from self._named(x, belief.initial(x))
            if isinstance(belief, RunningBound):
                yield from self._named(x, belief.frozen(x) if x.bounds is Bounds.STAY else belief.moving(x))
            else:
                yield from self._named(x, belief.laws(x))
        if x.bounds is Bounds.DEPLOYED:
            yield from self._named(x, self._after_timeouts(x, encoded))

    def _after_timeouts(self, x: NetworkView, encoded: Collection[str]) -> Laws:
        names = [belief.name for belief in self.carried_over() if belief.name in encoded]
        after = dict(self.timeouts(x)) if names else {}
        for name in names:
            end = after.get(name, x.before_timeout[name][x.horizon - 1])
            yield f"{name}_after_timeout", x.horizon - 1, equal(x.beliefs[name][x.horizon - 1], end)

    def closure(self, names: Iterable[str]) -> set[str]:
        """Return the given names and the names of the beliefs that their laws read, directly or indirectly."""
        named, left = set[str](), set(names)
        while left:
            named |= left
            left = {name for each in self.beliefs if each.name in left for name in each.reads} - named
        return named

    def bounds(self) -> list[RunningBound]:
        return [belief for belief in self.beliefs if isinstance(belief, RunningBound)]

    def true_states(self) -> list[StateBelief]:
        return [each for each in self.beliefs if isinstance(each, StateBelief) and each.holds_at]

    def carried_over(self) -> list[Belief]:
        """Return the beliefs whose values carry over from earlier windows, so that they can be false."""
        return [*self.bounds(), *self.true_states()]

    def _named(self, x: NetworkView, part: Laws) -> Iterator[Law]:
        if not hasattr(part, "__iter__"):
            raise self._malformed(part, f"laws are {part!r}")
        for law in part:
            if not (isinstance(law, tuple) and len(law) == 3):
                raise self._malformed(part, f"a law is {law!r}")
            named = Law(self.name, *law)
            if not isinstance(named.formula, (bool, Condition)):
                raise self._malformed(part, f"{named} is {named.formula!r}")
            if x.numeric and not isinstance(named.formula, bool):
                message = f"{named} reads unknowns that no trace has; expected those of the execution and its beliefs"
                raise InputError(message, *self._place(part))
            if named.formula is False and x.numeric is False and x.horizon > 1:
                raise InputError(
                    f"{named} is false on every trace, so the network has no execution", *self._place(part)
                )
            yield named

    def _malformed(self, part: object, problem: str) -> InputError:
        return InputError(f"{problem}; expected (law name, t, condition)", *self._place(part))

    def _place(self, part: object) -> tuple[str | None, int | None]:
        """Return the file and line of a part of the laws; the model's file for a part that ccmatic generates."""
        file, line = place_of(part)
        written = filter(None, (place_of(member)[0] for member in vars(type(self)).values()))
        return (file, line) if file else (next(written, None), None)


def _path(x: NetworkView) -> Laws:
    yield "packet_size", 0, every(x.alpha > 0, x.alpha < x.C / 5)
    yield "origin", 0, equal(x.S[0], 0)
    if x.beta is not None:
        yield from x.buffer.laws(x.beta, x.alpha)


def _sender(x: NetworkView) -> Laws:
    yield "sent_before", 0, x.A[0] >= 0
    yield "sends", 0, x.r[0] > 0
    for t in range(1, x.horizon):
        less = every(x.A[t] >= x.A[t - 1], x.A[t] <= x.A[t - 1] + x.r[t])
        sent = either(x.limited[t], less, equal(x.A[t], x.A[t - 1] + x.r[t]))
        yield "sends", t, every(x.r[t] >= x.alpha, sent)


def _losses(model: Model, x: NetworkView) -> Laws:
    if not x.buffer.finite:
        return
    yield "loss_detected", 0, every(x.Ld[0] >= 0, x.Ld[0] <= x.L[0])
    for t in range(1, x.horizon):
        yield "loss_grows", t, x.L[t] >= x.L[t - 1]
        if not model.loses_waiting:
            yield "loss_is_of_new_bytes", t, x.admitted(t) >= x.admitted(t - 1)


def overflow(x: NetworkView, drained: Sequence[Number]) -> Laws:
    """Yield the laws of a finite buffer that loses the bytes for which it has no space.

    `drained` has the cumulative bytes that have left the buffer by each step t.
    """
    if x.beta is None:
        return
    full = [drained[t] + x.beta for t in range(x.horizon)]
    yield "fits_at_first", 0, x.admitted(0) <= full[0]
    recent = every(x.L[0] > x.Ld[0], no(x.limited[0]))
    yield "recent_loss_means_full", 0, implies(recent, equal(x.admitted(0), full[0]))
    for t in range(1, x.horizon):
        overfull = x.A[t] - x.L[t - 1] > full[t]
        filled = either(x.limited[t], x.admitted(t) <= full[t], equal(x.admitted(t), full[t]))
        yield "overflow_is_lost", t, implies(overfull, filled)
        overfull = some(overfull, every(x.limited[t], x.A[t] - x.L[t - 1] > full[t - 1]))
        yield "only_overflow_is_lost", t, implies(no(overfull), equal(x.L[t], x.L[t - 1]))


def _measured_delay(model: Model, x: NetworkView, name: str) -> Laws:
    """Yield the laws of the last (`Q`) or first (`F`) served byte's delay (docs/reference/encoding.md, section 5).

    If waiting bytes may be lost, a byte sent in time may not be delivered. The condition then splits into two
    implications.
    """
    delay: Delay = getattr(x, name)
    longest = max(x.horizon, delay.most_measured)
    for t in range(x.horizon):
        for k in range(1, longest):
            yield f"{name}_is_one_delay", t, implies(delay.at_least(t, k + 1), delay.at_least(t, k))
        if x.beta is not None:
            for k in range(1, longest + 1):
                # If the sender pauses, or chance loses its last bytes, the last byte may be served long before t.
                most = x.beta / x.C + x.D + int(name == "F" or model.pauses or model.loses_by_chance)
                yield f"{name}_fits_buffer", t, implies(delay.at_least(t, k), most >= k)
    for t in range(1, x.horizon):
        served = x.S[t] > x.S[t - 1]
        for k in range(1, longest + 1):
            stays = iff(delay.at_least(t, k), delay.at_least(t - 1, k))
            yield f"{name}_stays_unless_served", t, implies(no(served), stays)
        for k in range(1, t + 1):
            through = x.admitted(t - k)
            waited = x.S[t] <= through if name == "Q" else x.S[t - 1] < through
            if model.loses_waiting:
                yield f"{name}_is_time_since_sent", t, implies(served, implies(delay.at_least(t, k), waited))
                # Waiting bytes may be lost, so only bytes that are not yet lost at t may still be delivered.
                through = x.A[t - k] - x.L[t]
                waited = x.S[t] <= through if name == "Q" else x.S[t - 1] < through
                yield f"{name}_is_time_since_sent", t, implies(served, implies(waited, delay.at_least(t, k)))
            else:
                yield f"{name}_is_time_since_sent", t, implies(served, iff(delay.at_least(t, k), waited))
        yield from _delay_growth(x, name, delay, t, longest)


def _delay_growth(x: NetworkView, name: str, delay: Delay, t: int, longest: int) -> Laws:
    """Yield the laws of service in order: the link serves bytes in the order in which they were sent.

    The link serves bytes at least once every D + 1 steps. So the delay that the sender knows at t = 0 may be D steps
    old.
    """
    for back in range(1, t + 1):
        served_then = x.S[t - back] > x.S[t - back - 1] if back < t else True
        stale = 0 if back < t else x.D
        for k in range(1, longest - back - stale + 1):
            grown = implies(delay.at_least(t, k + back + stale), delay.at_least(t - back, k))
            yield f"{name}_grows_with_time", t, implies(served_then, grown)


def _published_delay(x: NetworkView, name: str) -> Laws:
    """Yield the additional laws about delays in the published model.

    In the published model, the measured delay grows by at most one step per step, and the buffer limits the first
    byte's delay, too. Executions that contain a step without service break both laws.
    """
    delay: Delay = getattr(x, name)
    longest = max(x.horizon, delay.most_measured)
    for t in range(x.horizon):
        for k in range(1, longest + 1):
            if t and k < longest:
                grown = implies(delay.at_least(t, k + 1), delay.at_least(t - 1, k))
                yield f"{name}_grows_by_one_a_step", t, grown
            if name == "F" and x.beta is not None:
                yield "F_fits_buffer_at_once", t, implies(delay.at_least(t, k), x.beta / x.C + x.D >= k)
