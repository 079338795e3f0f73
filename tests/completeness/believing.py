"""Random controllers by a window that read beliefs, follow laws, assume, or begin in some way."""

from .writing import Written, filled


def believes(rng):
    rate = rng.choice(("{b} * C_L", "max({b} * C_L, MSS / R_m)", "{b} * C_L - {c} * MSS / R_m", "min(2 * C_L, C_U)"))
    other = rng.choice(("2 * C_L", "C_L + MSS / R_m", "C_U / 2", "{b} * C_U", "min({b} * C_U, {e} * MSS / R_m)"))
    waits = rng.choice(
        ("qdel_L > {f} * R_m", "qdel_U > {f} * R_m", "qdel_L > 0", "lost > lost[step]", "qdel_L <= {d} * R_m")
    )
    source = f"""
pace: rate = anything()

def update(pace, C_L, C_U, qdel_L, qdel_U, lost, MSS, R_m, step):
    if {waits}:
        pace = {rate}
    else:
        pace = {other}

def send(pace):
    return pace
# sends a rate
"""
    return Written(filled(rng, source), tests="beliefs")


def believes_window(rng):
    bound = rng.choice(("2 * C_U * R_m", "{b} * C_L * R_m + MSS", "{e} * MSS"))
    source = f"""
window: bytes = above(0)

def update(window, C_L, C_U, qdel_L, lost, MSS, R_m, step):
    if lost > lost[step]:
        window = window / 2
    elif qdel_L > {{f}} * R_m:
        window = window - MSS
    else:
        window = window + MSS * step / R_m
    window = max(MSS, {{b}} * C_L * R_m, min(window, {bound}))

def send(window):
    return window
"""
    return Written(filled(rng, source), tests="beliefs")


def sends_belief(rng):
    source = """
def send(C_L, MSS, R_m):
    return {b} * C_L * R_m + {b} * MSS
"""
    return Written(filled(rng, source), tests="beliefs")


def beside(rng):
    source = """
window: bytes = above(0)

def update(window, C_L, wait_L, qdel_U, others_L, MSS, R_m, step):
    if wait_L > {d} * R_m:
        window = max(MSS, window / 2)
    elif others_L > 0 and qdel_U > {f} * R_m:
        window = max(MSS, window - MSS)
    else:
        window = min(window + MSS, 4 * C_L * R_m + MSS)

def send(window, others_L, R_m):
    return window + others_L * R_m
"""
    return Written(filled(rng, source), tests="beliefs")


def law(rng):
    """A law of a delay between bounds, which are proved, or refused."""
    edge, low, high = rng.randint(1, 3), rng.choice(("1/4", "1/3", "2/5")), rng.choice(("1", "5/4"))
    law = rng.choice(
        ("window * R_m / (R_m + delay)", "window - delay * MSS / R_m / 2", "window + 2 * MSS - MSS * delay / R_m")
    )
    bounds = {
        "window * R_m / (R_m + delay)": (f"{low} * window", "window"),
        "window - delay * MSS / R_m / 2": (f"window - {edge} / 2 * MSS", "window"),
        "window + 2 * MSS - MSS * delay / R_m": (f"window + 2 * MSS - {edge} * MSS", f"window + 2 * {high} * MSS"),
    }[law]
    source = f"""
window: bytes = above(0)

def update(window, delay, MSS, R_m, step):
    if delay >= 0 * R_m and delay <= {edge} * R_m and window >= {{e}} * MSS:
        window = bounded({law}, {bounds[0]}, {bounds[1]})
    else:
        window = min(window + MSS, {{h}} * MSS)
    window = max(MSS, window)

def send(window):
    return window
"""
    # A law stands alone: the last line is another piece of state's.
    source = source.replace("    window = max(MSS, window)\n", "")
    return Written(filled(rng, source), tests="laws")


def law_without_delay(rng):
    source = """
window: bytes = above(0)

def update(window, MSS):
    if window >= {a} * MSS:
        window = bounded(window * window / (window + MSS), window - MSS, window - {a} / (1 + {a}) * MSS)
    else:
        window = {e} * MSS

def send(window):
    return window
"""
    return Written(filled(rng, source), tests="laws")


def assumes(rng):
    what = rng.choice(
        ("window <= {e} * MSS", "acked - acked[step] >= {b} * MSS", "delay <= {f} * R_m", "lost == lost[step]")
    )
    source = f"""
window: bytes = above(0)

def update(window, acked, lost, delay, MSS, R_m, step):
    assume({what})
    window = any_of(window + MSS, {{b}} * MSS)

def send(window):
    return window
"""
    return Written(filled(rng, source), tests="assume")


def begins_within(rng):
    """Its declaration has no first value where a packet is large."""
    least = rng.choice((4, 6, 8))
    source = f"""
window: bytes = between({least} * MSS, line_rate * R_m / 20)

def update(window, lost, MSS, R_m, line_rate, step):
    if lost > lost[step]:
        window = max(window / 2, {least} * MSS)
    else:
        window = min(window + MSS, line_rate * R_m / 20)

def send(window):
    return window
"""
    return Written(filled(rng, source), tests="first values")


def begins(rng):
    """Return the controller whose windows begin with its first step."""
    source = """
window: bytes = {e} * MSS
slow: condition = False
phase: time = any_of(0, step, 2 * step)

def update(window, slow, phase, lost, timeout, MSS, R_m, step):
    if timeout or lost > lost[step]:
        slow = True
    phase = phase + step if phase < 2 * step else 0
    if slow:
        window = {b} * MSS
    elif phase == 0:
        window = window + {c} * MSS

def send(window):
    return window
"""
    return Written(filled(rng, source), anywhere=False, tests="first values")


def phases(rng):
    source = """
phase: time = any_of(0, step, 2 * step, 3 * step)
pace: rate = anything()
window: bytes = anything()

def update(phase, ack_rate, acked, sent, lost, MSS, R_m, step):
    highest = max_over(ack_rate, {g})
    phase = phase + step if phase < 3 * step else 0
    if phase == step:
        pace = 5 / 4 * highest + {b} * MSS / R_m
    elif phase == 2 * step:
        pace = {b} * highest - {b} * MSS / R_m
    else:
        pace = highest
    window = 2 * highest * R_m + {c} * MSS if sent - acked - lost > {b} * highest * R_m else {e} * MSS

def send(window, pace):
    return window, pace
"""
    return Written(filled(rng, source), tests="grammar")
