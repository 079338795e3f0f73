"""Fits of logs: never more jitter than the link had that left the log, what windows say, and the command."""

import numpy as np
import pytest

from ccmatic import fitting
from ccmatic.base import InputError
from ccmatic.contracts import load_definition, load_logs
from ccmatic.fitting import least, packet_log
from ccmatic.fitting.fit import fit
from ccmatic.fitting.log import NEVER, rows
from support.cli import lines, run
from support.json_schemas import validate
from support.packet_laws import TICK, logged, simulated, whole

MODELS = {name: load_definition("models", "MODEL", name) for name in ("cbr_delay", "ccac", "varying")}
HEAD = "sent,delivered,size\n"
MBIT12 = 1_500_000


def random_log(seed, packets=400, jitter=0.02):
    """Return the log of a link of 12 Mbit/s with some load. It delays packets of three sizes by up to `jitter`."""
    random = np.random.default_rng(seed)
    size = random.choice([40, 576, 1500], packets)
    sent = np.cumsum(
        random.exponential(1.1, packets) * size / MBIT12 * random.choice([0.2, 2], packets // 20).repeat(20)
    )
    through = np.cumsum(size) / MBIT12
    left = through + np.maximum.accumulate(sent - through + size / MBIT12)
    delivered = np.maximum.accumulate(left + random.uniform(0.03, 0.03 + jitter, packets))
    return packet_log("random", np.rint(sent * 1e9), np.rint(delivered * 1e9), size)


@pytest.mark.parametrize("model", MODELS)
def test_no_more_jitter_than_the_simulator_had(model):
    """A hundred executions, of different buffers, bursts of jitter and hidden tokens."""
    found = []
    for seed in range(100):
        simulation = simulated(model, seed, bdp=20, steps=12)
        jitter, _ = whole(logged(simulation), model)
        found.append(jitter * 1e9 / TICK / simulation.path.bound)
    assert max(found) <= 1 + 1e-6 and np.mean(np.array(found) > 0.9) > 0.1


@pytest.mark.parametrize("model", MODELS)
def test_no_rate_of_many_gives_less(model):
    for seed in range(5):
        log = random_log(seed)
        part = rows(log, np.zeros(2000, int), np.full(2000, len(log.sent)))
        needed, variation = load_logs(MODELS[model]).least_jitter, float(MODELS[model].variation)
        found, _ = needed(part, np.concatenate(([0], np.geomspace(1e-9, 1e-4, 1999))), variation)
        jitter, rate = whole(log, model)
        assert jitter <= found.min() + 1e-9
        alone = rows(log, np.array([0]), np.array([len(log.sent)]))
        assert needed(alone, np.array([1 / rate]), variation)[0] <= jitter + 1e-12


def test_a_link_that_may_do_more_needs_no_more_jitter():
    for seed in range(10):
        log = random_log(seed)
        fixed, hiding, moving = (whole(log, model)[0] for model in MODELS)
        assert moving <= hiding + 1e-9 <= fixed + 2e-9


@pytest.mark.parametrize("model", MODELS)
def test_a_part_of_a_log_needs_no_more_than_all_of_it(model):
    log = random_log(1)
    jitter, _ = whole(log, model)
    starts = np.arange(0, 380, 13)
    parts, _ = least(log, MODELS[model], starts, starts + 20)
    assert parts.max() <= jitter + 1e-9


@pytest.mark.parametrize("model", MODELS)
def test_stretches_beside_others_are_as_alone(model):
    log = random_log(2)
    starts, ends = np.array([0, 5, 100, 50]), np.array([2, 300, 130, 58])
    together = least(log, MODELS[model], starts, ends)
    for i in range(4):
        alone = least(log, MODELS[model], starts[i : i + 1], ends[i : i + 1])
        assert (together[0][i], together[1][i]) == pytest.approx((alone[0][0], alone[1][0]), abs=1e-9)


def test_departures_are_of_the_link_that_is_found():
    log = random_log(3)
    jitter, rate = whole(log, "cbr_delay")
    part = rows(log, np.array([0]), np.array([len(log.sent)]))
    left = load_logs(MODELS["cbr_delay"]).departures(part, np.array([1 / rate]))[0]
    held = part.delivered[0] - left
    assert held.max() - held.min() == pytest.approx(jitter, abs=1e-9)
    own = log.size / rate
    assert left[1:] == pytest.approx(np.maximum(part.sent[0][1:], left[:-1]) + own[1:], abs=1e-9)


@pytest.mark.parametrize("model, jitter", [("cbr_delay", 0.007), ("ccac", 0.007), ("varying", 0.005)])
def test_a_link_that_is_always_busy_needs_no_arrivals(model, jitter):
    """Deliveries 10 ms apart but for one, 7 ms late. Where a packet takes 8 to 12 ms, as the rate moves within 3/2, the
    late one may have left 12 ms after the one before, 2 ms late, and the next one in time."""
    delivered = np.arange(100) * 10_000_000
    delivered[50] += 7_000_000
    log = packet_log("busy", np.full(100, NEVER), delivered, np.full(100, 15_000))
    found, rate = whole(log, model)
    assert found == pytest.approx(jitter, abs=1e-9)
    assert model == "varying" or rate == pytest.approx(MBIT12, rel=1e-6)


def test_a_constant_between_two_clocks_counts_for_nothing():
    log = random_log(4)
    ahead = packet_log("two", log.sent, log.delivered - 10**9, log.size, two_clocks=True)
    one, two = fit(log, rtt="0.03"), fit(ahead, rtt="0.03")
    for before, after in zip(one.fits, two.fits, strict=True):
        assert before.jitter == pytest.approx(after.jitter, abs=1e-9)
        assert before.jitters == pytest.approx(after.jitters, abs=1e-9)
    assert two.offset == pytest.approx(log.least_delay() / 1e9 - 1.03)
    with pytest.raises(InputError, match="--rtt is missing"):
        fit(ahead)


def test_windows_are_over_before_the_log_is():
    log = random_log(5)
    found = fit(log, rtt="0.005", horizon=11)
    assert found.window == pytest.approx(0.05)
    span = (log.delivered[-1] - log.delivered[0]) / 1e9
    first = found.fits[0]
    assert first.numbers.tolist() == list(range(int(span / 0.05))) and first.begin[1] == pytest.approx(0.05)
    assert first.packets.sum() < 400 and first.changes() == pytest.approx(first.rates[1:] / first.rates[:-1])


def test_a_change_of_rate_is_from_one_window_to_the_next():
    """In 3 of 10 windows of 0.1 s, no packet is delivered; then C halves."""
    delivered = np.concatenate((np.arange(0, 0.3, 0.001), np.arange(0.6, 1.01, 0.002)))
    log = packet_log("gap", np.full(len(delivered), NEVER), np.rint(delivered * 1e9), np.full(len(delivered), 1500))
    found = fit(log, rtt="0.01", horizon=11).fits[0]
    assert found.numbers.tolist() == [0, 1, 2, 6, 7, 8, 9]
    assert found.changes() == pytest.approx(np.ones(5), rel=1e-3)


def test_a_window_may_be_longer_than_any_log():
    log = random_log(0)
    assert len(fit(log, ["cbr_delay"], rtt="10000000000", horizon=1000).fits[0].jitters) == 0


def test_what_waited_since_before_the_log_is_what_the_lost_met():
    """Ten packets wait. Before the first packet with a known send time, one is lost and one has an unknown send time.
    Each packet takes 1 ms, and the last one finds no queue.
    """
    sent = [*[NEVER] * 10, NEVER, 0, *range(1, 20), 60]
    delivered = [*range(1, 11), None, None, *range(11, 30), 61]
    ns = [NEVER if at is None else 10**9 + at * 10**6 for at in delivered]
    sent = [at if at == NEVER else 10**9 + at * 10**6 for at in sent]
    queues = fit(packet_log("x", sent, ns, [1500] * len(sent)), ["cbr_delay"], rtt="0.04").queues
    assert queues.at_losses == pytest.approx([10 * 1500], rel=1e-3)


def test_the_buffer_as_seen():
    """A buffer of 15 packets behind a link of 12 Mbit/s that gets 24."""
    sent, left, delivered = [], 0.0, []
    for i in range(100):
        now = i * 0.0005
        full = left - now > 14.5 * 0.001
        left = left if full else max(left, now) + 0.001
        sent.append(now)
        delivered.append(NEVER if full else (left + 0.02) * 1e9)
    queues = fit(packet_log("full", np.array(sent) * 1e9, np.rint(np.array(delivered)), np.full(100, 1500))).queues
    assert queues.longest == pytest.approx(15 * 1500, abs=1) and len(queues.at_losses) > 30
    assert queues.at_losses.min() > 14 * 1500 + 1 and queues.at_losses.max() < 15 * 1500 + 1


def command(tmp_path, text, *options):
    (tmp_path / "log.csv").write_text(text)
    return run("fit", "log.csv", *options, cwd=tmp_path)


def csv(log):
    return HEAD + "".join(
        f"{a / 1e9:.9f},{d / 1e9:.9f},{s}\n" for a, d, s in zip(log.sent, log.delivered, log.size, strict=True)
    )


def test_the_command_says_jitter_and_rate(tmp_path):
    code, out, _ = command(tmp_path, csv(random_log(6)), "--rtt", "10ms", "--json", "--plot", "log.svg")
    models, windows = lines(out)[:2], lines(out)[2:]
    assert code == 0 and [line["model"] for line in models] == ["cbr_delay", "ccac"]
    assert 0.01 < models[0]["jitter"] < 0.02 and models[0]["rate"] == pytest.approx(MBIT12, rel=0.1)
    assert models[0]["within"]["1"] < models[0]["within"]["2"] == 1
    assert len(windows) == 2 * models[0]["windows"] and all(0 < line["jitter"] < 0.02 for line in windows)
    for line in models:
        validate(line, "FitLine")
        assert line["clocks"] == 1 and line["clock_offset"] is None
    for line in windows:
        validate(line, "FitWindowLine")
    assert (tmp_path / "log.svg").stat().st_size > 1000
    code, out, _ = command(tmp_path, csv(random_log(6)), "--model", "ccac")
    assert code == 0 and "ccac" in out and "cbr_delay  " not in out and "one clock: propagation is at least 0" in out
    code, out, _ = command(tmp_path, csv(random_log(6)), "--rtt", "10ms", "--two-clocks")
    assert code == 0 and "two clocks: the offset between them is free, and D is the least over all offsets" in out
    code, out, _ = command(tmp_path, csv(random_log(6)), "--rtt", "10ms", "--two-clocks", "--json")
    assert code == 0 and all(line["clocks"] == 2 and line["clock_offset"] > 0.01 for line in lines(out)[:2])


def test_a_log_is_called_as_its_file_is():
    log = packet_log("[red]log.csv", [0, 10**7], [10**9, 10**9 + 2 * 10**7], [1500, 1500])
    assert fitting.text(fit(log)).startswith("[red]log.csv: 2 packets")


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        (HEAD + "0,1,1500\n", (), "1 packet is delivered; expected 2 at least"),
        (HEAD + "0,1,1500\n1,0.5,1500\n", (), "log.csv:3: delivered 500 ms before it was sent"),
        (HEAD + ",1,1500\n,2,1500\n", (), "--rtt is missing"),
        (HEAD + "0,1,1500\n1,2,1500\n", ("--rtt", "0s"), "the rtt is '0s'"),
        (HEAD + "0,1,1500\n1,2,1500\n", ("--controller", "cc_qdel"), "--controller needs --rtt, R_m"),
        (HEAD + "0,1,1500\n1,2,1500\n", ("--rtt", "0.1ns"), "expected a nanosecond or more"),
        (HEAD + "0,1,1500\n1,2,1500\n", ("--plot", "x.txt"), "cannot draw"),
        ("", (), "log.csv: is empty; expected CSV with the header"),
        (HEAD + "0,1,1500\n1,2,1500\n", ("--model", "ideal"), "the model ideal has no jitter"),
        (HEAD + "0,1,1500\n1,2,1500\n", ("--model", "ccac2021"), "the model ccac2021 has no logs.py"),
        (HEAD + "0,1,1500\n1,2,1500\n", ("--model", "ccca"), "did you mean 'ccac'"),
    ],
)
def test_bad_input_is_one_message(tmp_path, text, options, says):
    code, out, err = command(tmp_path, text, *options)
    assert code == 2 and out == "" and says in err and len(err.splitlines()) == 1
