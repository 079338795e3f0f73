"""A forger edits traces and their digests. Every trace that replay accepts is an execution and violates its property.

Laws in plain Python, which share nothing with the engine, decide the truth.
"""

import json
from collections import Counter
from fractions import Fraction
from functools import cache
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.answers.verification.replayer import Outcome, replay
from ccmatic.base.errors import InputError
from ccmatic.networks.traces.trace import Trace
from support import ROOT, plain_replay
from support.failures import FAILURES, failing

GALLERY = sorted(
    file
    for file in (ROOT / "results" / "gallery").glob("*.json")
    if json.loads(file.read_text())["query"]["model"] in plain_replay.MEASURED
)

NAMES = (
    "A",
    "S",
    "L",
    "Ld",
    "K",
    "r",
    "Q",
    "F",
    "C_L",
    "C_U",
    "C_Llambda",
    "qdel_L",
    "qdel_U",
    "q_U",
    "C_L_untimed",
    "C",
    "R_m",
    "D",
    "MSS",
    "beta",
    "t",
)


@cache
def originals():
    """The text of traces of every model."""
    return tuple(failing(failure).to_json() for failure in FAILURES) + tuple(file.read_text() for file in GALLERY)


def nearby(rng, number):
    """Another number, or the same."""
    number = Fraction(number)
    steps = (0, 1, -1, Fraction(1, 2), Fraction(1, 1000), -number, number)
    return str(number + rng.choice(steps))


def some_numbers(data, rng):
    """A number or a few of one column, or a whole column."""
    name = rng.choice(sorted(data["columns"]))
    column = data["columns"][name]
    first = rng.randrange(len(column))
    last = rng.choice((first + 1, first + 1, len(column)))
    shift = Fraction(rng.choice((1, -1, 3)), rng.choice((1, 2, 1000)))
    for t in range(first, last):
        column[t] = str(Fraction(column[t]) + shift)


def past(data, rng):
    """Edit the values with which a trace begins."""
    name = rng.choice(("Ld", "Q", "C_L", "C_U", "r", "q_U"))
    if name in data["columns"]:
        data["columns"][name][0] = nearby(rng, data["columns"][name][0])


def constant(data, rng):
    """A constant."""
    name = rng.choice(sorted(data["constants"]))
    data["constants"][name] = nearby(rng, data["constants"][name])


def added(data, rng):
    """A column or a constant more."""
    values = rng.choice(list(data["columns"].values()))
    values = rng.choice((values, [nearby(rng, values[0])] * len(values)))
    if rng.random() < 0.7:
        data["columns"][rng.choice(NAMES)] = list(values)
    else:
        data["constants"][rng.choice(NAMES)] = values[0]


def dropped(data, rng):
    """A column or a constant less."""
    section = data[rng.choice(("columns", "columns", "constants"))]
    if section:
        del section[rng.choice(sorted(section))]


def swapped(data, rng):
    """Two columns in each other's place, or one under another name."""
    columns = data["columns"]
    one, other = rng.choice(sorted(columns)), rng.choice(NAMES)
    columns[one], columns[other] = columns.get(other, columns[one]), columns[one]


def threshold(data, rng):
    """Edit the property of the trace."""
    name = rng.choice(sorted(plain_replay.THRESHOLDS))
    choices = ("never", "always", "large-buffer") if name == "constrain_loss" else ("0", "1/4", "1", "3", "5", "20")
    data["query"]["property"][name] = rng.choice(choices)


def network(data, rng):
    """Edit the network of the trace."""
    name, values = rng.choice([
        ("model", ("ccac", "cbr_delay", "ideal")), ("buffer", ("any", "infinite", "1/2", ">=1/4", ">=3", "2")),
        ("jitter", ("0", "1", "2")), ("delay", ("published", "executions")), ("horizon", ("3", "4", "5", "6", "7")),
    ])  # fmt: skip
    data["query"][name] = rng.choice(values)


