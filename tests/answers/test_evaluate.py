"""The evaluation: the paper's grid, runs inside what is proved, results that survive; and the same on a real stack."""

import json
import subprocess
import sys
from fractions import Fraction

import pytest
from msgspec.structs import replace

from ccmatic.base.errors import InputError
from ccmatic.cli.commands import cli
from ccmatic.deployment.emulation import pipeline
from ccmatic.evaluation import figures, runs
from ccmatic.evaluation.runs import Evaluation, Scenario, bounds, broken
from ccmatic.networks.traces.trace import Trace
from support.json_schemas import validate
from support.machine import needs_bpf, needs_compiler, on_time
from support.sampling import each_nth

SHALLOW = Scenario((24,), 20, Fraction(1, 16), "aggregation")
DEEP = Scenario((24,), 20, Fraction(16), "none")


def test_the_grid_is_the_papers():
    scenarios = list(runs.grid())
    assert len(scenarios) == 3 * 3 * 9 * 2 + 2
    assert len({scenario.name for scenario in scenarios}) == len(scenarios)
    assert Scenario((96,), 80, Fraction(1, 16), "none") in scenarios


@needs_compiler
@pytest.mark.parametrize(
    "sender, scenario, at_start",
    [("cc_probe_slow", SHALLOW, False), ("cc_qdel", DEEP, False), ("cc_probe_slow", DEEP, True)],
)
def test_runs_are_inside_what_is_proved(sender, scenario, at_start):
    row = runs.run(sender, scenario)
    proved = bounds(sender, row.buffer_bdp, row.at_start)
    assert row.at_start == at_start
    assert None not in (proved.utilisation, proved.lost_in_step, proved.inflight_bdp) or scenario is DEEP
    assert not list(broken(row))
    assert 0 < row.inflight_max_bdp and 0.3 < row.utilisation <= 1
    outside = replace(row, utilisation=0.1, lost_max_in_step=50, inflight_max_bdp=100)
    assert len(list(broken(outside))) == (3 if proved.lost_in_step is not None else 2)
    assert not list(broken(replace(outside, rates_mbit=[24, 48])))


def test_bounds_hold_under_their_hypotheses_only():
    assert bounds("cc_qdel", 11.9).utilisation is None
    # Windows are of 9 steps, as exported: the proof for windows of 10 has more, which does not hold here.
    assert bounds("cc_qdel", 12).utilisation == pytest.approx(0.83 * 8 / 9)
    assert bounds("cc_probe_slow", 0.01).lost_in_step == 2
    assert bounds("cc_probe_slow", 0.01, at_start=True).lost_in_step is None
    assert bounds("cc_probe_fast", 100).utilisation is None


@pytest.mark.slow
@needs_compiler
def test_an_evaluation_goes_on(tmp_path):
    done = Evaluation(tmp_path)
    assert [row.sender for row in done.complete(["cc_qdel"], [SHALLOW, DEEP], 2)] == ["cc_qdel"] * 2
    lines = [json.loads(line) for line in done.file.read_text().splitlines()]
    for line in lines:
        validate(line, "ResultRecord")
    # The first results did not say their format; a line that was being written is none.
    assert lines[0].pop("format") == "ccmatic result 1"
    done.file.write_text("".join(json.dumps(line) + "\n" for line in lines) + '{"sender": "cc_q')
    again = Evaluation(tmp_path)
    assert again.missing(["cc_qdel"], [SHALLOW, DEEP]) == []
    assert again.missing(["cc_probe_slow"], [SHALLOW]) == [("cc_probe_slow", SHALLOW)]
    assert len(list(again.complete(["cc_qdel", "cc_probe_slow"], [SHALLOW], 1))) == 1
    assert [json.loads(line)["sender"] for line in done.file.read_text().splitlines()] == [
        "cc_qdel",
        "cc_qdel",
        "cc_probe_slow",
    ]
    drawn = figures.draw(Evaluation(tmp_path).rows, tmp_path)
    assert len(drawn) == 12 and all(file.stat().st_size > 5000 for file in drawn)


def test_results_that_are_none(tmp_path):
    run = {"sender": "a", "scenario": "b", "stack": "real", "rates_mbit": [24], "R_m_ms": 20, "buffer_bdp": 1}
    spread = {"mean": None, "p95": None, "max": 1}
    spreads = dict.fromkeys(("queueing_delay_ms", "queueing_delay_rm", "rtt_ms"), spread)
    counts = dict.fromkeys(("utilisation", "mbit_per_second", "packets", "lost", "lost_mean_in_rm"), 0)
    line = {**run, **spreads, **counts, "lost_max_in_rm": 0, "jitter": "none", "delivered_mbit": []}
    for wrong in ({"sender": "a"}, [], {**line, "format": "ccmatic result 2"}, {**line, "packets": "many"}):
        (tmp_path / "results.jsonl").write_text(f"{json.dumps(line)}\n{json.dumps(wrong)}\n")
        with pytest.raises(InputError, match="results.jsonl:2: not a line of results"):
            Evaluation(tmp_path)


