"""Planted faults: each is caught by checks that other tests make.

A fault that is too strong (the laws lose executions) is found on simulated runs, or where a peer says
violated and we would hold; one that is too weak where a peer says holds, or in a trace that it lets through.
Faults are planted in the engine itself: where a name there changes, it does here.
"""

from copy import copy
from dataclasses import replace
from functools import cache
from itertools import chain
from pathlib import Path
from random import Random

import pytest
import test_soundness as soundness
from ccmatic.models import cbr_delay, ccac, ideal, link_rate
from ccmatic.properties import synthesis_invariant
from ccmatic.properties.synthesis_invariant import SynthesisInvariant

from ccmatic import query as queries
from ccmatic.contracts.belief import RunningMax, RunningMin
from ccmatic.contracts.execution import Execution
from ccmatic.contracts.model import Model
from ccmatic.language import controller as cca
from ccmatic.logic.terms import constant, equal, every, iff, implies, is_max, is_min, no, some
from ccmatic.simulation import paths
from ccmatic.simulation.simulator import simulate
from ccmatic.verification import verifier as verify
from ccmatic.verification.replayer import Outcome, complete, replay
from ccmatic.verification.verifier import Verifier

CONTROLLERS = Path(__file__).parent.parent / "examples" / "controllers"
MODELS = (ideal.MODEL, cbr_delay.MODEL, ccac.MODEL)
ALWAYS = constant(True)


# The checks: each yields False, or raises AssertionError, where it catches a fault.


@cache
def runs(kind):
    """A few sampled runs, simulated before any fault is planted."""
    return [_run(kind, Random(seed)) for seed in range(20)]


def _run(kind, rng):
    room = rng.choice((None, 5, 12, 30))
    rates = rng.choice((range(1, 10), range(11, 40), (10, 11, 12), (1, 9, 10, 11, 30)))
    counts = [rng.choice(rates) for _ in range(12)]
    run = simulate(
        paths.Path(kind, rate=10, jitter=0 if kind == "ideal" else rng.choice((1, 2)), buffer=room),
        lambda seen: counts[seen.step],
        len(counts),
        seed=rng.random(),
        initial_queue=rng.choice((0, 10, 30)),
        jitter=rng.choice(sorted(paths.JITTER)),
        hiding=rng.choice(sorted(paths.HIDING)),
    )
    return soundness.Sampled(run, rng.randint(1, 4), rng.randint(5, 8))


def on_runs(check):
    """A check of sampled runs, of all kinds."""

    def checked():
        for number, sampled in enumerate(chain.from_iterable(zip(*map(runs, soundness.KINDS), strict=True))):
            check(sampled, soundness.Fraction(number % 5, 4))
            yield True

    return checked


def encoding():
    """The laws are those of docs/encoding.md."""
    networks = (("ccac", "any", 1), ("cbr_delay", "any", 1), ("ideal", "any", 0), ("ccac", ">=2", 2))
    for network in networks:
        yield not list(soundness.laws_that_differ(*network))


def peers():
    """Verdicts are the published tool's."""
    for file in soundness.PEERS:
        query, candidates = soundness.peer_query(file)
        reads = set().union(*(controller.parameters for controller, _ in candidates)) & query.units().keys()
        verifier = Verifier(query, reads)
        yield from (verifier.verify(controller).verdict == verdict for controller, verdict in candidates)


def agreement():
    """Frozen and moving encodings answer alike, and queries with and without what is taken for granted."""
    yield from (one == other for one, other in soundness.on_large_losses("ccac", soundness.TEMPLATE))
    for compared in soundness.COMPARED:
        yield from (one == other for one, other in soundness.on_windows(*compared[:3]))
        yield from (one == other for one, other in soundness.on_candidates(*compared))


CHECKS = {
    "executions": on_runs(soundness.obeys_every_law),
    "beliefs": on_runs(soundness.beliefs_contain_the_truth),
    "completed": on_runs(soundness.bounds_are_completed),
    "frozen": on_runs(soundness.frozen_is_unmoved),
    "objectives": on_runs(soundness.objectives_are_met_alike),
    "encoding": encoding,
    "peers": peers,
    "agreement": agreement,
}

#: Networks and wrong controllers, whose traces are replayed.
REPLAYED = [
    (name, model, buffer, horizon)
    for name in ("always_double", "inverted_qdel", "always_half", "additive")
    for model, buffer, horizon in (
        ("ccac", "any", 5),
        ("cbr_delay", "any", 5),
        ("ideal", "1", 4),
        ("ccac", "1/2", 5),
    )
]


