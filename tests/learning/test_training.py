"""Training: its files, its resumption, and its errors about untrainable input."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import signal
import subprocess
import sys
import time

import numpy as np
import pytest

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.deployment import policies
from ccmatic.learning import agents
from support.cli import lines, run
from support.training import cut_off, resumed

TINY = """\
[environment]
history = 2
rate = 32
rtt = 32
steps = 11
first = 0.5

[agent]
layers = [4]
gamma = 0.0
parallel = 8
episodes = 3
rollout = 5
epochs = 1
batches = 1
learning_rate = 0.01
"""


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A folder with tiny.toml, and the policy that was trained from it without a break."""
    folder = tmp_path_factory.mktemp("training")
    (folder / "tiny.toml").write_text(TINY)
    code, out, error = run("train", "tiny.toml", "--seed", 7, "--json", cwd=folder)
    assert code == 0, error
    (folder / "lines.json").write_text(out)
    return folder


def test_a_trained_policy_is_one_file(whole):
    *episodes, last = lines((whole / "lines.json").read_text())
    assert last == {"policy": "tiny.json"} and not (whole / "tiny.json.checkpoint").exists()
    card = (whole / "tiny.md").read_text()
    assert "Seed 7, 264 intervals" in card and "No guarantee: no envelope" in card and "of episode 3" in card
    assert (whole / "tiny.last.json").exists()
    assert [line["intervals"] for line in episodes] == [88, 176, 264]
    policy = policies.load(whole / "tiny.json")
    assert policy.file.seed == 7 and policy.file.query["agent"]["layers"] == [4]
    assert [records.data(line) for line in policy.file.curve] == episodes
    assert [weights.shape for weights, _ in policy.layers] == [(12, 4), (4, 1)]
    assert all(0 < line["utilisation"] < 1 and line["rtt_ms"] > 31 for line in episodes)


@pytest.mark.slow
def test_a_training_that_was_cut_off_goes_on_as_if_it_had_not_been(whole, monkeypatch):
    asked, out = agents.load(whole / "tiny.toml"), whole / "again.json"
    cut_off(monkeypatch, asked, 7, out, episode=3)
    assert (whole / "again.json.checkpoint").exists() and not out.exists()
    with pytest.raises(InputError, match="a checkpoint of another query or seed"):
        agents.train(asked, out, seed=8)
    assert [line.episode for line in resumed(asked, 7, out)] == [3]
    first, second = (policies.load(whole / name) for name in ("tiny.json", "again.json"))
    assert all((a == b).all() for one, two in zip(first.layers, second.layers, strict=True)
               for a, b in zip(one, two, strict=True))  # fmt: skip


def test_a_checkpoint_runs_nothing_and_is_refused_where_it_is_none(whole):
    (whole / "bad.json.checkpoint").write_bytes(b"PK not a checkpoint")
    code, _, error = run("train", "tiny.toml", "--out", "bad.json", cwd=whole)
    assert code == 2 and "bad.json.checkpoint: no checkpoint of this training" in error


@pytest.mark.parametrize("old, new, message", [
    ("layers", "layer", "tiny.toml:9: unknown key 'layer' in [agent]; did you mean 'layers'?"),
    ("[agent]", "[agents]", "tiny.toml:8: unknown section [agents]; did you mean 'agent'?"),
    ("[environment]", "adversary = 3\n[environment]", "tiny.toml:1: 'adversary' is a value; expected a section [adv"),
    ("history = 2", "history = 0", "tiny.toml:2: history is 0; expected a whole number from 1 to 1024"),
    ("parallel = 8", "parallel = 0", "tiny.toml:11: parallel is 0; expected a whole number from 1 to 1048576"),
    ("gamma = 0.0", "gamma = nan", "tiny.toml:10: gamma is nan; expected a number from 0 to 1"),
    ("steps = 11", "steps = 10", "tiny.toml:5: steps is 10; expected a multiple of rollout, 5, and 1 more"),
    ("steps = 11", "steps = 400", "and 1 more until an effect is observed, such as 401"),
    ("steps = 11", "steps = 2", "and 1 more until an effect is observed, such as 6"),
    ("rtt = 32", "links = {constant = 2}", "tiny.toml:4: the ratio of constant links is 2"),
    ("history = 2", 'observe = "custards"', "tiny.toml:2: unknown observe 'custards'; did you mean 'custard'?"),
    ("history = 2", 'observe = "beliefs"', "tiny.toml:2: no policy is exported whose observe is 'beliefs'"),
    ("history = 2", 'reward = "ltp"', "tiny.toml:2: no policy is exported whose reward is 'ltp'"),
    ("[agent]", '[agent]\ndevice = "gpu"', "no device 'gpu' here; JAX has cpu"),
    ("steps = 11", "steps =", "tiny.toml: not TOML"),
    ("history = 2", 'history = 2\nact = "envelope:cc_qdel"', "tiny.toml:3: act is 'envelope:cc_qdel', which leaves no"),
    ("rtt = 32", 'rtt = 32\njitter = 8\nact = "envelope:cc_qdel_wide"', "interval is 1 R_m, and R_m with jitter takes"),
])  # fmt: skip
def test_what_cannot_be_trained_is_said(old, new, message, tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY.replace(old, new))
    code, _, error = run("train", "tiny.toml", cwd=tmp_path)
    assert code == 2 and message in error and sorted(tmp_path.iterdir()) == [tmp_path / "tiny.toml"]


