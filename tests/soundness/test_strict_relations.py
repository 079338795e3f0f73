"""The output of commands if a value lies exactly on the amount of an expectation, for each quantity and relation.

A condition on the executions bounds the quantity by the worst value of one trace. So the edge is known without a
search: no execution goes beyond this value, and the trace reaches it.
"""

import json
import operator
import random
import re
from dataclasses import dataclass, fields
from fractions import Fraction
from itertools import product
from types import SimpleNamespace

import pytest
from ccmatic.properties.expectations import Reader, parse
from ccmatic.properties.subjects import CONDITIONS, QUANTITIES

import ccmatic as cm
from ccmatic import records
from ccmatic.answers import reports
from ccmatic.answers.starvation import Starvation
from ccmatic.contracts import load_definition
from ccmatic.deployment.emulation import Monitor, link
from ccmatic.judging.expectations import every_rule
from ccmatic.judging.rules.premises import start_up
from ccmatic.judging.scenario import Scenario
from ccmatic.logic import isolated
from ccmatic.proving.expectations import claim_of
from ccmatic.proving.shapes import implies
from ccmatic.records import FlowRecord
from support import ROOT
from support.cli import run
from support.emulations import in_time
from support.sampling import each_nth

COMPARE = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
WORDS = {"above": operator.gt, "at least": operator.ge, "below": operator.lt, "at most": operator.le}
FALSE = {"<": "not less than", "<=": "more than", ">": "not more than", ">=": "less than"}
WEAK = {"<": "<=", ">": ">="}


@dataclass(frozen=True)
class Case:
    """A quantity on a network.

    Attributes:
        subject: The quantity.
        unit: The unit of its amounts.
        bounds: About the upper and the lower bound that the values of some executions have.
        on: The network.
        values: A function from the columns of a trace to the values of the quantity.
        clause: Further clauses of the expectation.
    """

    subject: str
    unit: str
    bounds: tuple
    controller: str
    on: str
    values: object
    clause: str = ""

    def text(self, relation, amount):
        return f"{self.subject} {relation} {amount} {self.unit}{self.clause}"

    def worst(self, relation, trace):
        begin = int(trace.query.get("history", 0))
        return (max if "<" in relation else min)(
            self.values({name: column[begin:] for name, column in trace.columns.items()})
        )

    def ask(self, text, given=""):
        return cm.ask(self.controller, self.on, text, start="any", given=given)


def at_steps(name, *subtracted):
    """Values at each step: a column without the columns `subtracted`."""
    return lambda c: [value - sum(c[other][t] for other in subtracted) for t, value in enumerate(c[name])]


def grown(name, length=None, over=None):
    """Growth of a column in intervals of a length, or in the whole trace; over: as a share of another column's growth.

    The column "C" is the bytes that the link may carry.
    """

    def values(c):
        steps = length or len(c[name]) - 1
        for a in range(len(c[name]) - steps):
            whole = 1 if over is None else steps if over == "C" else c[over][a + steps] - c[over][a]
            if whole:
                yield (c[name][a + steps] - c[name][a]) / whole

    return values


def shares(c):
    served = [c[f"S{n}"][-1] - c[f"S{n}"][0] for n in "12"]
    return [each / sum(served) for each in served if sum(served)]


RATE, WINDOW = "ccac, buffer 2 bdp, jitter 1 rtt", "ccac, buffer 1 bdp"
CASES = [
    Case("utilisation", "", ("1/2", "1/2"), "cc_qdel", RATE, grown("S", over="C")),
    Case("utilisation", "", ("1/2", "1/2"), "cc_qdel", RATE, grown("S", 2, over="C"), " over every 2 rtt"),
    Case("share", "", ("2/3", "1/3"), "constant_window", "ccac, buffer 1 bdp, flows 2", shares),
    Case("loss", "", ("1/5", "1/5"), "cc_qdel", RATE, grown("L", over="A")),
    Case("loss", "bdp", ("1/5", "1/5"), "cc_qdel", RATE, grown("L", 1)),
    Case("marked", "", ("1/5", "1/5"), "aimd", "marking, buffer 1 bdp, threshold 1/2 bdp", grown("echoed", over="S")),
    Case("queue", "bdp", (1, 1), "cc_qdel", RATE, at_steps("A", "L", "S")),
    Case("queue", "rtt", (1, 1), "cc_qdel", RATE, at_steps("A", "L", "S")),
    Case("rate", "", ("1/2", "1/2"), "cc_qdel", RATE, lambda c: c["r"][1:]),  # a rate sender decides from step 1 on
    Case("C_U", "", (2, 2), "cc_qdel", RATE, at_steps("C_U")),
    Case("burst", "bdp", ("1/2", "1/2"), "aimd", WINDOW, grown("A", 1)),
    Case("growth", "bdp", ("1/10", "1/10"), "aimd", WINDOW, grown("cwnd", 1)),
    Case("window", "bdp", ("1/2", "1/2"), "aimd", WINDOW, at_steps("cwnd")),
    Case("threshold", "bdp", ("1/2", "1/2"), "reno", WINDOW, at_steps("threshold")),
]

