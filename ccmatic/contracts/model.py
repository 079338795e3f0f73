"""Network models: the contract that a file in models/ fills, and the laws that all of them share."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, is_dataclass, replace
from fractions import Fraction
from types import MappingProxyType

from ccmatic.base import InputError, place_of, shown, suggest
from ccmatic.contracts.belief import Belief, RunningBound, StateBelief
from ccmatic.contracts.column import LAST, SHARED, TOKENS, Column, MeasuredDelay, Observation, SenderBelief
from ccmatic.contracts.exclusion import Exclusion
from ccmatic.contracts.parameter import Parameter
from ccmatic.contracts.program import TIMEOUT
from ccmatic.contracts.steps import Delay, Laws, Number
from ccmatic.contracts.views import Bounds, FlowView, NetworkView
from ccmatic.logic import Condition, Term, Truth, either, equal, every, iff, implies, no, some


@dataclass(frozen=True)
class Law:
    """One named condition at one step; `str` gives the name that reports use."""

    model: str
    name: str
    t: int
    formula: Truth

    def __str__(self) -> str:
        return f"{self.model}.{self.name} at t={self.t}"


class Model:
    """A network model. A subclass gives `name`, `beliefs`, `default_jitter`, `network(x)`, which yields (law name, t,
    formula) for its own part, `timeouts(x)` and `columns`.

    variation: γ; the link's rate moves between C and γ·C within a trace; 1: it is constant.
    columns: what its executions have besides A, S, L, Ld and r. TOKENS; of LAST and FIRST the delays that it reads;
    and any `Column`s of its own, which its laws read as `x.NAME[t]`, and without laws may be any numbers."""

    name: str
    beliefs: Sequence[Belief] = ()
    default_jitter: int = 1
    variation: Fraction | int = 1
    columns: Sequence[Column | MeasuredDelay] = (TOKENS, LAST)

    #: Whether senders know of a loss at the end of the step in which it happens; else a step later.
    sees_losses_at_once: bool = False

    #: Whether senders send by a window, and decide by `observations` and by beliefs among them, by name: then `laws`
    #: says all of senders and of losses too. There are `flows` of them; R_m is R steps, of all or of each; `constants`
    #: are numbers that the laws leave open, by name.
    windows: bool = False
    observations: Mapping[str, Observation | SenderBelief] = MappingProxyType({})
    flows: int = 1
    R: int | tuple[int, ...] = 1
    constants: Sequence[str] = ()

    #: Whether bytes that wait may be lost, as by a link that drops the head of its queue; else only bytes that arrive
    #: are lost. Networks of such a model have a finite buffer.
    loses_waiting: bool = False

    #: What names may set, as in `ccac2021:flows=2`, by the parameter's name.
    parameters: Mapping[str, Parameter] = MappingProxyType({})

    #: How many steps back its laws look that are not all in its columns.
    looks_back: int = 0

    def with_parameters(self, texts: Mapping[str, str]) -> "Model":
        """Return this model with other values of parameters.

        Args:
            texts: values as people write them, by the parameter's name.

        Raises:
            InputError: there is no such parameter, or no such value of it.
        """
        for name in texts:
            if name not in self.parameters:
                has = f"; {suggest(name, self.parameters)}" if self.parameters else ""
                raise InputError(f"the model {self.name} has no parameter '{shown(name)}'{has}")
        fields = {self.parameters[name].field: self.parameters[name].value(name, text) for name, text in texts.items()}
        if len(fields) < len(texts):
            raise InputError(f"{' and '.join(texts)} of {self.name} set the same; expected one of them")
        return replace(self, **fields) if is_dataclass(self) else type(self)(**fields)

    def round_trip(self, number: int) -> int:
        """R_m of a flow, by its number from 1, in steps."""
        return self.R if isinstance(self.R, int) else self.R[number - 1]

    def constants_from(self, x: NetworkView, t: int) -> Mapping[str, Number]:
        """The numbers that its laws leave open, of the same execution looked at from step t on."""
        return x.constants

    def longest_delay(self, horizon: int, period: int | None = None) -> int:
        """Up to how many steps traces of so many steps tell measured delays apart, of senders by a window.

        period: as of a view."""
        return horizon

    def begun_anywhere(self) -> "Model":
        """The same network, whose traces may begin at any step of an execution. Senders by a window count bytes on."""
        return self

    @property
    def measures(self) -> tuple[str, ...]:
        """Names of the measured delays."""
        return tuple(column.name for column in self.columns if isinstance(column, MeasuredDelay))

    @property
    def own_columns(self) -> tuple[Column, ...]:
        """The columns that this model adds to those that ccmatic knows."""
        return tuple(column for column in self.columns if isinstance(column, Column) and column != TOKENS)

    def declared(self) -> dict[str, Column | MeasuredDelay]:
        """Every column of a trace but beliefs, by name: its unit, and what it says, for legends."""
        return {column.name: column for column in (*SHARED, *self.columns)}

    def network(self, x: NetworkView) -> Laws:
        """Yield the laws of this network, beyond what all of them share: (law name, t, formula). x: a NetworkView."""
        raise NotImplementedError

    def tokens(self, x: NetworkView, t: int) -> Number:
        """Tokens admitted by t; traces of windows have no column of them."""
        return x.K[t]

    def offered(self, x: NetworkView, t: int) -> Number:
        """What the link could have served by t."""
        return x.C * t

    def timeouts(self, x: FlowView) -> Iterable[tuple[str, Term]]:
        """(name, term) for each belief that times out at the end of a window of a deployed controller: its value after
        that, of `x.before_timeout` and the window's observations (section 5.1.2); as the beliefs' programs say."""
        for belief in self.carried_over():
            program, function = belief.program, belief.name + TIMEOUT
            # Another belief that a timeout reads must be there: without it the timeout is not known to be kept.
            if program and function in program.definitions and belief.name in x.beliefs:
                yield belief.name, program.at(x, x.horizon - 1).value(function)

    def exclusions(self) -> Iterator[Exclusion]:
        """Yield what every question about this network leaves out."""
        yield Exclusion("packets", "MSS is C·R_m/5 or more")

    def laws(self, x: NetworkView) -> Iterator[Law]:
        """Every law of the network, the sender and the measured delays; not of the beliefs. Each is true of
        every execution."""
        parts = [_path(x), _sender(x), _losses(self, x), self.network(x)]
        parts += [_measured_delay(self, x, name) for name in self.measures]
        for part in parts:
            yield from self._named(x, part)

    def assumptions(self, x: NetworkView) -> Iterator[Law]:
        """Laws of the published model that some executions break (docs/encoding.md, section 5)."""
        for name in self.measures:
            yield from self._named(x, _published_delay(x, name))

    def belief_laws(self, x: NetworkView, reads: Collection[str] | None = None) -> Iterator[Law]:
        """The laws of the beliefs named in `reads` (and what they read), or of all: bounds frozen where `x` is."""
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
        """Names of the beliefs named, and of those that their laws read, directly or not."""
        named = set(names)
        return named.union(*(state.reads for state in self._states() if state.name in named))

    def bounds(self) -> list[RunningBound]:
        """The beliefs that are running bounds."""
        return [belief for belief in self.beliefs if isinstance(belief, RunningBound)]

    def true_states(self) -> list[StateBelief]:
        """The other beliefs that can be true or false of the path."""
        return [state for state in self._states() if state.holds_at]

    def carried_over(self) -> list[Belief]:
        """The beliefs that carry over from what was observed before: those that can be false."""
        return [*self.bounds(), *self.true_states()]

    def _states(self) -> list[StateBelief]:
        return [belief for belief in self.beliefs if isinstance(belief, StateBelief)]

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
                raise InputError(f"{named} is false on every trace, so that nothing could break", *self._place(part))
            yield named

    def _malformed(self, part: object, problem: str) -> InputError:
        return InputError(f"{problem}; expected (law name, t, condition)", *self._place(part))

    def _place(self, part: object) -> tuple[str | None, int | None]:
        """Where a part was written; if ccmatic made it of what the model gives, the model."""
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
    """Yield the laws of a finite buffer: what does not fit is lost. drained: cumulative bytes that left it, each t."""
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
    """docs/encoding.md, section 5, for the last (`Q`) or first (`F`) byte served."""
    delay: Delay = getattr(x, name)
    longest = max(x.horizon, delay.most_measured)
    for t in range(x.horizon):
        for k in range(1, longest):
            yield f"{name}_is_one_delay", t, implies(delay.at_least(t, k + 1), delay.at_least(t, k))
        if x.beta is not None:
            for k in range(1, longest + 1):
                most = x.beta / x.C + x.D + int(name == "F")
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
                # Of the bytes sent by then, those may still get through that are not lost by t.
                through = x.A[t - k] - x.L[t]
                waited = x.S[t] <= through if name == "Q" else x.S[t - 1] < through
                yield f"{name}_is_time_since_sent", t, implies(served, implies(waited, delay.at_least(t, k)))
            else:
                yield f"{name}_is_time_since_sent", t, implies(served, iff(delay.at_least(t, k), waited))
        yield from _delay_growth(x, name, delay, t, longest)


def _delay_growth(x: NetworkView, name: str, delay: Delay, t: int, longest: int) -> Laws:
    """Bytes are served in order: one served at t was not sent before one served at an earlier step. Service
    comes at least every D + 1 steps, so the delay known at t = 0 may be D steps old."""
    for back in range(1, t + 1):
        served_then = x.S[t - back] > x.S[t - back - 1] if back < t else True
        stale = 0 if back < t else x.D
        for k in range(1, longest - back - stale + 1):
            grown = implies(delay.at_least(t, k + back + stale), delay.at_least(t - back, k))
            yield f"{name}_grows_with_time", t, implies(served_then, grown)


def _published_delay(x: NetworkView, name: str) -> Laws:
    """What the published model says more: the measured delay grows by at most one step a step, and the first
    byte's, too, fits the buffer. Executions in which a step passes without any service break both."""
    delay: Delay = getattr(x, name)
    longest = max(x.horizon, delay.most_measured)
    for t in range(x.horizon):
        for k in range(1, longest + 1):
            if t and k < longest:
                grown = implies(delay.at_least(t, k + 1), delay.at_least(t - 1, k))
                yield f"{name}_grows_by_one_a_step", t, grown
            if name == "F" and x.beta is not None:
                yield "F_fits_buffer_at_once", t, implies(delay.at_least(t, k), x.beta / x.C + x.D >= k)
