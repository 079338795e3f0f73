"""The synthesis invariant (Eq. 5.3 of the paper; docs/encoding.md, section 7)."""

from dataclasses import dataclass, field
from fractions import Fraction

from ccmatic.contracts import Property, WayToFail, share
from ccmatic.logic import constant, every, implies, no, some

#: The first step that the controller decides.
FIRST = 1


@dataclass(frozen=True)
class SynthesisInvariant(Property):
    """Beliefs that hold go on to hold; and the bounds shrink, or each steady-state objective is met or
    approached.

    utilisation:      least share of the link that must be used.
    inflight_rates:   most bytes in flight, in C·(R_m + D) …
    inflight_packets: … plus this many packets.
    loss_steps:       most steps with a loss, as a share of the steps decided, plus one.
    loss_rates:       most bytes lost in all, in C·(R_m + D), for each step with a loss.
    large_loss:       a loss in one step is large if it exceeds this many packets for each step decided.
    constrain_loss:   whether a large loss is forbidden even while the bounds shrink: `never`, `always`, or
                      only in a `large-buffer`.
    large_buffer:     the buffer, in C·(R_m + D), from which it is large. The paper prints 3; the published
                      tool uses 5, and with 5 the paper's solutions come out.
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
        """Three: a belief turns false; nothing shrinks and an objective is neither met nor approached; a large
        loss that nothing excuses."""
        bounds = tuple(bound.name for bound in model.bounds())
        states = tuple(state.name for state in model.true_states())
        yield WayToFail("beliefs turn false", lambda x: _inconsistent(model, x), any_rates=True, reads=states)
        yield WayToFail("no progress", lambda x: no(every(*self.necessary(x).values())), frozen=True, reads=bounds)
        if buffer.finite and self.constrain_loss != "never":
            yield WayToFail(
                "large loss",
                lambda x: every(self._loss_matters(x), no(self._small_loss_or_down(x))),
                beliefs_true=True,
            )

    def objectives(self, model, x):
        """The parts of Eq. 5.3 by name; an objective reads 'met, or approached'."""
        parts = {"beliefs stay true": no(_inconsistent_at_end(model, x)), "bounds shrink": _shrinks(model, x)}
        parts.update(self.necessary(x))
        if x.buffer.finite and self.constrain_loss != "never":
            parts["small losses, or backs off"] = implies(self._loss_matters(x), self._small_loss_or_down(x))
        return parts

    def holds(self, objectives):
        """Whether the property holds, given the truth of each objective."""
        truth = dict(objectives)
        return (
            truth.pop("beliefs stay true")
            and truth.pop("small losses, or backs off", True)
            and (truth.pop("bounds shrink") or all(truth.values()))
        )

    def necessary(self, x):
        """Objective or progress towards it, by name."""
        up, down = _up(x), _down(x)
        end = x.horizon - 1
        steps = range(FIRST, x.horizon)
        bdp = x.C * (1 + x.D)
        used = x.S[end] - x.S[FIRST - 1] >= self.utilisation * x.C * (end - (FIRST - 1) - x.D)
        most = self.inflight_rates * bdp + self.inflight_packets * x.alpha
        parts = {
            "utilises the link, or speeds up": some(used, up),
            "bounds inflight, or backs off": some(every([x.inflight(t) <= most for t in steps]), down),
        }
        if x.buffer.finite:
            allowed = self.loss_steps * end + 1
            lost = x.L[end] - x.L[FIRST] <= allowed * self.loss_rates * bdp + self._large(x)
            parts["loses seldom, or backs off"] = some(_at_most(allowed, _loss_steps(x)), down)
            parts["loses little at once, or backs off"] = some(no(self._large_loss(x)), down)
            parts["loses little in all, or backs off"] = some(lost, down)
        return parts

    def _large(self, x):
        return self.large_loss * (x.horizon - 1) * x.alpha

    def _large_loss(self, x):
        return some([x.L[t] - x.L[t - 1] > self._large(x) for t in range(FIRST, x.horizon)])

    def _small_loss_or_down(self, x):
        return some(no(self._large_loss(x)), _down(x))

    def _loss_matters(self, x):
        if self.constrain_loss == "large-buffer":
            return x.beta >= self.large_buffer * x.C * (1 + x.D)
        return constant(self.constrain_loss == "always")


def _up(x):
    end = x.horizon - 1
    return some(x.r[end] > x.r[FIRST], x.inflight(end) > x.inflight(FIRST), x.queue(end) > x.queue(FIRST))


def _down(x):
    end = x.horizon - 1
    return some(x.r[end] < x.r[FIRST], x.inflight(end) < x.inflight(FIRST), x.queue(end) < x.queue(FIRST))


def _inconsistent(model, x):
    """A sample contradicts the path, or a state belief is false at the end."""
    return some([bound.false_sample(x) for bound in model.bounds()], _false_states(model, x))


def _inconsistent_at_end(model, x):
    false_bounds = [no(bound.holds(x, x.beliefs[bound.name][x.horizon - 1])) for bound in model.bounds()]
    return some(false_bounds, _false_states(model, x))


def _false_states(model, x):
    return [no(state.holds_at(x, x.horizon - 1)) for state in model.true_states()]


def _shrinks(model, x):
    """C_U - C_L is smaller at the end; on CBR-delay, or C_Llambda is larger."""
    return some([bound.tighter(x) for bound in model.bounds()])


def _loss_steps(x):
    return [x.L[t] > x.L[t - 1] for t in range(FIRST, x.horizon)]


def _at_most(most, conditions):
    """At most `most` of the conditions hold: a counter, row by row."""
    most = int(most)
    reached = [constant(False)] * (most + 1)
    for condition in conditions:
        reached = [some(reached[k], every(condition, reached[k - 1]) if k else condition) for k in range(most + 1)]
    return no(reached[most])


PROPERTY = SynthesisInvariant
