"""Formula, monitor and sentence of an expectation agree on random executions, with a computation that stands here."""

import operator
import random
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import pytest
from ccmatic.properties.expectations import Reader, parse

import ccmatic as cm
from ccmatic.contracts import Buffer, Compared, load_definition, observed
from ccmatic.networks.simulation.paths import HIDING, JITTER, Path
from ccmatic.networks.simulation.simulator import simulate
from completeness.runs import NETWORKS
from completeness.runs import Run as IndependentRun
from completeness.sender import Impossible
from support import ROOT
from support.cli import lines, run
from support.json_schemas import validate

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}

#: Of each quantity: the units of its amounts, whether it is of intervals, and the networks that have it.
WINDOWS, RATES = ("ccac_windows", "two_flows", "ccac2021:R=2", "ccac2021:R=3,flows=2"), ("ccac", "cbr_delay", "ideal")
CASES = {
    "utilisation": (("%",), True, WINDOWS + RATES),
    "share": (("%",), True, ("two_flows", "ccac2021:R=3,flows=2")),
    "loss": (("%", "bdp", "packets"), True, WINDOWS + RATES),
    "queue": (("bdp", "packets", "rtt"), False, WINDOWS + RATES),
    "delay": (("rtt",), False, WINDOWS + RATES),
    "window": (("bdp", "packets"), False, WINDOWS),
    "rate": (("%",), False, WINDOWS + RATES),
    "timeout": ((), False, ("ccac_windows", "two_flows", "ccac2021:R=2")),
    "C_L": (("%",), False, RATES),
}


@dataclass(frozen=True)
class Taken:
    """An execution of numbers: of the Model `model`, by its columns and constants. flows: the suffix of each flow's."""

    model: object
    columns: dict
    constants: dict
    horizon: int

    @property
    def flows(self):
        return [""] if self.model.flows == 1 else [str(n) for n in range(1, self.model.flows + 1)]

    def view(self):
        buffer = Buffer("exactly", self.constants["beta"]) if "beta" in self.constants else Buffer("infinite")
        reads = self.columns.keys() & {belief.name for belief in self.model.beliefs}
        return observed(self.model, buffer, self.model.default_jitter, self, reads)

    def total(self, name):
        return [sum(values) for values in zip(*(self.columns[f"{name}{flow}"] for flow in self.flows), strict=True)]


@cache
def network(name):
    return load_definition("models", "MODEL", name)


def random_columns(rng, name):
    """Columns that obey no law but that bytes are served after they are sent, and lost as they are sent."""
    model, horizon = network(name), rng.randint(2, 13)
    flows = [""] if model.flows == 1 else [str(n) for n in range(1, model.flows + 1)]
    amounts = [Fraction(n, rng.choice((1, 3, 7))) for n in (0, 0, 0, 1, 2, 5)]
    columns = {}
    for flow in flows:
        back = rng.choice(amounts)
        A, S, L = [back], [Fraction(0)], [Fraction(0)]
        for _ in range(horizon - 1):
            sent = rng.choice(amounts)
            A.append(A[-1] + sent)
            L.append(L[-1] + sent * rng.choice((0, 0, Fraction(1, 4), 1)))
            S.append(S[-1] + (A[-2] - L[-2] - S[-1]) * rng.choice((0, Fraction(1, 2), 1)))
        columns |= {f"A{flow}": A, f"S{flow}": S, f"L{flow}": L, f"Ld{flow}": [Fraction(0), *L[:-1]]}
        columns |= {f"{name}{flow}": [rng.choice(amounts) for _ in A] for name in ("r", "cwnd")}
    for column in (*model.own_columns, *model.beliefs):
        columns[column.name] = [rng.choice(amounts) for _ in range(horizon)]
    columns |= {"K": columns.get("S", columns.get("S1")), "Q": [rng.randint(0, 3) for _ in range(horizon)]}
    columns["F"] = columns["Q"]
    constants = {"MSS": Fraction(1, rng.choice((3, 8))), "beta": Fraction(2), **dict.fromkeys(model.constants, 1)}
    return Taken(model, columns, constants, horizon)


