"""Traces of several flows, made by hand: a first-in-first-out link of rate C that loses nothing."""

from fractions import Fraction

from ccmatic.networks.traces import Trace

STEPS = 6

#: Doubles its window in each step.
DOUBLING = '''"""Doubles its window in each step."""

window: bytes = above(0)


def update(window):
    window = 2 * window


def send(window):
    return window
'''


def trace_of_flows(flows, controller=DOUBLING, name="doubling"):
    """Return a Trace of several flows. Flow n first sends n packets of C·R_m/10, and doubles at each step."""
    numbers = [str(number) if flows > 1 else "" for number in range(1, flows + 1)]
    windows = [[Fraction(n * 2**t, 10) for t in range(STEPS)] for n in range(1, flows + 1)]
    sent = [[sum(window[: t + 1]) for t in range(STEPS)] for window in windows]
    columns = {"W": (Fraction(0),) * STEPS}
    for number, window, A in zip(numbers, windows, sent, strict=True):
        share = Fraction(window[0], sum(other[0] for other in windows))
        columns[f"A{number}"] = tuple(A)
        columns[f"S{number}"] = tuple(min(share * t, before) for t, before in enumerate([Fraction(0), *A[:-1]]))
        columns[f"L{number}"] = columns[f"Ld{number}"] = (Fraction(0),) * STEPS
        columns[f"r{number}"] = (Fraction(100),) * STEPS
        columns[f"cwnd{number}"] = columns[f"window{number}"] = tuple(window)
    if flows == 1:
        columns["Q"] = (Fraction(0),) * STEPS
    constants = {"C": Fraction(1), "R_m": Fraction(1), "D": Fraction(1), "MSS": Fraction(1, 10)}
    model = f"ccac2021:flows={flows},delay=own" if flows > 1 else "ccac2021"
    about = {"model": model, "horizon": str(STEPS), "buffer": "infinite", "jitter": "1", "delay": "executions"}
    query = {**about, "property": {"name": "avoids", "what": "S[T-1] > 0"}}
    return Trace(STEPS, constants, columns, query, controller, controller_name=name)
