"""Replay once more, of the synthesis invariant, in plain Python apart from the engine: laws as the tests of the
simulator have them, beliefs as the tests of soundness have them, the controller by Python's own `exec`."""

import ast
from fractions import Fraction
from itertools import pairwise

from support.executions import BOUNDS, beliefs
from support.simulator_laws import broken

OWN = {"A", "S", "L", "Ld", "K", "r"}
MEASURED = {"ccac": {"Q"}, "ideal": {"Q"}, "cbr_delay": {"Q", "F"}}
BELIEFS = {
    "ccac": {"C_L", "C_U", "qdel_L", "qdel_U"},
    "ideal": {"C_L", "C_U", "qdel_L", "qdel_U"},
    "cbr_delay": {"C_L", "C_U", "qdel_L", "qdel_U", "C_Llambda", "q_U"},
}
THRESHOLDS = {
    "utilisation": "1/2",
    "inflight_rates": "4",
    "inflight_packets": "3",
    "loss_steps": "1/2",
    "loss_rates": "1",
    "large_loss": "1",
    "constrain_loss": "never",
    "large_buffer": "5",
}


def false_of(data):
    """Yield the reasons why an accepted trace is no execution of its query."""
    query, constants, columns = data["query"], numbers(data["constants"]), columns_of(data)
    kind, buffer = query["model"], query["buffer"]
    finite = buffer != "infinite"
    if not set(columns) <= OWN | MEASURED[kind] | BELIEFS[kind]:
        yield "a column of another name"
    if set(constants) != {"C", "R_m", "D", "MSS"} | ({"beta"} if finite else set()):
        yield "a constant of another name"
    if (constants["C"], constants["R_m"], constants["D"]) != (1, 1, int(query["jitter"])):
        yield "constants that are not the query's"
    if finite and not fits(buffer, constants["beta"]):
        yield "another buffer"
    if {len(column) for column in columns.values()} != {data["horizon"]} != {int(query["horizon"])}:
        yield "another horizon"
    yield from broken_laws(data)
    yield from (f"{name} as no one would believe" for name in unbelievable(data))
    if data["controller"] is not None and rates(data) != columns["r"][1:]:
        yield "rates that are not the controller's"


def numbers(values):
    """Rationals from text."""
    return {name: Fraction(value) for name, value in values.items()}


def columns_of(data):
    """The columns of a trace's JSON."""
    return {name: tuple(map(Fraction, column)) for name, column in data["columns"].items()}


def fits(buffer, beta):
    """Whether a buffer is as the query says."""
    if buffer == "any":
        return True
    return beta >= Fraction(buffer[2:]) if buffer.startswith(">=") else beta == Fraction(buffer)


def as_trace(data):
    """Return the trace in the form that other tests read. An unmeasured delay equals the measured one."""
    columns = columns_of(data)
    return Plain(data["horizon"], numbers(data["constants"]), {"F": columns["Q"], **columns}, data["query"])


class Plain:
    """A trace's attributes."""

    def __init__(self, horizon, constants, columns, query):
        self.horizon, self.constants, self.columns, self.query = horizon, constants, columns, query


def broken_laws(data):
    """Laws of the network, and of the published model's delays."""
    trace = as_trace(data)
    measured = MEASURED[data["query"]["model"]]
    for name, t in broken(trace):
        if name[0] != "F" or "F" in measured or name == "fits":
            yield f"law '{name}' broken at {t}"
    if data["query"].get("delay", "published") == "published":
        for name in measured:
            column = trace.columns[name]
            if any(now > before + 1 for before, now in pairwise(column)):
                yield f"{name} grows by more than one"
        if (
            "F" in measured
            and "beta" in trace.constants
            and max(trace.columns["F"]) > trace.constants["beta"] + trace.constants["D"]
        ):
            yield "F past the buffer"


def unbelievable(data):
    """The beliefs that do not start true, or do not follow."""
    trace = as_trace(data)
    stated = BELIEFS[data["query"]["model"]] & set(data["columns"])
    first = {"C_L": 0, "C_U": 10**9, "C_Llambda": 0, "q_U": 0}
    starts = {name: trace.columns[name][0] if name in stated else Fraction(value) for name, value in first.items()}
    D, MSS = trace.constants["D"], trace.constants["MSS"]
    most = min(1, (1 + trace.constants.get("beta", D + 1)) / (D + 2))
    queue = trace.columns["A"][0] - trace.columns["L"][0] - trace.columns["K"][0]
    true = {
        "C_L": MSS <= starts["C_L"] <= 1,
        "C_U": starts["C_U"] >= 1,
        "C_Llambda": MSS <= starts["C_Llambda"] <= most,
        "q_U": starts["q_U"] >= max(0, queue),
    }
    yield from (name for name in stated & set(true) if not true[name])
    followed = beliefs(trace, starts, [(0, 0)] * data["horizon"])
    for name in stated:
        ends = zip(trace.columns[name], followed[name], trace.columns["Q"], strict=True)
        if any(one != other and not (name == "qdel_U" and Q == data["horizon"] <= one) for one, other, Q in ends):
            yield name