@cache
def simulated(name, seed):
    rng = random.Random(f"{name} {seed}")
    bdp = rng.randint(6, 30)
    counts = [rng.randint(1, rng.choice((bdp, 3 * bdp))) for _ in range(24)]
    path = Path(name, rate=bdp, jitter=0 if name == "ideal" else 1, buffer=rng.randint(1, 4 * bdp))
    how = {"jitter": rng.choice(sorted(JITTER)), "hiding": rng.choice(sorted(HIDING))}
    return simulate(path, lambda seen: counts[seen.step], len(counts), seed=seed, **how)


def from_the_simulator(rng, name):
    run, horizon = simulated(name, rng.randrange(30)), rng.randint(2, 10)
    trace = run.trace(rng.randint(1, run.steps + 1 - horizon), horizon, alpha=Fraction(1, 2 * run.path.bdp))
    beliefs = {"C_L": [rng.choice((Fraction(1, 2), Fraction(1), Fraction(2, 3))) for _ in range(horizon)]}
    return Taken(network(name), {**trace.columns, **beliefs}, trace.constants, horizon)


@cache
def independent(name, seed):
    try:
        run = IndependentRun(NETWORKS[name], seed)
    except Impossible:  # its controller has no such start
        return None, []
    return run, list(run.begins_at())


def from_another_simulator(rng, name):
    run, begins = independent(name, rng.randrange(60))
    if not begins:
        return random_columns(rng, name)
    window = run.window(rng.choice(begins))
    constants = {name: Fraction(value) for name, value in window.constants.items()}
    return Taken(network(name), window.columns, constants, window.horizon)


def taken(rng, name):
    """Return a random execution: of the simulator, of an independent simulator, or of arbitrary numbers."""
    sources = [random_columns]
    sources += [from_the_simulator] if name in RATES else []
    sources += [from_another_simulator] if name in ("ccac_windows", "two_flows") else []
    return rng.choice(sources)(rng, name)


# ---- what is expected, computed here ----


def values(execution, subject, unit, interval):
    """(value, whole, first step, last step, flow's number or None) of each place, in plain Python."""
    T, R, alpha = execution.horizon, execution.model.round_trip(1), execution.constants["MSS"]
    scale = {"bdp": R, "rtt": R, "packets": alpha}.get(unit, 1)
    A, S, L = map(execution.total, "ASL")
    own = [{key: execution.columns.get(f"{key}{flow}") for key in ("A", "S", "L", "Ld", "cwnd", "r", "found")}
           for flow in execution.flows]  # fmt: skip
    if subject in ("utilisation", "share", "loss"):
        length = interval or (R if subject == "loss" and unit != "%" else T - 1)
        for a in range(T - length):
            b = a + length
            if subject == "utilisation":
                yield S[b] - S[a], b - a, a, b, None
            elif subject == "loss":
                yield L[b] - L[a], (A[b] - A[a] if unit == "%" else scale), a, b, None
            for n, flow in enumerate(own if subject == "share" else ()):
                yield flow["S"][b] - flow["S"][a], S[b] - S[a], a, b, n
        return
    for t in range(T):
        if subject == "queue":
            yield A[t] - L[t] - S[t], scale, t, t, None
        elif subject == "delay":
            # Steps until these bytes are served: one more than the execution shows, if it does not show it.
            yield next((u for u in range(t, T) if S[u] >= A[t] - L[t]), T) - t, R, t, t, None
        elif subject == "C_L":
            yield execution.columns["C_L"][t], 1, t, t, 0
        decided = t > 0 or subject != "rate" or execution.model.windows  # a rate sender begins at any rate
        for n, flow in enumerate(own if decided and subject in ("window", "rate", "timeout") else ()):
            yield ({"window": flow["cwnd"], "rate": flow["r"]}[subject][t] if subject != "timeout" else
                   int(fires(flow, t, R))), scale, t, t, n  # fmt: skip


