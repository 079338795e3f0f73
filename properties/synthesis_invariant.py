"""The synthesis invariant (Eq. 5.3 of the paper; docs/reference/encoding.md, section 7)."""

from dataclasses import dataclass, field
from fractions import Fraction

from ccmatic.properties.performance import bdp

from ccmatic.base import counted
from ccmatic.contracts import AllOf, AnyOf, AtMost, Bounds, Compared, Fails, Implied, Property, Stated, WayToFail, share
from ccmatic.logic import constant, every, no, some

#: The first step whose rate the controller sets.
FIRST = 1

#: The unit of bytes in reports.
BYTES = "C·R_m"


@dataclass(frozen=True)
class SynthesisInvariant(Property):
    """True beliefs stay true, and either the bounds shrink or each steady-state objective is met or approached.

    Attributes:
        utilisation: The smallest share of the link's capacity that the sender must use.
        inflight_rates: The bound on the bytes in flight: this factor times C·(R_m + D), plus the bytes of
            `inflight_packets` packets.
        inflight_packets: The packets that may be in flight in addition.
        loss_steps: The largest share of the decided steps that may have losses; one further step is allowed.
        loss_rates: The bound on all losses together: this factor times C·(R_m + D) bytes for each step that may have
            losses, plus one large loss.
        large_loss: The threshold of a large loss: a loss in one step that exceeds this factor times the number of
            decided steps, in packets.
        constrain_loss: The situations in which a large loss is forbidden even while the bounds shrink: `never`,
            `always`, or only with a `large-buffer`.
        large_buffer: The smallest buffer that counts as large, in C·(R_m + D). The paper prints 3, but the published
            tool uses 5. With 5, the search finds the paper's solutions.
    """

    name = "synthesis_invariant"

    utilisation: Fraction = share("1/2")
    inflight_rates: Fraction = Fraction(4)
    inflight_packets: Fraction = Fraction(3)
    loss_steps: Fraction = share("1/2")
    loss_rates: Fraction = Fraction(1)
    large_loss: Fraction = Fraction(1)
    constrain_loss: str = field(default="never", metadata={"choices": ("never", "always", "large-buffer")})
    large_buffer: Fraction = Fraction(5)

    def ways_to_fail(self, model, buffer):
        """Yield the ways to fail.

        The three ways to fail are: a belief turns false; no bound shrinks, and some objective is neither met nor
        approached; or a forbidden large loss happens.
        """
        bounds = tuple(bound.name for bound in model.bounds())
        states = tuple(state.name for state in model.true_states())
        yield WayToFail("beliefs turn false", lambda x: _inconsistent(model, x), any_rates=True, reads=states)
        yield WayToFail("no progress", self._without_progress, bounds=Bounds.STAY, reads=bounds)
        if buffer.finite and self.constrain_loss != "never":
            yield WayToFail(
                "large loss",
                lambda x: every(self._loss_matters(x).condition, no(self._small_loss_or_down(x).condition)),
                bounds=Bounds.HOLD,
            )

    def objectives(self, model, x):
        """Return the conditions of Eq. 5.3 by name.

        The condition of an objective states that it is met or approached.
        """
        return {name: reason.condition for name, reason in self.reasons(model, x).items()}

    def reasons(self, model, x):
        """Return the conditions of `objectives` with the numbers that decide them."""
        parts = {"beliefs stay true": Fails(_inconsistent_at_end(model, x)), "bounds shrink": _shrinks(model, x)}
        parts.update(self.necessary(x))
        if x.buffer.finite and self.constrain_loss != "never":
            parts["small losses, or backs off"] = Implied(self._loss_matters(x), self._small_loss_or_down(x))
        return parts

    def holds(self, objectives):
        """Return whether the property holds, from the truth of each condition in `objectives`."""
        truth = dict(objectives)
        return (
            truth.pop("beliefs stay true")
            and truth.pop("small losses, or backs off", True)
            and (truth.pop("bounds shrink") or all(truth.values()))
        )

    def necessary(self, x):
        """Return, for each objective by name, the condition that the objective is met or approached."""
        up, down = _up(x), _down(x)
        end = x.horizon - 1
        parts = {
            "utilises the link, or speeds up": AnyOf((self._used(x), up)),
            "bounds inflight, or backs off": AnyOf((self._inflight(x), down)),
        }
        if x.buffer.finite:
            allowed = self.loss_steps * end + 1
            lost = Compared(
                f"lost from t = {FIRST} to {end}",
                x.L[end] - x.L[FIRST],
                "<=",
                allowed * self.loss_rates * bdp(x) + self._large(x),
                BYTES,
            )
            seldom = _at_most(allowed, _loss_steps(x))
            parts["loses seldom, or backs off"] = AnyOf((seldom, down))
            parts["loses little at once, or backs off"] = AnyOf((Fails(self._large_loss(x)), down))
            parts["loses little in all, or backs off"] = AnyOf((lost, down))
        return parts

    def _without_progress(self, x):
        return no(every([reason.condition for reason in self.necessary(x).values()]))

    def _used(self, x):
        end, begin = x.horizon - 1, FIRST - 1
        return Compared(
            f"served from t = {begin} to {end}",
            x.S[end] - x.S[begin],
            ">=",
            self.utilisation * x.C * (end - begin - x.D),
            BYTES,
            f"{self.utilisation} of what the link carries in {end - begin - x.D} R_m",
        )

    def _inflight(self, x):
        most = self.inflight_rates * bdp(x) + self.inflight_packets * x.alpha
        of = f"{self.inflight_rates}·C·(R_m + D) + {self.inflight_packets}·MSS"
        steps = range(FIRST, x.horizon)
        return AllOf(tuple(Compared("inflight", x.inflight(t), "<=", most, BYTES, of, step=t) for t in steps))

    def _large(self, x):
        return self.large_loss * (x.horizon - 1) * x.alpha

    def _large_loss(self, x):
        most, of = self._large(x), f"{self.large_loss}·MSS for each of {counted(x.horizon - 1, 'step')}"
        steps = range(FIRST, x.horizon)
        return AnyOf(tuple(Compared("lost in the step", _lost(x, t), ">", most, BYTES, of, step=t) for t in steps))

    def _small_loss_or_down(self, x):
        return AnyOf((Fails(self._large_loss(x)), _down(x)))

    def _loss_matters(self, x):
        if self.constrain_loss == "large-buffer":
            large = self.large_buffer * bdp(x)
            return Compared("the buffer", x.beta, ">=", large, BYTES, f"{self.large_buffer}·C·(R_m + D), a large one")
        return Stated("a large loss is never excused", constant(self.constrain_loss == "always"))


