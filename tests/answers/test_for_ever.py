"""`worst --period`: an execution goes on for ever where all that its sender does in a period it does in the next."""

from dataclasses import replace
from fractions import Fraction
from itertools import product

import pytest

import ccmatic as cm
from ccmatic.answers.verification import Outcome, check_trace
from ccmatic.questions import query as queries
from support import ROOT
from support.cli import run
from support.sampling import each_nth

#: Reno, whose receiver lets it have so many packets in flight: where nothing is lost `recover` is never set.
RENO = (ROOT / "examples/controllers/reno.py").read_text("utf-8")
CAPPED = RENO.replace("\n\n\ndef send", "\n    window = min(window, {} * MSS)\n\n\ndef send")

#: Its window depends on whether a place among the bytes, which only a timeout sets, was acknowledged.
MARKED = """\
window: bytes = above(0)
mark: bytes = anything()


def update(window, mark, acked, sent, timeout, MSS):
    window = {before} * MSS if acked < mark else {after} * MSS
    if timeout:
        mark = sent


def send(window):
    return window
"""

#: It sends by a packet until it has counted a hundred steps, then by four.
COUNTED = """\
window: bytes = above(0)
count: number = anything()


def update(window, count, acked, MSS):
    count = count + 1
    window = MSS if count < 100 else 4 * MSS


def send(window):
    return window
"""

#: It has five C·R_m in flight for as long as it observes a delay of three steps or more.
KEEPS = """\
window: bytes = anything()


def update(window, delay, line_rate, R_m, MSS):
    window = line_rate * R_m / {} if delay >= {} * R_m else MSS


def send(window):
    return window
"""


def network(model="ideal_windows", buffer="infinite", horizon=5):
    return cm.Network(model, buffer, horizon, delay="executions")


def written(folder, text):
    file = folder / "sends.py"
    file.write_text(text)
    return str(file)


def edge(controller, asked, of="utilisation", **more):
    found = cm.worst(controller, asked, of, **{"given": "alpha == 1/4", "resolution": "1/4", **more})
    assert found.verdict == "found" and (found.report is None or found.report.outcome is Outcome.BREAKS)
    return found.none, found.some


@pytest.mark.parametrize(
    "buffer, packets, least",
    each_nth(4, [("infinite", 8, "1"), ("1", 1, "1/4"), ("infinite", 1, "1/4"), ("1", 8, "1")]),
)
def test_a_place_that_no_loss_sets_may_stay(tmp_path, buffer, packets, least):
    """Where nothing is lost a window of one packet uses a quarter of the link."""
    reno = written(tmp_path, CAPPED.format(packets))
    assert edge(reno, network(buffer=buffer, horizon=9), period=4, given="alpha == 1/4; L[-1] == 0")[0] == Fraction(
        least
    )


@pytest.mark.parametrize("before, after, least", [(1, 4, 1), (4, 1, Fraction(1, 4))])
def test_what_is_behind_stays_behind_and_what_is_ahead_is_reached(tmp_path, before, after, least):
    """A place that stays is passed in the end, so that what comes after is for ever, what came before is not."""
    sends = written(tmp_path, MARKED.format(before=before, after=after))
    none, some = edge(sends, network(), period=2)
    assert none == least and some in (None, least + Fraction(1, 4))


def test_what_is_counted_for_ever_repeats_once_nothing_turns_on_it(tmp_path):
    assert edge(written(tmp_path, COUNTED), network(), period=2) == (1, None)


@pytest.mark.parametrize(
    "model, period", each_nth(4, product(("ideal_windows", "cbr_delay_windows", "ccac2021"), (1, 2)))
)
def test_a_delay_that_is_longer_than_the_trace_is_observed(tmp_path, model, period):
    """Four C·R_m wait for ever, each byte for four steps or so."""
    sends = written(tmp_path, KEEPS.format(20, 3))
    found = cm.worst(sends, network(model, horizon=2 * period + 1), "queue", period=period, at="7/2")
    assert found.some == Fraction(7, 2)
    assert not later_faults(found.trace, period)


STOPS = """
window: bytes = anything()

def update(window, delay, MSS, step):
    if delay > 4 * step:
        window = 0
    else:
        window = 4 * MSS

def send(window):
    return window
"""


def test_a_sender_stops_for_ever_on_a_last_delay_that_is_longer_than_the_trace(tmp_path):
    """It sends nothing, so no other delay is ever measured."""
    found = cm.worst(written(tmp_path, STOPS), network(horizon=3), "A[T-1] == A[0]", period=1)
    assert found.some is not None


