"""Ways to plant a fault in the engine: functions of a monkeypatch."""

from copy import copy
from dataclasses import replace

from ccmatic.models import cbr_delay, ccac, ideal
from ccmatic.properties.synthesis_invariant import SynthesisInvariant

from ccmatic.contracts import Program
from ccmatic.contracts.model import Model
from ccmatic.logic.terms import constant, equal, every, iff, implies, is_min, no

MODELS = (ideal.MODEL, cbr_delay.MODEL, ccac.MODEL)
ALWAYS = constant(True)


def dropped(*names):
    """Without some laws."""
    return laws_changed(lambda x, law: None if law.name in names else law)


def law_is(name, formula):
    """With another formula, of the execution and the step, for one law."""
    return laws_changed(lambda x, law: replace(law, formula=formula(x, law.t)) if law.name == name else law)


def laws_changed(change):
    """With what `change` makes of each law, of an execution and a law; None drops it."""

    def changed(original):
        return lambda self, x, *reads: filter(None, (change(x, law) for law in original(self, x, *reads)))

    def plant(patch):
        for kind in ("laws", "assumptions", "belief_laws"):
            patch.setattr(Model, kind, changed(getattr(Model, kind)))

    return plant


def samples_changed(name, change):
    """With what `change` makes of each sample of a bound, of an execution and a sample."""

    def changed(bound):
        return replace(bound, samples=lambda x, t: (change(x, sample) for sample in bound.samples(x, t)))

    def plant(patch):
        for model in MODELS:
            patch.setattr(model, "beliefs", tuple(changed(b) if b.name == name else b for b in model.beliefs))

    return plant


def over_is(name, change):
    """With another denominator, of an execution and the right one, for the samples of a bound."""
    return samples_changed(name, lambda x, sample: replace(sample, over=change(x, sample.over)))


def replaced(owner, name, make):
    """With what `make` makes of a function."""
    return lambda patch: patch.setattr(owner, name, make(getattr(owner, name)))


def instead(owner, name, function):
    """With another function."""
    return lambda patch: patch.setattr(owner, name, function)


def defined(program, old, new):
    """With another text in a program of beliefs."""
    assert old in program.source
    other = Program(program.source.replace(old, new), program.beliefs)

    def plant(patch):
        for part in ("definitions", "helpers"):
            patch.setattr(program, part, getattr(other, part))

    return plant


def early_token(x, t):
    return x.S[t] >= x.K[t]


def late_token(x, t):
    return x.S[t] >= (x.K[t - x.D - 1] if t > x.D else x.K[0] - x.C * (x.D + 1 - t))


def short_of_wait(shift):
    """The last byte's delay, measured `shift` steps off."""

    def formula(x, t):
        steps = [k for k in range(1, t + 1) if t - k - shift >= 0]
        sent = {k: x.admitted(t - k - shift) for k in steps}
        waited = [iff(x.Q.at_least(t, k), x.S[t] <= sent[k]) for k in steps]
        return implies(x.S[t] > x.S[t - 1], every(waited))

    return law_is("Q_is_time_since_sent", formula)


def first_as_last(x, t):
    waited = [iff(x.F.at_least(t, k), x.S[t] <= x.admitted(t - k)) for k in range(1, t + 1)]
    return implies(x.S[t] > x.S[t - 1], every(waited))


def loss_at_once(init):
    def changed(self, *args, **options):
        init(self, *args, **options)
        self.Ld = list(self.L)

    return changed


def qdel(name, value):
    """qdel_L or qdel_U as another function of the execution and the steps measured."""

    def formula(x, t):
        bound = x.beliefs[name][t]
        return every([implies(x.Q.exactly(t, k), equal(bound, value(x, k))) for k in range(x.horizon + 1)])

    return law_is(f"{name}_measured", formula)


def q_u_without_zero(x, t):
    grown = x.beliefs["q_U"][t - 1] + x.r[t] - x.beliefs["C_Llambda"][t]
    return is_min(x.beliefs["q_U"][t], (ALWAYS, x.A[t] - x.Ld[t] - x.S[t]), (ALWAYS, grown))


def forgetful(extreme):
    """A moving bound without its value of the step before."""

    def laws(self, x):
        bound = x.beliefs[self.name]
        for t in range(1, x.horizon):
            samples = [(sample.when, sample.value) for sample in self.samples(x, t)]
            if samples:
                yield f"{self.name}_moves", t, extreme(bound[t], *samples)

    return laws


def last_step_free(frozen):
    return lambda self, x: (law for law in frozen(self, x) if law[1] < x.horizon - 1)


def within(compare):
    """Return the condition that a frozen bound imposes on a sample."""
    return staticmethod(lambda sample, bound: compare(sample.amount, bound * sample.over))


def beliefs_of_the_step(choices):
    def early(x, controller, clock=None):
        x, flow = copy(x), copy(x.flows[0])
        flow.beliefs = {name: [*column[1:], *column[-1:]] for name, column in flow.beliefs.items()}
        x.flows = (flow,)
        return choices(x, controller, clock)

    return early


def floor_of_zero(encode):
    return lambda self, values, rate, floor: encode(self, values, rate, floor * 0)


def without(part):
    """The objectives of the property but one."""

    def make(necessary):
        return lambda self, x: {n: f for n, f in necessary(self, x).items() if not n.startswith(part)}

    return make


def ways_changed(change):
    """The ways to fail, `change` of a list of them."""
    return replaced(
        SynthesisInvariant,
        "ways_to_fail",
        lambda ways: lambda self, model, buffer: change(list(ways(self, model, buffer))),
    )


def turned(true_bounds):
    return lambda model, x, reads: map(no, true_bounds(model, x, reads))