def _up(x):
    return _changed(x, ">")


def _down(x):
    return _changed(x, "<")


def _changed(x, relation):
    """Return the condition that rate, bytes in flight or queue grow (or shrink) after the first decision."""
    end = x.horizon - 1
    return AnyOf(
        (
            Compared("the rate", x.r[end], relation, x.r[FIRST], "C", since=FIRST),
            Compared("inflight", x.inflight(end), relation, x.inflight(FIRST), BYTES, since=FIRST),
            Compared("the queue", x.queue(end), relation, x.queue(FIRST), BYTES, since=FIRST),
        )
    )


def _inconsistent(model, x):
    """Return the condition that a sample contradicts the path, or that a belief in the state is false at the end."""
    false_states = [state.condition for state in _false_states(model, x)]
    return some([bound.false_sample(x) for bound in model.bounds()], false_states)


def _inconsistent_at_end(model, x):
    end = x.horizon - 1
    false_bounds = [
        Fails(Stated(f"{bound.name} at the end is true of the path", bound.holds(x, value), value))
        for bound in model.bounds()
        for value in [x.beliefs[bound.name][end]]
    ]
    return AnyOf((*false_bounds, *_false_states(model, x)))


def _false_states(model, x):
    end = x.horizon - 1
    return [
        Fails(
            Stated(f"{state.name} at the end is true of the path", state.holds_at(x, end), x.beliefs[state.name][end])
        )
        for state in model.true_states()
    ]


def _shrinks(model, x):
    """Return the condition that one of the bounds C_L and C_U (on CBR-delay also C_Llambda) is tighter at the end."""
    if not model.bounds():
        return Stated(f"a bound shrinks, but {model.name} has none", False)
    return AnyOf(tuple(bound.tightens(x) for bound in model.bounds()))


def _lost(x, t):
    return x.L[t] - x.L[t - 1]


def _loss_steps(x):
    steps = range(FIRST, x.horizon)
    return tuple(Compared(f"L at t = {t}", x.L[t], ">", x.L[t - 1], BYTES, step=t) for t in steps)


def _at_most(most, conditions):
    return AtMost("steps with a loss", most, conditions)


PROPERTY = SynthesisInvariant
