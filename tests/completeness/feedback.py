"""Random controllers by a window that react to losses, delays and acknowledgements."""

from .writing import KEPT_DELAYS, Written, filled


def negative_rate(rng):
    less = rng.choice(("ack_rate - {a} * MSS / R_m", "{b} * ack_rate - line_rate / 100", "pace - MSS / R_m"))
    again = rng.choice(("{a} * MSS / R_m", "{b} * ack_rate + MSS / R_m", "line_rate / 50"))
    test = rng.choice(("acked - acked[step] > {a} * MSS", "measured", "lost > lost[step]", "delay > {d} * R_m"))
    source = f"""
pace: rate = anything()

def update(pace, ack_rate, acked, lost, measured, delay, line_rate, MSS, R_m, step):
    if {test}:
        pace = {less}
    else:
        pace = {again}

def send(pace):
    return pace
# sends a rate
"""
    return Written(filled(rng, source), tests="a rate below 0")


def negative_rate_and_window(rng):
    source = """
window: bytes = anything()
pace: rate = anything()

def update(window, pace, ack_rate, lost, timeout, MSS, R_m, step):
    if timeout:
        window = {a} * MSS
        pace = MSS / R_m
    elif lost > lost[step]:
        window = window - {a} * MSS
        pace = ack_rate - {a} * MSS / R_m
    else:
        window = min(window + {b} * MSS, {a} * MSS)
        pace = ack_rate + {c} * MSS / R_m

def send(window, pace):
    return window, pace
"""
    return Written(filled(rng, source), tests="a rate below 0")


def places(rng):
    grows = rng.choice(("window + MSS", "window + {b} * MSS * step / R_m", "min(window + MSS, {e} * MSS)"))
    ends = rng.choice(("recover <= acked", "recover <= acked[step]", "sent - acked >= recover - acked"))
    place, of = rng.choice((("admitted + 3 * MSS", "admitted"), ("sent", "sent"), ("sent + 3 * MSS", "sent")))
    source = f"""
window: bytes = above(0)
recover: bytes = anything()
recovering: condition = anything()

def update(window, recover, recovering, acked, lost, sent, admitted, timeout, MSS, R_m, step):
    if timeout:
        window = MSS
        recover = {place}
        recovering = True
    elif lost > lost[step] and (not recovering or {ends}):
        window = max({{b}} * MSS, window / 2)
        recover = {place}
        recovering = True
    else:
        window = {grows}

def send(window, line_rate, MSS, R_m):
    return {rng.choice(("window", "window, line_rate", "min(window, 8 * MSS)"))}
"""
    return Written(filled(rng, source), places=(("recover", of),), tests="positions")


def counts_service(rng):
    source = """
window: bytes = above(0)
since: bytes = anything()
changed: condition = anything()

def update(window, since, changed, served, lost, timeout, MSS, step):
    before = window
    enough = served - since >= {b} * window
    if timeout:
        window = MSS
    elif lost > lost[step]:
        window = max(window / 2, MSS)
    elif enough:
        window = min(window + MSS, {e} * MSS)
    if changed or window != before:
        since = served
    changed = window != before

def send(window):
    return window
"""
    return Written(filled(rng, source), places=(("since", "served"),), tests="positions")


def receive_window(rng):
    """Reno under a receive window."""
    source = """
window: bytes = above(0)
recover: bytes = anything()
credit: bytes = anything()

def update(window, recover, credit, acked, lost, sent, timeout, MSS, step):
    more = acked - acked[step]
    if timeout:
        window = MSS
        credit = 0
        recover = sent + 3 * MSS
    elif lost > lost[step] and acked[step] + lost[step] >= recover:
        window = max(window / 2, 2 * MSS)
        credit = 0
        recover = sent + 3 * MSS
    elif credit + more >= window:
        credit = credit + more - window
        window = window + MSS
    else:
        credit = credit + more

def send(window, MSS):
    return min(window, {e} * MSS)
"""
    return Written(filled(rng, source), places=(("recover", "sent"),), tests="positions")


def delays(rng):
    """Thresholds of a delay, short and far longer than a window."""
    tests = ("delay > {f} * R_m", "delay >= {f} * step", "delay < {f} * R_m", "not delay > {f} * R_m")
    tests += ("delay - D > {f} * R_m", "max_over(delay, {g}) > {f} * R_m", "min_over(delay, {g}) >= {d} * R_m")
    tests += ("window * delay > {c} * MSS * (R_m + delay)", "delay[step] > {f} * R_m", "delay == {d} * R_m")
    first, second = rng.sample(tests, 2)
    source = f"""
window: bytes = above(0)

def update(window, delay, measured, lost, MSS, R_m, D, step):
    if {first}:
        window = {rng.choice(("max(MSS, window / 2)", "max(MSS, window - MSS)", "{a} * MSS", "0 * MSS", "4 * MSS"))}
    elif measured and {second}:
        window = {rng.choice(("window", "min(window, {e} * MSS)", "{c} * MSS"))}
    else:
        window = min(window + {{b}} * MSS, {{h}} * MSS)

def send(window, MSS, R_m):
    return {rng.choice(("window", "window, window / R_m", "window, 2 * window / R_m"))}
"""
    positive = "= 0 * MSS" not in source
    source = source if positive else source.replace("above(0)", "anything()")
    return Written(filled(rng, source), tests="delays")


def keeps_delays(rng):
    """Keeps delays, and tests what it has kept before: no test reads a delay itself."""
    kept = ("delay", "min(kept, delay)", "delay - base", "max(delay, kept / 2)", "min_over(delay, {g})", "R_m - delay")
    kept += ("delay - delay[step]", "max(kept, delay[step]) - step", "2 * delay + D", "(kept + delay) / 2")
    kept += ("between(delay - step, delay + step)", "any_of(delay, kept)")
    source = f"""
window: bytes = above(0)
base: time = anything()
kept: time = anything()

def update(window, base, kept, delay, measured, MSS, R_m, D, step):
    if kept > base + {{f}} * R_m / 4:
        window = max(MSS, window / 2)
    else:
        window = min(window + {{b}} * MSS, {{h}} * MSS)
    if measured{rng.choice(("", " and kept < base", " or kept >= 0"))}:
        base = {rng.choice(("min(base, delay)", "min(base, delay + step)", "delay / 2"))}
    kept = {rng.choice(kept)}

def send(window):
    return window
"""
    return Written(filled(rng, source), tests=KEPT_DELAYS)


def queue_keeper(rng):
    """Keeps a large window while its delay is long."""
    source = """
window: bytes = above(0)

def update(window, delay, MSS, R_m, step):
    if delay > {f} * R_m:
        window = {e} * MSS
    else:
        window = {b} * MSS

def send(window):
    return window
"""
    return Written(filled(rng, source), tests="delays")


def chooses(rng):
    low, high = "window / 2", rng.choice(("window", "window + MSS", "2 * window"))
    source = f"""
window: bytes = above(0)
pace: rate = above(0)

def update(window, pace, ack_rate, lost, MSS, R_m, step, line_rate):
    if lost > lost[step]:
        window = between({low}, {high})
    else:
        window = any_of(window + MSS, window, max(MSS, window - MSS), {{c}} * MSS)
    pace = between({{b}} * MSS / R_m, {{b}} * MSS / R_m + max_over(ack_rate, {{g}}))

def send(window, pace, MSS):
    return {rng.choice(("window, pace", "min(window, {e} * MSS)", "window"))}
"""
    if "return window, pace" not in source:  # state is set, though nothing is sent by it
        return Written(filled(rng, source), tests="choices")
    return Written(filled(rng, source), tests="choices")