def caught(plant, check):
    """Whether a check catches a fault."""
    for kind in soundness.KINDS:
        runs(kind)
    if check == "replay":
        return not all(_replays(plant, *failure) for failure in REPLAYED)
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        try:
            return not all(CHECKS[check]())
        except AssertionError:
            return True


def _replays(plant, name, model, buffer, horizon):
    """Whether the trace that the faulty verifier finds, if any, passes replay by the laws as they are."""
    with pytest.MonkeyPatch.context() as patch:
        plant(patch)
        query = queries.make(model, buffer, horizon)
        controller = cca.load(CONTROLLERS / f"{name}.py", query.units())
        trace = Verifier(query, set(controller.parameters) & query.units().keys()).verify(controller).trace
        trace = complete(query, trace) if trace and trace.controller else trace
    report = trace and replay(trace)
    return not report or report.outcome is Outcome.BREAKS


# What is planted: functions of a monkeypatch.


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


def jitter_as_use(model, x, k):
    return some(x.Q.at_least(k + 1, x.D), model.loss_seen(x, k + 1) > model.loss_seen(x, k))


def delay_as_use(model, x, k):
    return x.Q.at_least(k + 1, x.D + 1)


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
    """What a frozen bound says of a sample."""
    return staticmethod(lambda sample, bound: compare(sample.amount, bound * sample.over))


def beliefs_of_the_step(choices):
    def early(x, controller):
        x = copy(x)
        x.beliefs = {name: [*column[1:], *column[-1:]] for name, column in x.beliefs.items()}
        return choices(x, controller)

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