def fires(flow, t, R):
    """Whether the timer fires at t (docs/reference/stateful.md): nothing is on its way, and a loss is not found."""
    if t < R:
        return False
    then = t - R
    if flow["S"][then] != flow["A"][then] - flow["L"][then]:
        return False
    if flow["found"] is None:
        return flow["S"][then] < flow["A"][t - 1]
    return flow["A"][t - 1] == flow["A"][then] and max(flow["Ld"][t - 1], flow["found"][t]) < flow["L"][then]


@dataclass(frozen=True)
class Asked:
    """A question: its text `text`, and its parts."""

    subject: str
    relation: str
    amount: Fraction
    unit: str
    interval: int | None
    condition: tuple | None  # relation, amount in bdp: of the queue
    text: str


def asked(rng, execution, subject):
    """An expectation about a quantity that an execution may meet, or break, by little or by much."""
    units, of_intervals, _ = CASES[subject]
    T, R = execution.horizon, execution.model.round_trip(1)
    unit = rng.choice(units) if units else ""
    interval = rng.randint(1, T - 1) if of_intervals and rng.random() < 0.6 else None
    if subject == "loss" and unit != "%" and interval is None and R >= T:
        interval = 1
    condition = (rng.choice(tuple(COMPARE)), Fraction(rng.randint(0, 6), 3)) if rng.random() < 0.3 else None
    found = [v / Fraction(w) for v, w, *_ in values(execution, subject, unit, interval) if w]
    near = rng.choice(found) if found else Fraction(1)
    amount = max(Fraction(0), near + rng.choice((0, 0, Fraction(1, 1000), Fraction(-1, 1000), 1)))
    relation = rng.choice(tuple(COMPARE))
    if subject == "delay":
        relation, amount = "<=", Fraction(rng.randint(0, T - 1), R)
    if subject == "timeout":
        relation, amount, text = "<=", Fraction(0), "no timeout"
    else:
        text = f"{subject} {relation} {amount * 100 if unit == '%' else amount} {unit}"
    text += f" over every {Fraction(interval, R)} rtt" if interval else ""
    text += f" while queue {condition[0]} {condition[1]} bdp" if condition else ""
    return Asked(subject, relation, amount, unit, interval, condition, text)


def places(execution, question):
    """Yield the places that a question is about, in plain Python."""
    queue = [value / Fraction(whole) for value, whole, *_ in values(execution, "queue", "bdp", None)]
    holds = [question.condition is None or COMPARE[question.condition[0]](q, question.condition[1]) for q in queue]
    R = execution.model.round_trip(1)
    last = execution.horizon - 1 - (question.amount * R if question.subject == "delay" else 0)
    for value, whole, a, b, n in values(execution, question.subject, question.unit, question.interval):
        if all(holds[a : b + 1]) and a <= last and (whole or value):
            yield (value / Fraction(whole) if whole else float("inf")), a, b, n


# ---- what the product says ----

WHERE = r"(?: of flow (?P<flow>\d+))? (?:at (?P<at>\S+)|from (?P<begin>\S+) to (?P<end>\S+)) R_m"
SENTENCE = re.compile(rf"(?P<least>at least )?(?:(?P<value>\S+) (?P<unit>%|bdp|rtt|packets)|a timeout){WHERE}")