def test_a_delay_that_is_longer_than_any_that_is_told_apart_is_left_out_and_told(tmp_path):
    sends = written(tmp_path, KEEPS.format(2, 49))
    found = cm.worst(sends, network(horizon=3), "queue", period=1, high=60, resolution=1)
    assert found.none < 49
    assert "late delays: a sender observes a delay of more than 32 steps" in map(str, found.left_out)


def later_faults(trace, period, times=12):
    """Repeat the trace's last period, and return the faults in the final repetition, checked as an ordinary execution.

    By then, all observations concern bytes sent within the trace.
    """
    end, columns = trace.horizon - 1, {}
    for name, column in trace.columns.items():
        longer, grown = list(column), column[end] - column[end - period]
        for t in range(trace.horizon, trace.horizon + times * period):
            longer.append(longer[t - period] + grown)
        columns[name] = tuple(longer)
    horizon = trace.horizon + times * period
    columns["Q"] = delays(columns, horizon, trace.columns["Q"][0])
    asked = queries.from_record(trace.query).on(horizon=horizon)
    asked = replace(asked, property=replace(asked.property, repeats=Fraction(0)))
    report = check_trace(asked, replace(trace, horizon=horizon, columns=columns, query=asked.record()))
    return [fault for fault in report.faults if "=" not in fault or int(fault.rpartition("=")[2]) > horizon - period]


def delays(columns, horizon, first):
    """Whole steps that the last byte served had waited; before any of the trace was, as the trace has it."""
    S, admitted = columns["S"], [sent - lost for sent, lost in zip(columns["A"], columns["L"], strict=True)]
    found = [Fraction(horizon)]
    for t in range(1, horizon):
        waited = next((k for k in range(t) if S[t] > admitted[t - k - 1]), horizon)
        found.append(found[-1] if S[t] == S[t - 1] else Fraction(waited))
    return tuple(found)


SETTLED = [
    ("rocc", 5, 2, "decides from step 4 on, .* a horizon of 6 at least"),
    pytest.param("aimd_believing", 9, 4, "changes its outcome after step 5.*of 10 at least", marks=pytest.mark.slow),
]


@pytest.mark.parametrize("name, horizon, period, message", SETTLED)
def test_what_is_asked_of_the_time_needs_a_horizon_at_which_that_is_settled(name, horizon, period, message):
    with pytest.raises(cm.InputError, match=message):
        cm.worst(name, network("ccac_windows", "1", horizon), period=period, given="alpha == 1/4")


#: Once it has found a loss it sends a packet at a time, for ever.
REMEMBERS = """
window: bytes = 8 * MSS
hurt: condition = False


def update(hurt, lost, step, MSS):
    hurt = hurt or lost > lost[step]
    window = MSS if hurt else 8 * MSS


def send(window):
    return window
"""


def test_what_is_so_only_from_state_that_a_run_comes_to_is_not_said_to_be_never_so(tmp_path):
    """It begins unhurt, and a period without a loss leaves it so. But a loss may have been found long before."""
    sends = written(tmp_path, REMEMBERS)
    found = cm.worst(sends, network("ideal_windows", "1"), period=2, given="alpha == 1/4; L[0] == L[T-1]")
    assert found.verdict == "unknown" and found.elsewhere and found.none <= Fraction(1, 4)
    assert "happen only from state that is not declared" in found.sentence()
    assert "first state" not in [each.name for each in found.left_out]


STARVED = """
pace: rate = above(0)


def update(line_rate):
    pace = 3 / 2 * line_rate / 100


def send(pace):
    return pace
"""


@pytest.fixture
def starved(tmp_path):
    """A sender of constant rate, and two such flows on a link whose small buffer may take one of them alone."""
    model = tmp_path / "two.py"
    model.write_text(
        "from ccmatic.models.ccac2021 import CCAC2021, DelayMeasurement, Timer, Waste\n"
        "MODEL = CCAC2021(\n"
        "    flows=2, waste=Waste.CONSTANT_RATE, delay=DelayMeasurement.PER_FLOW, timer=Timer.UNDETECTED_LOSS\n"
        ")\n"
    )
    return written(tmp_path, STARVED), network(str(model), "1/4", 5)


def test_a_flow_all_of_whose_bytes_are_lost_is_starved_for_ever(starved):
    """Acknowledgements find none of its losses, and a timeout finds each."""
    given = "alpha == 1/4; L_f[1][T-1] > L_f[1][0]"
    found = cm.worst(*starved, "share", period=1, at="1/100", given=given)
    assert found.some == Fraction(1, 100)