def shorter(data, rng):
    """The first steps alone."""
    data["horizon"] -= 1
    data["query"]["horizon"] = str(data["horizon"])
    data["columns"] = {name: column[:-1] for name, column in data["columns"].items()}


def controller(data, rng):
    """Set another controller, no controller, or the same in other words."""
    source = data["controller"]
    if source is None:
        return
    data["controller"] = rng.choice([
        None, source + "\n", source.replace("2 *", "3 *"), source.replace("/ 2", "/ 3"), source.replace("4 *", "9/2 *"),
        source.replace("4 * R_m", "R_m"), source.replace("MSS", "R_m"), "def rate(C_L):\n    return 2 * C_L\n",
        "def rate(C_L, C_U):\n    return max(2 * C_L, C_L + C_U)\n", "def rate(MSS, R_m):\n    return MSS / R_m\n",
    ])  # fmt: skip


def stated(data, rng):
    """Edit the objectives that the trace claims to violate."""
    parts = ("beliefs stay true", "bounds shrink", "bounds inflight, or backs off", "loses little", "")
    data["broken"] = rng.choice(([], [rng.choice(parts)], [*data["broken"], rng.choice(parts)], data["broken"][:1]))


EDITS = (some_numbers, past, constant, added, dropped, swapped, threshold, network, shorter, controller, stated)
edits = st.lists(st.tuples(st.sampled_from(EDITS), st.integers(0, 2**32)), min_size=1, max_size=3)


def judge(original, chosen, counts):
    """Forge a trace and replay it: accepted claims are true."""
    data = json.loads(originals()[original])
    for edit, seed in chosen:
        edit(data, Random(seed))
    data.pop("digest", None)
    counts["edited"] += 1
    try:
        trace = Trace.from_json(Trace.from_json(json.dumps(data)).to_json())
        report = replay(trace)
    except InputError:
        counts["refused"] += 1
        return
    if report.faults:
        counts["refused"] += 1
        assert report.outcome is Outcome.CANNOT_BE_JUDGED
        return
    data = json.loads(trace.to_json())
    assert list(plain_replay.false_of(data)) == [], chosen
    told = report.query.record()
    assert all(told[name] == data["query"][name] for name in ("model", "horizon", "buffer", "jitter", "delay")), chosen
    assert (report.controller and report.controller.source) == data["controller"]
    if report.outcome is Outcome.CANNOT_BE_JUDGED:
        assert data["controller"] is None and report.reason
        counts["accepted, but cannot be judged"] += 1
        return
    holds, unmet, true = plain_replay.verdict(data)
    assert (report.outcome is Outcome.KEEPS) == holds and set(report.unmet) == set(unmet), chosen
    assert holds or data["controller"] is not None or not true, chosen
    assert not data["broken"] or (not holds and set(data["broken"]) <= set(unmet)), chosen
    counts["accepted, as still true"] += 1


def forge(number, capsys):
    counts = Counter()
    repeatably = settings(derandomize=True, deadline=None, max_examples=number, database=None)
    which = st.integers(0, len(originals()) - 1)
    repeatably(given(which, edits)(lambda original, chosen: judge(original, chosen, counts)))()
    with capsys.disabled():
        print(f"\nforged traces: {dict(counts)}")
    assert counts["edited"] >= number and counts["refused"] > number / 2
    assert counts["accepted, as still true"]


@pytest.mark.parametrize("original", range(len(FAILURES) + len(GALLERY)))
def test_the_plain_laws_accept_the_originals(original):
    data = json.loads(originals()[original])
    assert list(plain_replay.false_of(data)) == []
    holds, unmet, _ = plain_replay.verdict(data)
    assert not holds and set(unmet) == set(data["broken"])


def test_no_forged_trace_is_accepted(capsys):
    forge(40, capsys)


@pytest.mark.slow
def test_no_forged_trace_of_thousands_is_accepted(capsys):
    forge(10000, capsys)