def check(rng, subject):
    execution = taken(rng, rng.choice(CASES[subject][2]))
    question = asked(rng, execution, subject)
    model, x = execution.model, execution.view()
    expects = load_definition("properties", "PROPERTY", "expects").from_parameters({"what": question.text})
    expectation = parse(question.text)
    about = question.text, execution
    found = list(places(execution, question))
    met = all(COMPARE[question.relation](value, question.amount) for value, *_ in found)

    (formula,) = expects.objectives(model, x).values()
    assert formula is met, about

    reader = Reader(model, x)
    worst = reader.worst(expectation)
    assert (worst is None) == (not found), about
    if worst is None:
        assert reader.measured(expectation) == ""
        return met
    choose = max if question.relation in ("<", "<=") else min
    assert worst.value == choose(value for value, *_ in found), about
    assert (worst.value, worst.begin, worst.end, worst.flow) in found, about
    assert expectation.met(worst.value) == met, about

    check_sentence(reader.measured(expectation), worst, question, execution)
    if not met:
        leaves = [leaf.reason for leaf in reader.reason(expectation).leaves(False)]
        decides = [leaf for leaf in leaves if isinstance(leaf, Compared)]
        assert decides or subject == "timeout"
        assert all(not leaf.condition for leaf in leaves if leaf in decides), about
    return met


def check_sentence(sentence, worst, question, execution):
    about = sentence, question.text, execution
    if question.subject == "timeout" and not worst.value:
        assert sentence == "", about
        return
    said = SENTENCE.fullmatch(sentence)
    assert said, about
    R = execution.model.round_trip(1)
    begin, end = (float(said[name] or said["at"]) for name in ("begin", "end"))
    assert begin == pytest.approx(worst.begin / R, rel=1e-3), about
    assert end == pytest.approx(worst.end / R, rel=1e-3), about
    assert int(said["flow"] or 1) == (worst.flow or 0) + 1, about
    if question.subject == "timeout":
        return
    served = execution.total("S")[-1]
    waits = execution.total("A")[worst.begin] - execution.total("L")[worst.begin] > served
    assert bool(said["least"]) == (question.subject == "delay" and waits), about
    shown = float("inf") if said["value"] == "inf" else Fraction(said["value"])
    shown /= 100 if said["unit"] == "%" else 1
    assert float(shown) == pytest.approx(float(worst.value), rel=1e-3), about
    assert COMPARE[question.relation](shown, question.amount) == COMPARE[question.relation](
        worst.value, question.amount
    ), about


NUMBERS = [pytest.param(30, id="few"), pytest.param(10_000, id="many", marks=pytest.mark.slow)]


@pytest.mark.parametrize("count", NUMBERS)
@pytest.mark.parametrize("subject", CASES)
def test_formula_monitor_and_sentence_agree(subject, count):
    rng = random.Random(f"monitors {subject}")
    verdicts = [check(rng, subject) for _ in range(count)]
    assert count / 10 < sum(verdicts) < count


def test_a_trace_of_a_simulated_run_is_judged():
    trace = simulated("ccac", 1).trace(2, 8)
    for text in ("queue <= 1 bdp", "utilisation >= 99%", "loss <= 1/2 packets", "delay <= 3 rtt"):
        judged = cm.measure(trace, text)
        reader = Reader(network("ccac"), Taken(network("ccac"), trace.columns, trace.constants, 8).view())
        worst = reader.worst(parse(text)).value
        assert judged.value * (Fraction(1, 100) if judged.unit == "%" else 1) == worst
        assert judged.verdict == ("met" if parse(text).met(worst) else "not met")


def test_replay_judges_a_trace_by_expectations():
    trace = str(ROOT / "results" / "gallery" / "late_drain.json")
    code, out, _ = run("replay", trace, "--expect", "queue <= 9 bdp", "--expect", "queue <= 4 bdp", "--json")
    assert code == 1
    validate(lines(out)[0], "ReplayLine")
    queue, low = lines(out)[0]["expectations"]
    assert (queue["verdict"], low["verdict"]) == ("met", "not met")
    most = max(A - S for A, S in zip(*(cm.Trace.load(trace).columns[name] for name in "AS"), strict=True))
    assert Fraction(low["value"]) == most
    code, out, _ = run("replay", trace, "--expect", "queue <= 4 bdp while queue > 100 bdp")
    assert code == 3 and "not applicable" in out
    code, _, error = run("replay", trace, "--expect", "window <= 1 bdp")
    assert code == 2 and "window <= 1 bdp" in error