def test_acknowledgements_find_no_more_losses_of_a_flow_that_is_served_nothing(starved):
    """They could for a while, for losses before the trace, but not for ever."""
    given = "alpha == 1/4; S_f[1][T-1] == S_f[1][T-2]; found2[T-1] > found2[T-2]"
    with pytest.raises(cm.InputError, match="has no execution of sends that repeats itself every 1 step"):
        cm.worst(*starved, "share", period=1, at="1/100", given=given)


#: After a delay of more than so many R_m it stops, or sends a packet at a time, for ever.
STOPS_LATE = """
pace: rate = anything()


def update(delay, line_rate, R_m):
    if delay > 10 * R_m:
        pace = 0 * line_rate
    else:
        pace = line_rate / 200


def send(pace):
    return pace
"""
SLOWS_LATE = """
window: bytes = above(0)
late: condition = False


def update(late, delay, MSS, R_m):
    if delay > 12 * R_m:
        late = True
    window = MSS if late else 8 * MSS


def send(window):
    return window
"""


def test_a_sender_that_stopped_for_a_long_delay_stands_still_for_ever(tmp_path):
    sends = written(tmp_path, STOPS_LATE)
    found = cm.worst(sends, network("ccac_windows", horizon=3), period=1, at="1/100", given="alpha == 1/10")
    assert found.some == Fraction(1, 100)


def test_state_to_which_only_a_delay_leads_that_no_trace_shows_is_not_said_never_to_be(tmp_path):
    sends = written(tmp_path, SLOWS_LATE)
    found = cm.worst(sends, network("ccac_windows", horizon=3), period=1, at="1/5", given="alpha == 1/10")
    assert (found.none, found.verdict, found.elsewhere) == (None, "unknown", True)


ALTERNATES = """
window: bytes = above(0)
phase: number = 0


def update(phase, MSS):
    window = 2 * MSS if phase == 0 else MSS
    phase = 1 - phase


def send(window):
    return window
"""


def test_a_declaration_that_one_step_breaks_and_the_next_restores_does_not_count(tmp_path):
    sends = written(tmp_path, ALTERNATES)
    given = {"given": "alpha == 1/10", "high": 1}
    found = cm.worst(sends, network("ideal_windows"), "A[T-1] - A[T-2] > x", period=2, resolution="1/10", **given)
    assert found.none is None or found.none >= Fraction(1, 5)


def test_a_window_for_ever_is_one_of_the_last_period(tmp_path):
    """Earlier windows need not recur."""
    sends = written(
        tmp_path,
        "window: bytes = above(0)\ndef update(MSS):\n    window = 2 * MSS\ndef send(window):\n    return window\n",
    )
    found = cm.worst(sends, network("ideal_windows", horizon=3), "window", period=1, given="alpha == 1/10")
    assert (found.none, found.some) == (Fraction(1, 5), Fraction(19, 100))


def test_a_period_before_which_laws_look_back_on_too_few_steps_is_refused():
    asked = cm.Network("cbr_delay_windows", "infinite", 9, jitter=6)
    with pytest.raises(cm.InputError, match="look back on 6 before its last period; expected a horizon of 11 at least"):
        cm.worst("constant_window", asked, period=4, given="alpha == 1/10")


def test_a_period_without_a_horizon_takes_as_many_steps_as_laws_look_back_on(tmp_path):
    """Three steps, which show a period of one twice, were refused."""
    asked = ["worst", "constant_window", "--model", "cbr_delay_windows", "--buffer", "infinite", "--jitter", "6"]
    code, out, err = run(
        *asked, "--period", "1", "--of", "queue", "--at", "2", "--given", "alpha == 1/10", cwd=tmp_path
    )
    assert (code, err) == (0, "") and "never above 2" in out


#: Once much was acknowledged it sends a packet at a time, for ever; in steps that find a loss it does not look.
TIRES = """
window: bytes = above(0)
late: condition = False


def update(window, late, acked, lost, line_rate, MSS, R_m, step):
    if lost > lost[step]:
        late = late
    elif acked > line_rate * R_m:
        late = True
    window = MSS if late else 30 * MSS


def send(window):
    return window
"""


def test_state_that_comes_after_many_bytes_is_not_said_never_to_be(tmp_path):
    """Traces of ccac2021 count bytes from 0; an execution that goes on for ever does not."""
    found = cm.worst(written(tmp_path, TIRES), network("ccac2021", "1", 3), period=1, at="1/5", given="alpha == 1/10")
    assert (found.none, found.verdict, found.elsewhere) == (None, "unknown", True)