@needs_compiler
def test_the_link_rate_changes():
    row = runs.run("cc_qdel", Scenario((24, 48, 96), 80, Fraction(1), "none"))
    at = row.delivered_mbit
    assert at[39] == pytest.approx(24, abs=0.1) and at[79] == pytest.approx(48, abs=0.1)
    assert at[119] == pytest.approx(96, abs=0.1)


@pytest.mark.parametrize("method", each_nth(3, ["forkserver", "fork", "spawn"]))
def test_flows_are_known_to_the_evaluation_alone(method, tmp_path):
    """As a library, without the command line, and however a process that runs a flow was started."""
    (tmp_path / "alone.py").write_text(
        "import multiprocessing\n"
        "from concurrent.futures import ProcessPoolExecutor\n"
        "from ccmatic.evaluation import runs\n"
        "def kind(text):\n"
        "    return type(runs.request(text).flow).__name__\n"
        "if __name__ == '__main__':\n"
        f"    multiprocessing.set_start_method({method!r})\n"
        "    with ProcessPoolExecutor(1) as pool:\n"
        "        print(*pool.map(kind, ['udp:cc_qdel', 'bpf:cc_qdel']))\n"
    )
    done = subprocess.run([sys.executable, "alone.py"], cwd=tmp_path, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "Udp Bpf\n"), done.stderr


def lateness_ms(found):
    return found.lateness_ms.p50, found.lateness_ms.p99


@needs_bpf
@pytest.mark.parametrize("jitter", each_nth(2, [None, "40ms"]))
@pytest.mark.parametrize("rate", each_nth(2, [24, 96]))
def test_cc_qdel_in_the_kernel(rate, jitter, iperf3):
    """R_m 40 ms, 2 BDP, with and without jitter: it carries iperf3, and fills the link. (At 96 Mbit/s a machine that is
    late by a few ms says that the link is slower: only a run that is valid is held against it.)"""
    link = {"rate": f"{rate}mbit", "rtt": "40ms", "buffer": "2bdp", "jitter": jitter, "schedule": None}
    found = on_time(lambda: pipeline.emulate(["bpf:cc_qdel"], seconds=5, warmup=3.5, **link), lateness_ms)
    false = [fault for fault in found.faults if "believed falsely" in fault]
    # With a D of R_m nothing is left for delays of the sender's own, which a busy machine has.
    assert jitter or not false or len(found.faults) > len(false), false
    assert found.utilisation > (0.5 if rate == 24 or found.valid else 0.1), found.faults
    assert found.queueing_delay_rm.mean <= 2.01


@pytest.mark.parametrize("controller, buffer", each_nth(2, [("late_drain", "1"), ("always_c_l", "infinite")]))
def test_counterexamples_happen(controller, buffer, emulator, tmp_path):
    """The C of a wrong controller behaves on a real stack as the verifier predicts, within 15 % or a packet."""
    verify = ["verify", controller, "--model", "ccac", "--buffer", buffer, "--horizon", "7", "--out", str(tmp_path)]
    assert cli.main([*verify, "--constrain-loss", "always"], standalone_mode=False) == 1
    (file,) = tmp_path.glob(f"{controller}-*.json")
    constants = Trace.load(file).constants
    # At this rate the trace's MSS is a packet.
    rate = int(1500 / constants["MSS"] * constants["C"] * 8 / Fraction(40, 1000))
    schedule = str(tmp_path / "schedule.csv")
    export = ["trace", "export", str(file), "--format", "schedule", "--rate", f"{rate}bit", "--rtt", "40ms"]
    assert cli.main([*export, "--mss", "1500", "--out", schedule], standalone_mode=False) == 0
    found = on_time(lambda: pipeline.emulate([f"udp:{controller}"], schedule=schedule), lateness_ms)
    foretold, measured = found.trace, found.emulated
    packet = 1500 / (rate / 8 * 0.04 * 6)
    assert measured.utilisation == pytest.approx(foretold.utilisation, rel=0.15, abs=1.5 * packet)
    assert measured.lost_bytes == pytest.approx(foretold.lost_bytes, rel=0.15, abs=1500)
    assert foretold.utilisation < 0.95 or foretold.lost_bytes


@pytest.mark.parametrize("real", [[], ["--real"]])
def test_a_sender_that_there_is_not_leaves_no_folder(real, tmp_path):
    with pytest.raises(InputError, match="'nosuch' in"):
        cli.main(["evaluate", "nosuch", *real, "--out", str(tmp_path / "evaluation")], standalone_mode=False)
    assert not list(tmp_path.iterdir())
