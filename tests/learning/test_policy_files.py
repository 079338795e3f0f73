"""Policies: their files are data that are checked; exported, they measure, act and send."""

import json

import numpy as np
import pytest

from ccmatic.base import InputError
from ccmatic.deployment import policies
from ccmatic.deployment.emulation import kinds, link, run
from ccmatic.deployment.emulation.measures import measures
from ccmatic.worlds.runtime.library import Library, LibraryFlow
from support.cli import run as command
from support.machine import needs_compiler, on_time
from support.policies import policy, steering


@needs_compiler
def test_a_sender_measures_its_intervals(tmp_path):
    """An interval lasts R_m and counts the bytes sent, acknowledged and lost: here 12 packets and a loss of 1/9."""
    slope = np.zeros((6, 1))
    slope[0], slope[2] = 100, 10
    library = Library(policies.exported(policy(tmp_path / "made.json", [(slope, [0])], history=1)))
    sender, packet, rm = LibraryFlow(library, 1500, 20_000_000), 1500, 20_000_000
    assert sender.rate(0) == 10 * packet / 0.02
    for i in range(1, 13):
        sender.sent(i * 10**6, packet)
    sender.acked(rm - 1, 0, 8 * packet)
    sender.lost(rm, 0, packet)
    sender.sent(rm + 1, packet)
    action = 100 * 12 * packet / 0.02 / 125_000 / 100 + 10 / 9
    assert sender.rate(rm + 1) == pytest.approx(10 * packet / 0.02 * (1 + 0.01 * action), rel=1e-5)
    assert sender.rate(2 * rm + 2) == pytest.approx(sender.rate(rm + 2) * (1 + 0.01 * action / 12 * 1), rel=0.02)


def forged(path, **changes):
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


@pytest.mark.parametrize("changes, message", [
    ({"observe": "aurora"}, "layer 1 takes 18 numbers, and 3 aurora vectors have 9 numbers"),
    ({"history": 4}, "layer 1 takes 18 numbers, and 4 custard vectors have 24 numbers"),
    ({"observe": "ocra"}, "unknown observe 'ocra'; did you mean 'orca'?"),
    ({"reward": "ltp"}, "no policy is exported whose reward is 'ltp': it reads `capacity`"),
    ({"interval": "1/0"}, "the interval is '1/0'; expected such as 1, 2 or 1/2"),
    ({"layers": []}, "the last layer gives nothing; expected one number"),
    ({"layers": [{"weights": [[float("nan")]] * 18, "bias": [1]}]}, "layer 1 has a number that is not finite"),
    ({"layers": [{"weights": [[1e39]] * 18, "bias": [1]}]}, "layer 1 has a number that is not finite"),
    ({"layers": [{"weights": [[1, 2]] * 18, "bias": [1]}]}, "expected as many weights in each row as in the bias, 1"),
    ({"layers": [{"weights": [[1, 2]] * 18, "bias": [1, 2]}]}, "the last layer gives 2; expected one number"),
    ({"layers": 3}, "layers: found 3; expected a list"),
    ({"query": {"environment": {"history": 7}}}, "history is 3; expected 7, as in its query"),
    ({"query": {"environment": {"observe": "orca"}}}, "observe is custard; expected orca, as in its query"),
    ({"format": "ccmatic trace 1"}, 'expected a policy, with "format": "ccmatic policy 1"'),
])  # fmt: skip
def test_what_is_no_policy_is_said(changes, message, tmp_path):
    path = tmp_path / "made.json"
    policy(path)
    forged(path, **changes)
    with pytest.raises(InputError) as raised:
        kinds.flow(f"policy:{path}")
    assert message in str(raised.value) and raised.value.file == str(path)


def test_a_policy_for_another_observation_is_not_exported(tmp_path):
    path = tmp_path / "made.json"
    policy(path)
    forged(path, observe="aurora")
    code, _, error = command("export", path, "--target", "udp", "--out", tmp_path / "out")
    assert code == 2 and "layer 1 takes 18 numbers, and 3 aurora vectors have 9" in error
    assert len(error.splitlines()) == 1 and not (tmp_path / "out").exists()


def test_the_kernel_takes_no_policy(tmp_path):
    policy(tmp_path / "made.json")
    code, _, error = command("export", tmp_path / "made.json", "--target", "bpf", "--out", tmp_path / "out")
    assert code == 2 and "expected --target udp or c" in error and not (tmp_path / "out").exists()


def test_a_policy_sends(emulator, tmp_path):
    """Over an emulated link, steered to an RTT of 30 ms: nothing waits for longer, and the link is used."""
    steering(tmp_path / "made.json", 30)
    done = on_time(
        lambda: run.run_flows(
            link.of_texts("8mbit", "20ms", "4bdp"), [kinds.request(f"policy:{tmp_path}/made.json")], 4
        ),
        lambda found: np.percentile(found.lateness, (50, 99)) / 1e6,
    )
    [found] = measures(done, 2).flows
    assert found.utilisation > 0.7 and found.lost == 0 and 20 < found.rtt_ms.mean < 35
