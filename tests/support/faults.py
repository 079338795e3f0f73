"""Faults by name: how each is planted, and the checks that catch it, those of every test run first."""

from dataclasses import replace

from ccmatic.models import ideal
from ccmatic.models.beliefs import link_rate, probing
from ccmatic.properties import synthesis_invariant
from ccmatic.properties.synthesis_invariant import SynthesisInvariant

from ccmatic import controllers as cca
from ccmatic.answers.verification import verifier as verify
from ccmatic.contracts.belief import RunningMax, RunningMin
from ccmatic.contracts.views import Execution
from ccmatic.logic.terms import constant, equal, every, is_max, is_min
from support.planting import (
    ALWAYS,
    beliefs_of_the_step,
    defined,
    dropped,
    early_token,
    first_as_last,
    floor_of_zero,
    forgetful,
    instead,
    last_step_free,
    late_token,
    law_is,
    loss_at_once,
    over_is,
    q_u_without_zero,
    qdel,
    replaced,
    samples_changed,
    short_of_wait,
    turned,
    ways_changed,
    within,
    without,
)

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
        defined(probing.PROGRAM, "and all(quiet[j] for j in since(k))", ""),
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
        defined(link_rate.PROGRAM, "(delay > D or timely > timely[step])", "delay > D"),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
    ),
    "jitter_is_use": (
        defined(link_rate.PROGRAM, "delay > D or", "delay >= D or"),
        "beliefs",
        "frozen",
        "objectives",
        "peers",
    ),
    "ideal_sees_loss_late": (lambda patch: patch.delattr(ideal.Ideal, "sees_losses_at_once"), "beliefs"),
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
