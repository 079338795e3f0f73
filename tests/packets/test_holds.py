"""Traces whose flows each have a delay box, on the emulator: when each box holds bytes, and the initial state of
senders.
"""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.deployment.emulation import kinds, link, replay, run
from ccmatic.deployment.exporting import header
from ccmatic.networks.trace_export import Holds, Scale, export
from ccmatic.networks.traces import Trace
from support import ROOT
from support.machine import on_time

STARVATION = ROOT / "results" / "gallery" / "starvation"
MS = 10**6
SCALE = Scale(Fraction(12_745_295), Fraction(1, 10), 1500)


def written(trace, folder, scale=SCALE):
    """The file of a trace's holds."""
    file = folder / "holds.csv"
    file.write_bytes(export(trace, "holds", scale)[0])
    return file


@pytest.fixture(params=["copa", "vegas"])
def name(request):
    return request.param


@pytest.fixture
def trace(name):
    return Trace.load(STARVATION / f"{name}.json")


def test_what_is_written_is_read(trace, tmp_path):
    holds = Holds.load(written(trace, tmp_path))
    again = tmp_path / "again.csv"
    again.write_text(holds.text())
    assert Holds.load(again) == holds and (holds.rate, holds.step, holds.jitter) == (12_745_295, 100 * MS, 100 * MS)


