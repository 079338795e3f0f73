"""Random controllers, of the whole grammar: text alone, in the language of docs/reference/stateful.md and
docs/controllers.md.

A controller that any step of its life may find in any state declares that state so; else its windows begin with it.
"""

from . import believing, feedback
from .writing import Written, filled


def by_window(rng, beside=False):
    """A random controller that sends by a window. beside: other flows send as well."""
    make = rng.choice(WINDOWS + ((believing.beside,) if beside else ()))
    return make(rng)


def by_rate(rng, kind):
    """A random controller of beliefs, for a network of a kind, such as "cbr_delay"."""
    return rng.choice(RATES)(rng, kind)


def _any(rng):
    """Statements drawn at random."""
    lines = [f"    if {_test(rng)}:", f"        window = {_bytes(rng)}", f"    elif {_test(rng)}:"]
    lines += [f"        window = {_bytes(rng)}", "    else:", f"        window = {_bytes(rng)}"]
    lines += [f"    kept = {rng.choice(('sent', 'acked', 'acked - lost', 'kept'))}"]
    lines += [f"    flag = {_test(rng)}"]
    lines += [f"    window = {rng.choice(('max(MSS, window)', 'min(window, {e} * MSS)', 'window'))}"]
    head = "def update(window, kept, flag, acked, ack_rate, sent, lost, timeout, delay, measured, MSS, R_m, D, step):"
    send = rng.choice(("window", "window, {b} * window / R_m", "min(window, {e} * MSS), window / R_m"))
    lines = [*lines[:6], lines[8], *lines[6:8]]
    text = "\n".join(
        ["window: bytes = anything()", "kept: bytes = anything()", "flag: condition = anything()", head, *lines]
    )
    return Written(
        filled(rng, f"{text}\n\ndef send(window, MSS, R_m):\n    return {send}\n"), places=(("kept", "acked"),)
    )


def _test(rng):
    simple = ("lost > lost[step]", "timeout", "measured", "flag", "delay > {f} * R_m", "delay <= {d} * R_m")
    simple += ("acked - acked[2 * step] < {b} * MSS", "sent - acked > {c} * MSS", "ack_rate > ack_rate[step]")
    simple += ("window > {e} * MSS", "kept <= acked", "max_over(ack_rate, {g}) * R_m > {b} * MSS", "acked > acked[R_m]")
    simple += ("not delay[D] > {f} * R_m", "window * delay >= {c} * MSS * R_m", "min_over(delay, {g}) < {f} * R_m")
    first, second = rng.sample(simple, 2)
    return rng.choice((first, f"{first} and {second}", f"{first} or not ({second})"))


def _bytes(rng):
    terms = (
        "window + {b} * MSS",
        "window / 2",
        "2 * window",
        "window - {b} * MSS",
        "ack_rate * R_m + MSS",
        "{e} * MSS",
    )
    terms += (
        "max(window, acked - acked[2 * step])",
        "min(window, sent - acked + MSS)",
        "max_over(ack_rate, {g}) * R_m",
    )
    terms += ("any_of(window, {c} * MSS)", "between(0, {e} * MSS)", "{b} * window - (lost - lost[step])")
    terms += ("window if measured else window + MSS", "min(3 * window, {h} * MSS)")
    return rng.choice([term for term in terms if ("of(" not in term and "between" not in term) or rng.random() < 0.2])


WINDOWS = (
    feedback.negative_rate,
    feedback.negative_rate_and_window,
    feedback.places,
    feedback.counts_service,
    feedback.receive_window,
    feedback.delays,
    feedback.delays,
    feedback.keeps_delays,
    feedback.queue_keeper,
    feedback.chooses,
    believing.believes,
    believing.believes_window,
    believing.sends_belief,
    believing.law,
    believing.law_without_delay,
    believing.assumes,
    believing.begins_within,
    believing.begins,
    believing.phases,
    _any,
    _any,
    _any,
)


def _two_branches(rng, kind):
    rates = (
        "{b} * C_L",
        "2 * C_L",
        "C_L - {c} * MSS / R_m",
        "C_U / 2",
        "C_L + MSS / R_m",
        "{b} * C_U - C_L",
        "MSS / R_m",
    )
    tests = (
        "qdel_L > {d} * R_m",
        "qdel_U > {d} * R_m",
        "C_U > {c} * C_L",
        "qdel_L > 0",
        "C_L > {b} * C_U",
        "qdel_L > {i} * R_m",
    )
    if kind == "cbr_delay":
        rates += ("C_Llambda - q_U / R_m", "3 * C_Llambda + MSS / R_m", "{b} * C_Llambda")
        tests += ("q_U > {c} * MSS", "C_Llambda < {b} * C_L", "q_U > {b} * C_L * R_m")
    source = f"""
def rate(C_L, C_U, qdel_L, qdel_U, {"C_Llambda, q_U, " * (kind == "cbr_delay")}MSS, R_m, D):
    if {rng.choice(tests)}:
        return {rng.choice(rates)}
    elif {rng.choice(tests)}:
        return {rng.choice(rates)}
    return {rng.choice(rates)}
"""
    return Written(filled(rng, source))


def _envelope(rng, kind):
    source = """
def rate(C_L, C_U, qdel_L, MSS, R_m):
    if qdel_L > {d} * R_m:
        return between(0 * C_L, {b} * C_L)
    return between(C_L, {c} * C_L + MSS / R_m) if C_U > C_L else 2 * C_L
"""
    return Written(filled(rng, source.replace(" if C_U > C_L else 2 * C_L", "")), tests="choices")


def _below_0(rng, kind):
    source = """
def rate(C_L, C_U, qdel_U, MSS, R_m):
    if qdel_U > {c} * R_m:
        return C_L - {e} * MSS / R_m
    return max(C_L, {b} * C_U - {c} * C_L)
"""
    return Written(filled(rng, source), tests="a rate below 0")


RATES = (_two_branches, _two_branches, _two_branches, _envelope, _below_0)
