"""Expectations of runs: the monitor's input from a log, quantities that no run shows, and the verdict on a real run."""

import json
import random
import re
import subprocess
import sys
from fractions import Fraction

import pytest

import ccmatic as cm
from ccmatic.base import InputError
from ccmatic.deployment.emulation import kinds, link, pipeline
from ccmatic.deployment.emulation.monitor import Monitor
from support import cli
from support.emulations import again, in_time
from support.json_schemas import validate

MS, PATH = 10**6, "24 mbit, rtt 40 ms, buffer 1 bdp"
STEP = 4 * MS


def made(seed, buffer="1bdp", jitter="4ms", seconds=1):
    """A synthetic run: packets of two flows that come in bursts."""
    rng, now, arrivals = random.Random(seed), 0, []
    while now < seconds * 10**9:
        arrivals.append((now, rng.randrange(2)))
        now += rng.choice((MS // 10, MS // 3, MS // 2, 3 * MS))
    asked = link.of_texts("24mbit", "40ms", buffer, jitter, seed=seed)
    return in_time(asked, ("cubic", "reno"), arrivals, seconds * 10**9)


def served(row):
    return row["released"] - 40 * MS


@pytest.mark.parametrize("seed", range(3))
def test_the_monitor_counts_packets(seed):
    """Against a count of packets, one by one."""
    emulation, start = made(seed), Fraction(1, 10)
    begin, steps = int(start * 10**9), (960 - 100) // 4
    log = [{name: int(row[name]) for name in row.dtype.names} for row in emulation.log]
    instants = [begin + k * STEP for k in range(steps + 1)]
    queue, late, shares = [], [], []
    for now in instants:
        waiting = [row for row in log if row["arrival"] <= now and not row["lost"] and served(row) > now]
        queue.append(sum(row["size"] for row in waiting))
        late.append(-(-max((served(row) - now for row in waiting), default=0) // STEP))
    out = [row for row in log if not row["lost"] and begin < served(row) <= instants[-1]]
    for flow in range(2):
        shares.append(Fraction(sum(row["flow"] == flow for row in out), len(out)))
    sent = [row for row in log if begin < row["arrival"] <= instants[-1]]
    texts = ["queue <= 10 kb", "delay <= 40 ms", "share >= 10%", "loss <= 1%", "utilisation >= 90%"]
    values = [each.value for each in Monitor(emulation.link, texts).judged(emulation, start)]
    assert values[0] == Fraction(max(queue), 1000)
    assert values[1] == 4 * max(late[: steps + 1 - 10])
    assert values[2] == 100 * min(shares)
    assert values[3] == 100 * Fraction(sum(row["lost"] for row in sent), len(sent))
    assert values[4] == 100 * Fraction(1500 * len(out), 3_000_000) / Fraction(steps * 4, 1000)


def test_lateness_of_the_machine_counts_as_waiting():
    emulation = made(1, jitter=None)
    monitor = Monitor(emulation.link, ["delay <= 80 ms"])
    (in_time_,) = monitor.judged(emulation, 0)
    emulation.log["released"] += 9 * MS
    (late,) = monitor.judged(again(emulation), 0)
    assert 8 <= late.value - in_time_.value <= 12


def test_a_place_is_told_in_seconds_of_the_run():
    emulation = made(2)
    (judged,) = Monitor(emulation.link, ["utilisation >= 10% over every 5 rtt"]).judged(emulation, Fraction(1, 2))
    assert judged.clock == "s" and judged.end - judged.begin == pytest.approx(0.2)
    assert 0.5 <= judged.begin <= judged.end <= 0.96


@pytest.mark.parametrize(
    "options, says",
    [
        ({"on": "ccac, buffer 1 bdp"}, "needs one, such as '24 mbit, rtt 40 ms, buffer 1 bdp'"),
        ({"on": "ccac, buffer >= 2 bdp"}, "needs one, such as '24 mbit, rtt 40 ms, buffer 2 bdp'"),
        ({"on": "24 mbit, rtt 40 ms, buffer any"}, "a single size"),
        ({"on": PATH, "rtt": "40ms", "jitter": "1ms"}, "--on says what --rtt, --jitter would"),
        ({"on": PATH, "schedule": "s.csv"}, "--on says what --schedule would"),
        ({"on": f"{PATH}, packet 500"}, "the emulator's packets have 1500"),
        ({"on": f"{PATH}, flows 3"}, "has 3 flows, and 1"),
        ({"on": PATH, "expect": ["window <= 1 bdp"]}, "is about window, which a run does not show"),
        ({"on": PATH, "expect": ["no timeout"]}, "is about timeout, which a run does not show"),
        ({"on": PATH, "expect": ["C_L <= 1"]}, "is about C_L, which a run does not show"),
        ({"on": PATH, "expect": ["loss <= 1% while window <= 1 bdp"]}, "is about window, which a run does not show"),
        ({"on": PATH, "expect": ["queue <= 1"]}, "queue <= 1.*expected"),
        ({"on": PATH, "expect": ["delay <= 41 ms"]}, "such as 11/10 rtt"),
        ({"on": PATH, "expect": ["loss <= 1% over every 9 s"]}, "expected a longer one"),
        ({"on": PATH, "expect": ["share >= 10%"]}, "is about several flows"),
        ({"on": PATH, "expect": ["loss <= 1%"], "seconds": 0.05, "warmup": 0.02}, "expected above R_m"),
        (
            {
                "on": PATH,
                "expect": ["loss <= 1% over every 20 rtt"],
                "seconds": 1,
                "warmup": 0.15,
                "flows": ["reno", "reno,rtt=80ms"],
            },
            "expected a longer one",
        ),
    ],
)
def test_what_no_run_shows_is_refused_before_it_runs(options, says):
    with pytest.raises(InputError, match=".*" + says.replace("+", r"\+")):
        cm.emulate(**{"flows": ["reno"], **options})


def emulated(*options):
    code = "from ccmatic.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, "emulate", *options], capture_output=True, text=True)


def test_a_run_is_judged(iperf3, tmp_path):
    out = tmp_path / "run"
    texts = ("utilisation >= 50%", "queue <= 1 packet", "share >= 1% beside cubic")
    expected = [word for text in texts for word in ("--expect", text)]
    options = ["--on", PATH, "--flow", "reno", "--seconds", "1.5", "--out", str(out), "--json", *expected]
    done = emulated(*options)
    found = json.loads(done.stdout)
    validate(found, "MeasuresFile")
    assert [flow["flow"] for flow in found["flows"]] == ["reno", "cubic"]
    assert done.returncode == (1 if found["valid"] else 3)
    used, queue, _ = found["expectations"]
    assert (used["verdict"], queue["verdict"]) == ("met", "not met")
    assert Fraction(used["value"]) / 100 == pytest.approx(found["utilisation"], abs=0.1)
    assert json.loads((out / "measures.json").read_text())["expectations"] == found["expectations"]


@pytest.fixture
def late(monkeypatch):
    """Runs in which the machine releases each packet 9 ms too late, without a machine that emulates."""

    def run(asked, requests, seconds):
        arrivals = [(now * MS, now % len(requests)) for now in range(int(1000 * seconds))]
        emulation = in_time(asked, tuple(request.name for request in requests), arrivals, int(seconds * 10**9))
        emulation.log["released"] += 9 * MS
        return again(emulation)

    monkeypatch.setattr(pipeline, "run_flows", run)
    monkeypatch.setattr(pipeline, "require", lambda flows: None)


def test_a_run_that_is_not_valid_gets_no_verdict(late):
    """Such a run printed that its expectations are met."""
    options = ["--on", PATH, "--flow", "reno", "--seconds", "1", "--expect", "loss <= 100%", "--expect", "loss < 0.1%"]
    code, out, _ = cli.run("emulate", *options)
    assert code == 3 and "NOT VALID" in out and not re.search(r"^(not )?met", out, re.MULTILINE)
    assert "cannot be judged loss <= 100%: the run is not valid" in out
    code, out, _ = cli.run("emulate", *options, "--json")
    (found,) = cli.lines(out)
    validate(found, "MeasuresFile")
    assert code == 3 and not found["valid"]
    assert [(each["verdict"], each["value"]) for each in found["expectations"]] == [("cannot be judged", None)] * 2


@pytest.mark.parametrize(
    "given, run",
    [
        (["reno"], ["reno", "cubic"]),
        (["cubic"], ["cubic", "cubic"]),
        (["reno", "cubic"], ["reno", "cubic"]),
        (["reno", "cubic@1s-2s,rtt=80ms"], ["reno", "cubic@1s-2s,rtt=80ms"]),
    ],
)
def test_a_competitor_is_added_to_a_single_flow_only(given, run, late):
    """A second competitor was added beside one that was there."""
    flows = [word for flow in given for word in ("--flow", flow)]
    options = ["--on", PATH, *flows, "--seconds", "3", "--expect", "share >= 1% beside cubic"]
    (found,) = cli.lines(cli.run("emulate", *options, "--json")[1])
    assert [flow["flow"] for flow in found["flows"]] == run
    assert ("cubic was added" in cli.run("emulate", *options)[1]) == (len(given) == 1)


@pytest.mark.parametrize(
    "flows, named", [(["cubic", "reno"], ["cubic"]), (["reno"], ["cubic", "reno"]), (["reno", "reno"], ["cubic"])]
)
def test_flows_without_the_competitor_are_refused(flows, named):
    with pytest.raises(InputError, match=f"compares {flows[0]} with cubic.*expected --flow cubic"):
        kinds.with_competitors(flows, named)