def test_what_the_link_lets_through_leaves_its_box_as_in_the_trace(trace, tmp_path):
    """In each flow's curves, S passes the bytes that the link serves at an instant exactly when they leave the box."""
    asked = link.of_holds(written(trace, tmp_path))
    step, period = 100 * MS, asked.holds.period // (100 * MS)
    begin, shift = trace.horizon - 1 - period, {}
    at_once = replace(asked, rates=((0, 10**15),), rtt=0, rtts=())  # admits a byte in the ns in which it comes

    def released(instants, flow):
        """When what is admitted at these instants leaves the flow's box."""
        count = len(instants)
        decided = replay.decisions(at_once, [now - 1 for now in instants], [1] * count, [flow] * count)
        assert [admitted for _, admitted, _ in decided] == instants
        return [out for _, _, out in decided]

    for number in (1, 2):
        let, served = (curve(trace.columns[f"{name}{number}"], period) for name in "KS")
        instants = list(range(1, period * step, step // 7))
        later = released([now + 3 * period * step for now in instants], number - 1)
        for now, out, again in zip(instants, released(instants, number - 1), later, strict=True):
            at = begin + Fraction(now, step)
            assert 0 <= out - now <= step and again == out + 3 * period * step
            moving = let(at + Fraction(1, 10**6)) > let(at - Fraction(1, 10**6))
            if moving:
                shift[number] = max(shift.get(number, 0), out - now)
                off = 2 * let(begin + period) / step  # a ns of either curve
                assert served(begin + Fraction(out - 2, step)) <= let(at) + off
                assert served(begin + Fraction(out + 2, step)) >= let(at) - off
    assert max(shift.values()) > step / 2


def curve(column, period):
    """Straight between steps, and going on as its last period."""
    longer, grown = list(column), column[-1] - column[-1 - period]
    for _ in range(2 * period):
        longer.append(longer[-period] + grown)

    def at(t):
        step = int(t)
        return longer[step] + (t - step) * (longer[step + 1] - longer[step])

    return at


def test_a_sender_begins_with_what_the_trace_says_that_it_remembers(name, trace, tmp_path):
    holds = Holds.load(written(trace, tmp_path))
    exported = header.make(name)
    begin = trace.horizon - 1 - holds.period // holds.step
    for number, state in enumerate(holds.state, 1):
        window = trace.columns[f"window{number}"][begin] * SCALE.bdp
        assert state == {"window": window} and exported.kept(state) == {"window": int(window)}
    with pytest.raises(InputError, match="expected a controller with this state"):
        header.make("aimd").kept({"pace": Fraction(1)})


def test_flows_are_held_apart_on_the_emulator(emulator, tmp_path):
    """Each sends its window at first, and then what its box lets it; the log replays."""
    trace = Trace.load(STARVATION / "copa.json")
    asked = link.of_holds(written(trace, tmp_path))
    found = on_time(
        lambda: run.run_flows(asked, [kinds.request("udp:copa"), kinds.request("udp:copa")], 1.2),
        lambda found: np.percentile(found.lateness, (50, 99)) / MS,
    )
    assert "the log does not replay" not in found.faults
    kept, held = found.log[found.log["flow"] >= 0], {}
    for flow in (0, 1):
        own = kept[kept["flow"] == flow]
        held[flow] = own["planned"] - own["admitted"] - asked.rtt
        assert held[flow].min() >= 0 and held[flow].max() <= asked.jitter and (np.diff(own["planned"]) >= 0).all()
    second = kept[kept["flow"] == 1]["arrival"]
    first_trip = second[second < second[0] + asked.rtt - 10 * MS]
    assert len(first_trip) == 1 == asked.holds.state[1]["window"] // 1500
    assert (np.diff(kept["planned"]) < 0).any()


@pytest.mark.parametrize(
    "change, said",
    [
        ({"query": {"property": {"name": "avoids"}}}, "the trace does not repeat itself"),
        ({"columns": {"K1": None}}, "the trace has no column K1"),
        ({"columns": {"window2": None}}, "the trace has no column window2"),
        ({"columns": {"S2": (Fraction(0),) * 9}}, "flow 2 is not served within D the bytes"),
        ({"controller": None}, "the trace has no controller"),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_other_traces_are_refused(change, said):
    trace = Trace.load(STARVATION / "copa.json")
    change = {name: {**getattr(trace, name), **value} if value else value for name, value in change.items()}
    if "columns" in change:
        change["columns"] = {name: column for name, column in change["columns"].items() if column}
    with pytest.raises(InputError, match=said):
        export(replace(trace, **change), "holds", SCALE)


HOLDS = """\
# ccmatic holds 1
# rate 3000000
# step 40000000
# jitter 20000000
# packet 1500
# buffer infinite
# period 80000000
# flow1 window=4500
# flow2 none
flow,let_through_ns,released_ns
1,0,0
1,60000000,80000000
1,80000000,80000000
2,0,10000000
2,80000000,90000000
"""


@pytest.mark.parametrize(
    "old, new, said",
    [
        ("holds 1", "holds 2", "whose first line is '# ccmatic holds 1'"),
        ("1,0,0\n", "", "the box of flow 1 does not cover the time from 0 to the period"),
        ("1,80000000,80000000\n", "", "the box of flow 1 does not cover the time from 0 to the period"),
        ("1,60000000,80000000", "1,60000000,80000001", "the box of flow 1 lets bytes overtake"),
        ("2,0,10000000", "2,0,9999999", "the box of flow 2 lets bytes overtake those of the period before"),
        ("1,60000000,80000000", "1,60000000,59999999", "holds bytes for less than 0 ns, or more than the jitter"),
        ("jitter 20000000", "jitter 19999999", "holds bytes for less than 0 ns, or more than the jitter"),
        ("2,0,", "3,0,", "flow 3; expected one of the 2"),
        ("# flow1 window=4500\n", "", "does not say what senders remember"),
        ("window=4500", "window=-1", "expected NAME=NUMBER,… of numbers from 0 on"),
    ],
)
def test_a_bad_file_is_refused(old, new, said, tmp_path):
    file = tmp_path / "holds.csv"
    file.write_text(HOLDS)
    assert link.of_holds(file).holds.state == ({"window": 4500}, {})
    assert old in HOLDS
    file.write_text(HOLDS.replace(old, new, 1))
    with pytest.raises(InputError, match=said):
        link.of_holds(file)


def test_a_sender_cannot_begin_with_a_place_that_moves_on(trace):
    """The window of a trace that repeats itself, as if it grew in each period."""
    first, *later = trace.columns["window1"]
    grown = trace.with_columns(window1=(first, *(value + t for t, value in enumerate(later))))
    with pytest.raises(InputError, match="flow 1 remembers `window`, which grows in each period"):
        export(grown, "holds", SCALE)