#: What is planted, and the checks that catch it; the first is made by default, the others are slow. Replay is
#: named only where it does so whichever traces the solver finds.
FAULTS = {
    # The network: too weak.
    "tokens_wasted_while_queued": (
        dropped("no_waste_while_queued"),
        "encoding",
        "peers",
        "agreement",
        "replay",
    ),
    "tokens_without_limit": (
        law_is("tokens_come_at_link_rate", lambda x, t: x.K[t] >= x.K[t - 1]),
        "encoding",
        "peers",
        "agreement",
        "replay",
    ),
    "tokens_taken_back": (
        law_is("tokens_come_at_link_rate", lambda x, t: x.K[t] <= x.K[t - 1] + x.C),
        "encoding",
    ),
    "tokens_in_hand_at_first": (dropped("no_token_is_kept"), "encoding", "peers", "replay"),
    "jitter_a_step_longer": (
        law_is("served_within_jitter", late_token),
        "encoding",
        "peers",
        "agreement",
        "replay",
    ),
    "jitter_without_limit": (dropped("served_within_jitter"), "encoding", "peers", "agreement", "replay"),
    "served_unsent": (dropped("served_after_sent"), "encoding", "peers", "replay"),
    "served_without_token": (dropped("served_after_admitted"), "encoding", "peers", "agreement", "replay"),
    "service_taken_back": (dropped("service_grows"), "encoding"),
    "overflow_kept": (dropped("overflow_is_lost"), "encoding", "peers", "replay"),
    "loss_without_overflow": (dropped("only_overflow_is_lost"), "encoding", "peers", "agreement", "replay"),
    "detects_what_is_not_lost": (dropped("loss_detected"), "encoding", "replay"),
    "recent_loss_unexplained": (dropped("recent_loss_means_full"), "encoding"),
    "overfull_at_first": (dropped("fits_at_first"), "encoding", "peers"),
    "buffer_of_any_size": (
        dropped("buffer_holds_a_packet", "buffer_size"),
        "encoding",
        "peers",
        "agreement",
        "replay",
    ),
    "least_buffer_ignored": (dropped("buffer_size"), "encoding"),
    "packets_of_any_size": (dropped("packet_size"), "encoding", "peers", "replay"),
    "service_before_the_origin": (dropped("origin"), "encoding", "replay"),
    "sends_anything": (dropped("sends"), "encoding", "peers", "replay"),
    "delay_unmeasured": (dropped("Q_is_time_since_sent"), "encoding", "peers", "replay"),
    "delay_out_of_order": (dropped("Q_is_one_delay"), "encoding"),
    "delay_moves_without_service": (dropped("Q_stays_unless_served"), "encoding"),
    "delay_beyond_buffer": (dropped("Q_fits_buffer"), "encoding", "replay"),
    "delay_grows_at_will": (
        dropped("Q_grows_with_time", "Q_grows_by_one_a_step"),
        "encoding",
        "peers",
        "replay",
    ),
    "first_delay_unmeasured": (dropped("F_is_time_since_sent"), "encoding", "peers", "replay"),
    # The network: too strong.
    "all_sent_is_served": (
        law_is("served_after_sent", lambda x, t: x.S[t] >= x.admitted(t)),
        "encoding",
        "executions",
        "beliefs",
        "peers",
        "replay",
    ),
    "no_jitter": (law_is("served_within_jitter", early_token), "encoding", "executions", "beliefs", "peers"),
    "link_never_idle": (
        law_is("no_waste_while_queued", lambda x, t: equal(x.K[t], x.K[t - 1] + x.C)),
        "encoding",
        "executions",
        "beliefs",
        "peers",
    ),
    "no_loss_just_before": (
        law_is("recent_loss_means_full", lambda x, t: equal(x.L[0], x.Ld[0])),
        "encoding",
        "executions",
        "beliefs",
    ),
    "tiny_packets": (
        law_is("packet_size", lambda x, t: every(x.alpha > 0, x.alpha * 40 < x.C)),
        "encoding",
        "executions",
        "beliefs",
        "peers",
    ),
    # The network: both.
    "loss_detected_at_once": (
        replaced(Execution, "__init__", loss_at_once),
        "encoding",
        "executions",
        "beliefs",
        "peers",
        "replay",
    ),
    "delay_short_by_one": (short_of_wait(1), "encoding", "executions", "beliefs", "peers", "replay"),
    "delay_long_by_one": (short_of_wait(-1), "encoding", "executions", "beliefs", "peers", "replay"),
    "first_delay_measured_as_last": (
        law_is("F_is_time_since_sent", first_as_last),
        "encoding",
        "executions",
        "beliefs",
        "peers",
        "replay",
    ),
    # Beliefs.
    "c_l_false_at_first": (dropped("C_L_holds_at_first"), "encoding", "peers", "agreement", "replay"),
    "c_u_false_at_first": (dropped("C_U_holds_at_first"), "encoding", "peers", "agreement", "replay"),
    "c_llambda_false_at_first": (dropped("C_Llambda_holds_at_first"), "encoding", "peers", "replay"),
    "c_l_starts_below_a_packet": (dropped("C_L_starts"), "encoding"),
    "c_llambda_starts_below_a_packet": (dropped("C_Llambda_starts"), "encoding"),
    "q_u_false_at_first": (dropped("q_U_starts"), "encoding", "peers", "replay"),
    "c_l_window_without_jitter": (
        over_is("C_L", lambda x, over: over - x.D),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
        "agreement",
    ),
    "c_u_window_without_jitter": (
        over_is("C_U", lambda x, over: over + x.D),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
        "agreement",
    ),
    "c_u_of_idle_windows": (
        samples_changed("C_U", lambda x, sample: replace(sample, when=ALWAYS)),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
    ),
    "c_llambda_a_step_short": (
        over_is("C_Llambda", lambda x, over: over - 1),
        "beliefs",
        "frozen",
        "peers",
        "replay",
    ),
    "c_llambda_of_loud_steps": (
        instead(cbr_delay, "quiet", lambda x, k: ALWAYS),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
        "replay",
    ),
    "c_l_never_moves": (
        samples_changed("C_L", lambda x, sample: replace(sample, when=constant(False))),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
        "replay",
    ),
    "q_u_without_zero": (law_is("q_U_moves", q_u_without_zero), "beliefs", "peers", "replay"),
    "q_u_never_moves": (dropped("q_U_moves"), "peers", "replay"),
    "qdel_l_without_jitter": (qdel("qdel_L", lambda x, k: k), "beliefs", "peers"),
    "qdel_l_short_by_one": (qdel("qdel_L", lambda x, k: max(0, k - x.D - 1)), "beliefs", "peers"),
    "qdel_u_short_by_one": (qdel("qdel_U", lambda x, k: k), "beliefs"),
    "loss_is_no_use": (
        instead(link_rate, "utilised", delay_as_use),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
    ),
    "jitter_is_use": (
        instead(link_rate, "utilised", jitter_as_use),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
    ),
    "ideal_sees_loss_late": (lambda patch: patch.delattr(ideal.Ideal, "loss_seen"), "beliefs"),
    "moving_max_forgets": (
        instead(RunningMax, "moving", forgetful(is_max)),
        "beliefs",
        "agreement",
    ),
    "moving_min_forgets": (
        instead(RunningMin, "moving", forgetful(is_min)),
        "beliefs",
        "agreement",
    ),
    "completed_max_forgets": (instead(RunningMax, "_pick", staticmethod(lambda seen, **_: seen[-1])), "completed"),
    "completed_min_forgets": (instead(RunningMin, "_pick", staticmethod(lambda seen, **_: seen[-1])), "completed"),
    "frozen_max_turned": (
        instead(RunningMax, "_within", within(lambda amount, most: amount >= most)),
        "frozen",
        "peers",
        "agreement",
        "replay",
    ),
    "frozen_min_turned": (
        instead(RunningMin, "_within", within(lambda amount, least: amount <= least)),
        "frozen",
        "peers",
        "agreement",
        "replay",
    ),
    "frozen_max_strict": (
        instead(RunningMax, "_within", within(lambda amount, most: amount < most)),
        "frozen",
        "peers",
        "agreement",
    ),
    "frozen_max_without_last_step": (
        replaced(RunningMax, "frozen", last_step_free),
        "peers",
        "agreement",
    ),
    "frozen_min_without_last_step": (
        replaced(RunningMin, "frozen", last_step_free),
        "peers",
        "agreement",
    ),
    "no_sample_is_false": (
        instead(RunningMax, "false_sample", lambda self, x: constant(False)),
        "objectives",
    ),
    # The sender.
    "beliefs_of_the_step_itself": (replaced(verify, "choices", beliefs_of_the_step), "peers"),
    "floor_of_zero": (replaced(cca.Controller, "encode", floor_of_zero), "peers"),
    # The property.
    "down_turned": (
        instead(synthesis_invariant, "_down", synthesis_invariant._up),
        "objectives",
        "peers",
    ),
    "up_turned": (
        instead(synthesis_invariant, "_up", synthesis_invariant._down),
        "objectives",
        "peers",
    ),
    "inflight_with_what_is_lost": (
        instead(Execution, "inflight", lambda x, t: x.A[t] - x.S[t]),
        "objectives",
        "peers",
        "replay",
    ),
    "queue_is_inflight": (
        instead(Execution, "queue", Execution.inflight),
        "beliefs",
        "objectives",
        "peers",
    ),
    "decides_from_step_2": (instead(synthesis_invariant, "FIRST", 2), "objectives", "peers", "replay"),
    "large_loss_halved": (
        replaced(SynthesisInvariant, "_large", lambda large: lambda self, x: large(self, x) / 2),
        "objectives",
    ),
    "a_loss_too_few_allowed": (
        replaced(synthesis_invariant, "_at_most", lambda at_most: lambda n, losses: at_most(n - 1, losses)),
        "objectives",
    ),
    "utilisation_forgotten": (
        replaced(SynthesisInvariant, "necessary", without("utilises")),
        "objectives",
        "peers",
    ),
    "inflight_forgotten": (
        replaced(SynthesisInvariant, "necessary", without("bounds")),
        "objectives",
        "peers",
    ),
    "q_u_never_false": (instead(synthesis_invariant, "_false_states", lambda model, x: []), "objectives"),
    "large_loss_forgotten": (
        ways_changed(lambda ways: [way for way in ways if way.name != "large loss"]),
        "objectives",
    ),
    "true_bounds_too_strong": (replaced(verify, "_true_bounds", turned), "agreement"),
}

#: Laws that the others imply: nothing changes without them.
IMPLIED = ("loss_grows", "loss_is_of_new_bytes", "sent_before")


@pytest.mark.slow
def test_nothing_is_caught_where_nothing_is_planted():
    assert [check for check in (*CHECKS, "replay") if caught(lambda patch: None, check)] == []


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_caught(fault):
    plant, check, *_ = FAULTS[fault]
    assert caught(plant, check)


@pytest.mark.slow
@pytest.mark.parametrize("fault, check", [(fault, check) for fault in FAULTS for check in FAULTS[fault][2:]])
def test_a_planted_fault_is_caught_by_others_too(fault, check):
    assert caught(FAULTS[fault][0], check)


@pytest.mark.parametrize("law", IMPLIED)
def test_a_law_that_the_others_imply_changes_nothing(law):
    assert not caught(dropped(law), "encoding")