@pytest.mark.parametrize("out, message", [
    ("tiny.toml", "tiny.toml: this is the file of the training; expected a file for the policy, such as NAME.json"),
    (".", "this is a folder; expected a file for the policy"),
    ("none/tiny.json", "none: there is no such folder to write to"),
])  # fmt: skip
def test_a_training_replaces_neither_its_own_file_nor_a_folder(out, message, tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    code, _, error = run("train", "tiny.toml", "--out", out, cwd=tmp_path)
    assert code == 2 and message in error
    assert (tmp_path / "tiny.toml").read_text() == TINY and sorted(tmp_path.iterdir()) == [tmp_path / "tiny.toml"]


@pytest.mark.parametrize("text, steps", [
    ("", 401),
    ('[environment]\ninterval = "1/3"', 403),
    ("[environment]\ninterval = 2", 400),
    ('[agent]\nalgorithm = "td3"', 401),
    ('[adversary]\ntarget = "reno"', 400),
    ("[environment]\nsteps = 26", 26),
])  # fmt: skip
def test_an_episode_has_whole_rollouts_by_default(text, steps, tmp_path):
    (tmp_path / "plain.toml").write_text(text)
    assert agents.load(tmp_path / "plain.toml").environment.options.steps == steps


@pytest.mark.slow
def test_a_policy_is_where_another_training_begins(whole, tmp_path):
    """A training with almost no change returns its initial policy, except for the change of one step of Adam. The file
    names the initial policy.
    """
    begun = TINY.replace("learning_rate = 0.01", f'learning_rate = 1e-9\ninitial = "{whole / "tiny.json"}"')
    (tmp_path / "on.toml").write_text(begun)
    agents.train(tmp_path / "on.toml", tmp_path / "on.json", seed=8)
    first, second = policies.load(whole / "tiny.json"), policies.load(tmp_path / "on.json")
    for one, two in zip(first.layers, second.layers, strict=True):
        for a, b in zip(one, two, strict=True):
            np.testing.assert_allclose(a, b, atol=1e-7)
    assert second.file.query["agent"]["initial"] == str(whole / "tiny.json")


@pytest.mark.parametrize("old, new, message", [
    ("layers = [4]", "layers = [5]", "tiny.toml:9: layers is [5], and that of the policy in {} [4]; expected the same"),
    ("history = 2", "history = 3", "tiny.toml:2: history is 3, and that of the policy in {} 2; expected the same"),
    ("history = 2", 'act = "aurora"\nhistory = 2', "act is aurora, and that of the policy in {} custard"),
    ("tiny.json", "none.json", "none.json: cannot read: No such file"),
])  # fmt: skip
def test_a_policy_that_does_not_fit_is_no_beginning(old, new, message, whole, tmp_path):
    query = TINY + f'initial = "{whole / "tiny.json"}"\n'
    (tmp_path / "tiny.toml").write_text(query.replace(old, new))
    with pytest.raises(InputError) as error:
        agents.load(tmp_path / "tiny.toml")
    assert message.format(whole / "tiny.json") in str(error.value)


def test_a_reward_that_is_cheated_is_warned_of(tmp_path):
    for name, expected in (("aurora", "reward 'aurora': a sender at twice the link's rate"), ("ltp", None)):
        (tmp_path / "tiny.toml").write_text(
            TINY.replace("history = 2", f'history = 2\nobserve = "orca"\nreward = "{name}"')
        )
        warning = agents.load(tmp_path / "tiny.toml").warning
        assert warning is None if expected is None else warning.startswith(expected)


def test_an_adversary_begins_with_no_policy(tmp_path):
    (tmp_path / "harm.toml").write_text('[adversary]\ntarget = "reno"\n[agent]\ninitial = "tiny.json"\n')
    code, _, error = run("train", "harm.toml", cwd=tmp_path)
    assert code == 2 and "harm.toml:4: initial is for policies; expected none" in error


def test_a_trace_of_negative_rates_is_refused(tmp_path):
    (tmp_path / "negative.mahimahi").write_text("1\n-2\n")
    (tmp_path / "tiny.toml").write_text(TINY.replace("rtt = 32", 'rtt = 32\nlinks = "mahimahi:negative.mahimahi"'))
    code, _, error = run("train", "tiny.toml", cwd=tmp_path)
    assert code == 2 and "negative.mahimahi:2: found '-2'; expected whole milliseconds" in error


def test_nothing_is_trained_in_an_envelope_whose_ends_cross(tmp_path):
    (tmp_path / "crossed.py").write_text("def rate(C_L):\n    return between(2 * C_L, C_L)\n")
    (tmp_path / "tiny.toml").write_text(TINY.replace("history = 2", f'act = "envelope:{tmp_path / "crossed.py"}"'))
    with pytest.raises(InputError, match="low is above high at C_L = ") as error:
        agents.load(tmp_path / "tiny.toml")
    assert error.value.file == str(tmp_path / "crossed.py")


@pytest.mark.slow
def test_a_policy_is_trained_in_an_envelope(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY.replace("history = 2", 'history = 2\nact = "envelope:cc_qdel_wide"'))
    code, out, error = run("train", "tiny.toml", cwd=tmp_path)
    assert code == 0, error
    policy = policies.load(tmp_path / "tiny.json")
    first, *_, last = policy.file.curve
    assert first.held_out_low is records.ABSENT and last.held_out_low != last.held_out_high
    low, high, card = f"{last.held_out_low:.3f}", f"{last.held_out_high:.3f}", (tmp_path / "tiny.md").read_text()
    assert f"lowest rates {low:>9}   highest rates {high:>9}" in out and f"{last.held_out_low:g}, and the" in card
    assert policy.file.act == "envelope:cc_qdel_wide" and policy.envelope.name == "cc_qdel_wide"
    assert "between(3 / 2 * C_L, 2 * C_L)" in policies.exported(policy).header()


@pytest.mark.slow
def test_a_reward_that_is_no_number_ends_it(tmp_path):
    (tmp_path / "none.py").write_text("def reward(rtt, second):\n    return log(0 - rtt / second)\n")
    (tmp_path / "tiny.toml").write_text(TINY.replace("history = 2", 'history = 2\nreward = "none.py"'))
    code, _, error = run("train", "tiny.toml", cwd=tmp_path)
    assert code == 2 and "in episode 1 the mean reward is nan" in error and not (tmp_path / "tiny.json").exists()


def test_without_a_folder_nothing_is_trained(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    code, _, error = run("train", "tiny.toml", "--out", "none/tiny.json", cwd=tmp_path)
    assert code == 2 and "none: there is no such folder to write to" in error


@pytest.mark.real_time
@pytest.mark.slow
@pytest.mark.parametrize("after", [3, 12])
def test_an_interrupt_ends_it_within_two_seconds(after, tmp_path):
    """While it imports, and while it compiles, in which no interrupt is heeded, or trains on a quick machine."""
    (tmp_path / "tiny.toml").write_text(TINY)
    program = [sys.executable, "-m", "ccmatic", "train", "tiny.toml"]
    process = subprocess.Popen(program, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(after)
    process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    _, error = process.communicate(timeout=60)
    assert process.returncode == 130 and time.monotonic() - begun < 2, error
    assert error.strip() == b"ccmatic: interrupted"
