"""Link traces of mahimahi, emulated: each opportunity serves what is there and no more, as mm-link's; its log is read
and written."""

from collections import deque
from itertools import count, cycle, islice
from runpy import run_path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ccmatic.deployment.emulation import kinds, link, measures, pipeline, replay, run
from ccmatic.networks.trace_export import OPPORTUNITY
from support import ROOT, cli
from support.emulations import emulation
from support.machine import on_time

MS = 10**6
FILES = st.lists(st.integers(0, 30), min_size=1, max_size=12).map(sorted).filter(lambda found: found[-1])


def opportunities(lines):
    """The instants in ns, for ever."""
    return ((ms + lines[-1] * round_) * MS for round_ in count() for ms in lines)


def mm_link(lines, arrivals, sizes, buffer):
    """(lost, when it leaves) of each packet, an opportunity after the other, byte by byte."""
    found, queue, waiting, todo = {}, deque(), 0, deque(enumerate(zip(arrivals, sizes, strict=True)))
    for now in opportunities(lines):
        while todo and todo[0][1][0] < now:
            number, (_, size) = todo.popleft()
            if waiting + size > buffer:
                found[number] = (True, -1)
            else:
                queue.append([number, size])
                waiting += size
        for _ in range(OPPORTUNITY):
            if queue:
                queue[0][1] -= 1
                waiting -= 1
                if not queue[0][1]:
                    found[queue.popleft()[0]] = (False, now)
        if not todo and not queue:
            return [found[number] for number in range(len(arrivals))]


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    return tmp_path_factory.mktemp("links") / "cell.mahimahi"


@given(
    FILES,
    st.lists(st.tuples(st.integers(0, 9 * MS), st.integers(40, 1500)), min_size=1, max_size=40),
    st.integers(1500, 9000),
)
@settings(derandomize=True, max_examples=150, deadline=None)
def test_packets_leave_as_they_leave_mm_link(file, lines, packets, buffer):
    file.write_text("".join(f"{ms}\n" for ms in lines))
    gaps, sizes = zip(*packets, strict=True)
    # Never at the instant of an opportunity, for which mm-link's clock, of whole ms, is too coarse.
    arrivals = [now + (now % MS == 0) for now in np.cumsum(gaps).tolist()]
    asked = link.of_opportunities(file, "40ms", str(buffer))
    decided = replay.decisions(asked, arrivals, sizes)
    assert [(lost, admitted) for lost, admitted, _ in decided] == mm_link(lines, arrivals, sizes, buffer)
    assert all(lost or planned == admitted + 40 * MS for lost, admitted, planned in decided)


@given(FILES)
@settings(derandomize=True, max_examples=50, deadline=None)
def test_opportunities_are_counted(file, lines):
    file.write_text("".join(f"{ms}\n" for ms in lines))
    asked = link.of_opportunities(file, "40ms")
    instants = list(islice(opportunities(lines), 60))
    assert [asked.opportunities.instant(number) * MS for number in range(1, 61)] == instants
    for now in range(0, instants[-1], 7 * MS // 5):
        offered = sum(0 < instant <= now for instant in instants) * OPPORTUNITY
        assert asked.capacity(0, now) == offered * 8 * 10**9


def test_a_flow_over_a_link_trace(iperf3, file):
    """There was no propagation: TCP saw an R_m of 0."""
    gaps = cycle((1, 0, 2, 5, 0, 1, 20))
    file.write_text("".join(f"{ms}\n" for ms in np.cumsum([next(gaps) for _ in range(700)]).tolist()))
    asked = link.of_opportunities(file, "40ms", "60kb")
    done = on_time(
        lambda: run.run_flows(asked, [kinds.request("cubic")], 2),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    log = done.log
    kept = log[(log["lost"] == 0) & (log["released"] >= 0)]
    assert "the log does not replay" not in done.faults
    assert len(kept) > 100 and (kept["admitted"] % MS == 0).all()
    assert (kept["released"] - kept["arrival"] >= 40 * MS).all()
    found = measures.measures(done, 1)
    assert 0.7 < found.utilisation <= 1 and found.link.opportunities == 700
    assert "on average (700 opportunities), R_m 40 ms" in measures.as_text(found)


def test_the_log_of_mm_link_is_written(file):
    file.write_text("2\n4\n")
    asked = link.of_opportunities(file, "40ms", "3000")
    rows = [
        (0, 2 * MS, 42 * MS, 42 * MS + 10, 1000, 0, 0, 0),
        (MS // 2, 4 * MS, 44 * MS, 45 * MS + 1, 2000, 0, 0, 0),
        (MS // 2 + 1, -1, -1, -1, 1500, 0, 1, 0),
        (5 * MS - 1, 6 * MS, 46 * MS, -1, 1500, 0, 0, 0),
    ]
    made = emulation(asked, ("cubic",), np.array(rows, run.RECORD), 5 * MS)
    assert pipeline.link_log(made).splitlines() == [
        "# mahimahi mm-link (ccmatic emulate)",
        "# queue: droptail [bytes=3000]",
        "# base timestamp: 0",
        "0 + 1000",
        "0 + 2000",
        "0 + 1500",
        "0 d 1 1500",
        "2 # 1500",
        "2 - 1000 2",
        "4 # 1500",
        "4 + 1500",
        "5 - 2000 5",
    ]
    fluid = link.of_texts("12mbit", "40ms", "infinite")
    made = emulation(fluid, ("cubic",), np.array(rows[:0], run.RECORD), 5 * MS)
    assert pipeline.link_log(made).splitlines()[1:] == [
        "# queue: infinite", "# base timestamp: 0", *(f"{ms} # 1500" for ms in range(1, 6))
    ]  # fmt: skip


def test_the_example_is_what_its_script_writes(capsys):
    folder = ROOT / "examples" / "links"
    run_path(str(folder / "cellular.py"), run_name="__main__")
    assert capsys.readouterr().out == (folder / "cellular.mahimahi").read_text()
    assert link.of_opportunities(folder / "cellular.mahimahi", "40ms").opportunities.period == 5996


@pytest.mark.parametrize(
    "content, options, said",
    [
        ("", ["--rtt", "40ms"], "without an opportunity after 0 ms"),
        ("0\n0\n", ["--rtt", "40ms"], "without an opportunity after 0 ms"),
        ("1\nfive\n", ["--rtt", "40ms"], "cell.mahimahi:2: found 'five'; expected whole milliseconds"),
        ("1\n\n2\n", ["--rtt", "40ms"], "cell.mahimahi:2: found ''"),
        ("-1\n", ["--rtt", "40ms"], "cell.mahimahi:1: found '-1'"),
        ("1.5\n", ["--rtt", "40ms"], "cell.mahimahi:1: found '1.5'"),
        ("99999999\n", ["--rtt", "40ms"], "cell.mahimahi:1: found '99999999'; expected whole milliseconds, at most"),
        ("5\n7\n6\n", ["--rtt", "40ms"], "cell.mahimahi:3: 6 ms comes after 7 ms; expected no earlier time"),
        ("1\n", [], "--rtt missing; a mahimahi link trace has no propagation delay"),
        ("1\n", ["--rtt", "40ms", "--rate", "5mbit", "--change", "1s=3mbit"], "says what --rate, --change would"),
        ("1\n", ["--rtt", "40ms", "--buffer", "10"], "a buffer of 10 bytes; expected at least a packet"),
    ],
)
def test_what_is_no_link_trace_is_one_message(content, options, said, file):
    file.write_text(content)
    code, out, err = cli.run("emulate", "--schedule", file, *options)
    assert (code, out, err.count("\n")) == (2, "", 1) and said in err