class _Exact(ast.NodeTransformer):
    def visit_Constant(self, node):
        if isinstance(node.value, (int, float)):
            return ast.Call(ast.Name("Fraction", ast.Load()), [ast.Constant(repr(node.value))], [])
        return node


def rates(data):
    """Return the rates of the controller's Python, at least a packet."""
    names = {"Fraction": Fraction}
    exec(compile(ast.fix_missing_locations(_Exact().visit(ast.parse(data["controller"]))), "forged", "exec"), names)
    columns, MSS = columns_of(data), Fraction(data["constants"]["MSS"])
    known = {"R_m": Fraction(1), "D": Fraction(data["query"]["jitter"]), "MSS": MSS}
    parameters = names["rate"].__code__.co_varnames[: names["rate"].__code__.co_argcount]
    steps = range(data["horizon"] - 1)
    given = [{name: known[name] if name in known else columns[name][t] for name in parameters} for t in steps]
    return tuple(max(MSS, Fraction(names["rate"](**values))) for values in given)


def verdict(data):
    """Section 7 with the query's thresholds: whether the property holds, the parts that are not met, and whether
    beliefs are true at the end."""
    constants, columns, e = numbers(data["constants"]), columns_of(data), data["horizon"] - 1
    limits = {**THRESHOLDS, **data["query"]["property"]}
    limit = {name: Fraction(limits[name]) for name in THRESHOLDS if name != "constrain_loss"}
    A, S, L, K, r = (columns[name] for name in "ASLKr")
    bdp, alpha, beta = 1 + constants["D"], constants["MSS"], constants.get("beta")
    inflight = [a - lost - s for a, lost, s in zip(A, L, S, strict=True)]
    queue = [a - lost - k for a, lost, k in zip(A, L, K, strict=True)]
    up = r[e] > r[1] or inflight[e] > inflight[1] or queue[e] > queue[1]
    down = r[e] < r[1] or inflight[e] < inflight[1] or queue[e] < queue[1]
    true = columns["C_L"][e] <= 1 <= columns["C_U"][e]
    if data["query"]["model"] == "cbr_delay":
        true = true and (bdp + 1) * columns["C_Llambda"][e] <= 1 + (beta if beta is not None else bdp)
        true = true and columns["C_Llambda"][e] <= 1 and max(0, queue[e]) <= columns["q_U"][e]
    most = limit["inflight_rates"] * bdp + limit["inflight_packets"] * alpha
    parts = {
        "beliefs stay true": true,
        "bounds shrink": any(columns[name][0] != columns[name][e] for name in BOUNDS if name in columns),
        "utilises the link, or speeds up": S[e] - S[0] >= limit["utilisation"] * (e - constants["D"]) or up,
        "bounds inflight, or backs off": max(inflight[1:]) <= most or down,
    }
    small = True
    if beta is not None:
        losses = [L[t] - L[t - 1] for t in range(1, e + 1)]
        seldom, large = limit["loss_steps"] * e + 1, e * alpha * limit["large_loss"]
        parts["loses seldom, or backs off"] = sum(loss > 0 for loss in losses) <= seldom or down
        parts["loses little at once, or backs off"] = max(losses) <= large or down
        parts["loses little in all, or backs off"] = L[e] - L[1] <= seldom * limit["loss_rates"] * bdp + large or down
        if limits["constrain_loss"] != "never":
            matters = limits["constrain_loss"] == "always" or beta >= limit["large_buffer"] * bdp
            small = parts["small losses, or backs off"] = not matters or max(losses) <= large or down
    unconditional = ("beliefs stay true", "bounds shrink", "small losses, or backs off")
    progress = all(met for name, met in parts.items() if name not in unconditional)
    holds = true and small and (parts["bounds shrink"] or progress)
    return holds, tuple(name for name, met in parts.items() if not met), true