#: The quantities whose expectations have the relation <= alone.
ONE_SIDED = {name for name, quantity in QUANTITIES.items() if quantity.relations == ("<=",)}


def test_each_quantity_has_a_case():
    assert QUANTITIES.keys() <= {case.subject for case in CASES} | {*CONDITIONS} | ONE_SIDED


@isolated
def no_worse(case, relation, amount):
    """A condition, in the language of `avoids`, that each value meets a bound."""
    text = case.text(WEAK.get(relation, relation), amount)
    query = case.ask(text).query
    x = query.execution(state=query.controller(case.controller).state)
    return f"Not({Reader(query.model, x).avoided(parse(text))})"


def on_the_edge(case, relation):
    """A random value of a case, and the condition that no execution has a worse one."""
    rng = random.Random(f"{case} {relation}"[:99])
    bound = Fraction(case.bounds["<" not in relation]) * Fraction(rng.randint(90, 110), 100)
    milder = bound * (Fraction(9, 10) if "<" in relation else Fraction(11, 10))
    text = case.text(WEAK.get(relation, relation), milder)
    judged = cm.answer(case.ask(text, no_worse(case, relation, bound)))
    value = case.worst(relation, judged.trace)
    assert COMPARE[WEAK.get(relation, relation)](value, bound) and value > 0
    return value, no_worse(case, relation, value)


#: Of four relations, every third case: each quantity and each relation has some on each day.
EDGES = each_nth(3, product(CASES, COMPARE))


@pytest.mark.parametrize("case, relation", EDGES, ids=lambda part: part if isinstance(part, str) else part.subject)
def test_sentences_and_json_are_true_of_a_value_on_the_edge(case, relation):
    value, given = on_the_edge(case, relation)
    strict, text = relation in WEAK, case.text(relation, value)
    question = case.ask(text, given)

    judged = cm.answer(question)
    assert judged.verdict == ("violated" if strict else "holds")
    if strict:
        line = json.loads(reports.judgement_json("it", judged, None, question=question))
        assert case.worst(relation, judged.trace) == value
        check_measured(case, relation, value, judged.trace)
        measured = question.measured(judged.trace)
        assert line["measured"] == measured and f"in this trace {measured}" in reports.answer_text(
            question, judged, None
        )
        broken = cm.explain(judged.trace).broken
        assert f", {FALSE[relation]} " in broken[0], broken

    worst = cm.worst(question)
    assert question.met(worst) == judged.verdict
    shown = worst.trace and reports.of_edge(cm.explain(worst.trace), text, worst)
    line = json.loads(reports.worst_json(text, worst, None, shown, question))
    none, some = (None if line[name] is None else Fraction(line[name]) for name in ("none", "some"))
    # No execution has a worse value than the one on the edge.
    assert line["met"] == judged.verdict and (some if strict else none) == value
    assert none is None or not WORDS[line["worse"]](value, none)
    claims = [f"never {line['worse']} {none}"] * (none is not None)
    claims += [f"{'sometimes ' * (none is not None)}{line['worse']} {some}"] * (some is not None)
    assert f"{text}: {', '.join(claims)}" in reports.worst_text(text, worst, None, question)
    if some is None:  # the range of the search ends at the amount
        return
    reached = case.worst(relation, worst.trace)
    assert WORDS[line["worse"]](reached, some) and COMPARE[WEAK.get(relation, relation)](reached, value)
    assert f"the worst value of this trace is {line['worse']} {some}" in line["explanation"]["broken"][0]
    check_measured(case, relation, value, worst.trace)


def check_measured(case, relation, amount, trace):
    """Check how `replay` judges a trace by each relation to an amount."""
    reached = case.worst(relation, trace)
    for each in COMPARE:
        if ("<" in each) == ("<" in relation):
            judged = cm.measure(trace, case.text(each, amount))
            assert judged.value == reached and judged.sentence.startswith(" ".join(case.text(each, amount).split()))
            assert judged.verdict == ("met" if COMPARE[each](reached, amount) else "not met")
            number = Fraction(re.match(r"[\d./e-]+", judged.measured)[0]) / (100 if "%" in judged.measured else 1)
            assert COMPARE[each](number, amount) == COMPARE[each](reached, amount), judged


# ---- relations that have no meaning ----


