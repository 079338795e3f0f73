"""`fit` against an oracle that shares no code with it: the least D of small logs, by one clock and by two."""

from dataclasses import replace

import pytest

from ccmatic.fitting import packet_log, text
from ccmatic.fitting.fit import fit
from ccmatic.fitting.log import NEVER
from ccmatic.fitting.readers import read_log
from support.least_jitter import Packets, least_jitter, link_runs
from support.packet_laws import whole
from support.sampling import each_nth

HEAD = "# mahimahi mm-link (Uplink) [cell.up] > up.log\n"
MODELS = ("cbr_delay", "ccac", "varying")
MS = 10**6

#: ms by which the least jitter may be missed: a nanosecond, the resolution of `fit`.
RESOLUTION = 1.001e-6


def log_of(run, clocks, ahead=0):
    """Return the PacketLog of a run. The receiver's clock is ahead by the given number of ms."""
    delivered = [NEVER if at is None else round((at + ahead) * MS) for at in run.delivered]
    return packet_log("a run", [at * MS for at in run.sent], delivered, run.size, two_clocks=clocks == 2)


def found(run, model, clocks, ahead=0):
    """The least D in ms, as `fit` finds it."""
    return whole(log_of(run, clocks, ahead), model)[0] * 1000


def on_whole_ns(run):
    """A run as its log has it: instants are whole nanoseconds."""
    delivered = [None if at is None else type(at)(round(at * MS), MS) for at in run.delivered]
    return replace(run, delivered=delivered)


def compare(model, seeds, most=12):
    """Compare on random runs; how many were compared, how many lost packets, and in how many one clock says more."""
    compared = lossy = clock_matters = 0
    for seed in seeds:
        run = on_whole_ns(link_runs(seed, model, most))
        if sum(at is not None for at in run.delivered) < 2:
            continue
        one, two = (least_jitter(run, model, clocks) for clocks in (1, 2))
        if one is None or two is None:
            continue
        assert found(run, model, 1) == pytest.approx(float(one), abs=RESOLUTION), seed
        assert found(run, model, 2, ahead=-1000) == pytest.approx(float(two), abs=RESOLUTION), seed
        assert two <= one <= run.jitter + RESOLUTION, seed
        compared, lossy = compared + 1, lossy + (None in run.delivered)
        clock_matters += one > two
    return compared, lossy, clock_matters


@pytest.mark.parametrize("model", each_nth(3, MODELS))
def test_the_least_jitter_is_that_of_the_oracle(model):
    compared, lossy, clock_matters = compare(model, range(25))
    assert compared > 20 and lossy > 2
    assert (clock_matters > 2) is (model == "cbr_delay")


@pytest.mark.slow
@pytest.mark.parametrize("model, most", [("cbr_delay", 30), ("ccac", 20), ("varying", 20)])
def test_the_least_jitter_of_longer_runs_is_that_of_the_oracle(model, most):
    compared, _, _ = compare(model, range(300), most)
    assert compared > 250


def test_mm_link_lets_whole_packets_through_at_once(tmp_path):
    """A link of 500 bytes/ms delivers a packet of 1500 bytes 1 ms after it came to an empty queue, and four that came
    together within 12 ms. A link that serves byte by byte takes 3 ms for the first, so its C or its D is larger."""
    body = ["0 + 1500", "1 - 1500 1", *["20 + 1500"] * 4, *(f"{20 + 3 * n} - 1500 {3 * n}" for n in range(1, 5))]
    (tmp_path / "up.log").write_text(HEAD + "\n".join(body) + "\n")
    log = read_log(tmp_path / "up.log")
    jitter, rate = whole(log, "cbr_delay")
    assert jitter == pytest.approx(0.002, abs=1e-6) and 400_000 < rate < 900_000
    strict, _ = whole(replace(log, early=None), "cbr_delay")
    assert strict > 0.005
    assert "one clock: propagation is at least -(1 ms and the largest packet's own time)" in text(fit(log))


def test_a_link_trace_has_no_clock_of_a_sender(tmp_path):
    (tmp_path / "cell.up").write_text("3\n3\n9\n12\n")
    said = text(fit(read_log(tmp_path / "cell.up"), rtt="0.01"))
    assert "no clock noted when a packet was sent: propagation may be anything" in said


def test_propagation_is_not_below_0_where_one_clock_noted_both_instants():
    """Two bursts of packets of 1 ms each, on a link without propagation that holds one packet for D = 8 ms. A slower
    link with 6 ms of jitter would do, had it a propagation below 0."""
    run = Packets([0, 0, 0, 0, 20, 20, 20, 20], [1, 2, 3, 12, 21, 22, 23, 24], [1500] * 8, 8, 0)
    one, two = (least_jitter(run, "cbr_delay", clocks) for clocks in (1, 2))
    assert one > two
    assert found(run, "cbr_delay", 1) == pytest.approx(float(one), abs=RESOLUTION)
    assert found(run, "cbr_delay", 2) == pytest.approx(float(two), abs=RESOLUTION)