@pytest.mark.parametrize("relation", [*COMPARE, "=="])
@pytest.mark.parametrize("subject", sorted(ONE_SIDED))
def test_a_quantity_without_a_relation_refuses_it(subject, relation):
    on = f"ccac, buffer 1 bdp{', outage 2 rtt' if subject == 'recovery' else ''}"
    if relation != "<=":
        with pytest.raises(cm.InputError, match="expected"):
            cm.ask("aimd", on, f"{subject} {relation} 2 rtt")
    else:
        assert cm.ask("aimd", on, f"{subject} {relation} 2 rtt")


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.subject} {case.unit}")
def test_no_command_takes_an_equation(case):
    text = case.text("==", 1)
    trace = ROOT / "results" / "gallery" / "late_drain.json"
    for command in ("verify", "worst", "prove"):
        code, _, error = run(command, case.controller, "--on", case.on, "--expect", text)
        assert code == 2 and "has the relation '=='; expected one of <=, <, >=, >" in error
    code, _, error = run("replay", trace, "--expect", text)
    assert code == 2 and "has the relation '=='" in error
    for judges in (lambda: every_rule((), [text]), lambda: Monitor(LINK, [text])):
        with pytest.raises(cm.InputError, match="has the relation '=='"):
            judges()


# ---- proofs ----


@pytest.mark.parametrize("relation", COMPARE)
@pytest.mark.parametrize("constant, subject, unit", [("utilisation", "utilisation", ""), ("inflight", "queue", "bdp"),
                                                     ("loss", "loss", "packets")])  # fmt: skip
def test_a_constant_on_the_amount_implies_no_strict_relation(constant, subject, unit, relation):
    proof = load_definition("proofs", "PROOF", "link_rate")
    rng = random.Random(f"{subject} {relation}")
    for _ in range(100):
        value = Fraction(rng.randint(1, 999), 1000)
        horizon = rng.randint(6, 12) + proof.common
        window = horizon - proof.common
        bound = {"utilisation": value * (window - proof.jitter) / window, "queue": 2 * value, "loss": value}[subject]
        expectation = parse(f"{subject} {relation} {bound} {unit}")
        assert implies(expectation, proof, horizon, {constant: value}) == (
            relation == (">=" if subject == "utilisation" else "<=")
        )


def test_an_invariant_is_about_no_strict_relation():
    for case in CASES:
        for relation in WEAK:
            with pytest.raises(
                cm.InputError, match=f"proves no strict inequality; expected '{WEAK[relation]}'|no invariant"
            ):
                claim_of(cm.ask(case.controller, case.on, case.text(relation, 1), start="informed"))


# ---- runs ----

MS, SECONDS = 10**6, 7 * 10**9
LINK = link.of_texts("24mbit", "40ms", "1bdp", "4ms", seed=1)
SCENARIO = Scenario(
    duration=SECONDS, rate=24_000_000, rtt=40 * MS, buffer=120_000, jitter=4 * MS, flows=[FlowRecord()] * 2
)


def packets(seed):
    """A run with packets of two flows, which come in bursts."""
    rng, now, arrivals = random.Random(seed), 0, []
    while now < SECONDS:
        arrivals.append((now, rng.randrange(2)))
        now += rng.choice((1, 3, 5, 30)) * MS // 10
    return in_time(LINK, ("cubic", "reno"), arrivals, SECONDS)


@pytest.mark.parametrize("relation", COMPARE)
@pytest.mark.parametrize("subject, unit", [("utilisation", "%"), ("share", "%"), ("loss", "%"), ("loss", "kb"),
                                           ("queue", "kb"), ("queue", "ms"), ("queue", "packets")])  # fmt: skip
def test_a_run_on_the_edge_is_judged_by_the_relation(subject, unit, relation):
    emulation, begin = packets(f"{subject} {relation}"), Fraction(start_up(SCENARIO), 10**9)
    [first] = Monitor(LINK, [f"{subject} {relation} 1 {unit}"]).judged(emulation, begin)
    text, verdict = f"{subject} {relation} {first.value} {unit}", "not met" if relation in WEAK else "met"
    [judged] = Monitor(LINK, [text]).judged(emulation, begin)
    assert judged.value == first.value and judged.verdict == verdict
    assert Fraction(json.loads(records.line(judged))["value"]) == first.value
    assert reports.expectation_text(judged).startswith(verdict)
    assert COMPARE[relation](Fraction(judged.measured.split()[0]), first.value) == (verdict == "met")
    [rule] = every_rule((), [text])
    measured = rule.measure(SimpleNamespace(run=SimpleNamespace(scenario=SCENARIO, packets=emulation.log)))
    assert measured.value == float(first.value) and (measured.margin < 0) == (verdict == "not met")


# ---- shares ----


def test_a_flow_starves_below_the_threshold_alone():
    starvation = cm.starve(
        "def send(MSS):\n    return MSS\n",
        "def send(MSS):\n    return 9 * MSS\n",
        on="ideal, buffer infinite",
        periods=(1,),
    )
    (attempt,), share = starvation.attempts, starvation.share
    assert not share < attempt.worst.none and share < attempt.worst.some
    assert attempt.sentence().startswith(f"never below {attempt.worst.none}, sometimes below {attempt.worst.some} ")

    class OnTheEdge(Starvation):
        threshold = share

    at = OnTheEdge(**{each.name: getattr(starvation, each.name) for each in fields(starvation)})
    assert at.verdict != "starves" and f"a flow starves below {share} of" in reports.starve_text(at, None)
