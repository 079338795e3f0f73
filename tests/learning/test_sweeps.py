"""Sweeps from one file, and event files of TensorBoard."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import pytest

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.cli.learning import best
from ccmatic.deployment import policies
from ccmatic.learning.agents import sweep
from ccmatic.learning.agents.train import _trainings as trainings
from support.cli import lines, run
from support.json_schemas import validate

TINY = """\
[environment]
observe = "orca"
history = 2
rate = 32
rtt = 32
steps = 11
first = 0.5

[agent]
layers = [4]
parallel = 8
episodes = 2
rollout = 5
epochs = 1
batches = 1
"""

SWEEP = """
[sweep.agent]
learning_rate = [0.01, 0.001]

[sweep.environment]
reward = ["ltp", "power"]
"""

#: A sweep whose trainings differ in the number of episodes alone compiles one program.
ONE_PROGRAM = """
[sweep.agent]
episodes = [1, 2]
"""


def test_a_sweep_has_every_combination_of_its_values(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY + SWEEP)
    names = ("agent.learning_rate", "environment.reward")
    pairs = [(0.01, "ltp"), (0.01, "power"), (0.001, "ltp"), (0.001, "power")]
    found = trainings(tmp_path / "tiny.toml")
    assert [tuple(values[name] for name in names) for values, _ in found] == pairs
    assert [(training.agent.learning_rate, training.environment.reward) for _, training in found] == pairs
    sections = [training.sections for _, training in found]  # what the files of policies record
    assert [(each["agent"]["learning_rate"], each["environment"]["reward"]) for each in sections] == pairs


def test_a_sweep_trains_each_combination(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY + ONE_PROGRAM)
    code, out, error = run("train", "tiny.toml", "--seeds", 2, "--json", cwd=tmp_path)
    assert code == 0, error
    done = [line for line in lines(out) if "values" in line]
    for line in done:
        validate(line, "SweepLine")
    assert [line["values"] for line in done] == [{"agent.episodes": 1}, {"agent.episodes": 2}]
    assert done[1]["policies"] == ["tiny-2_0.json", "tiny-2_1.json"]
    for episodes, line in zip((1, 2), done, strict=True):
        files = [policies.load(tmp_path / file).file for file in line["policies"]]
        assert {file.query["agent"]["episodes"] for file in files} == {episodes}
        assert {len(file.curve) for file in files} == {episodes}
        best = [max(each.held_out for each in file.curve if isinstance(each.held_out, float)) for file in files]
        assert (line["least"], line["most"]) == (min(best), max(best)) and min(best) <= line["held_out"] <= max(best)


def test_a_sweep_prints_its_best_training(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY + ONE_PROGRAM)
    code, out, _ = run("train", "tiny.toml", "--seeds", 2, cwd=tmp_path)
    assert code == 0 and out.splitlines()[-1].startswith("best: agent.episodes = ") and "tiny-2_0.json" in out


def test_the_best_training_has_the_highest_reward_of_its_formula():
    values = [("ltp", 0.9, 1.0), ("ltp", 0.5, 2.0), ("power", 0.9, 9.0)]
    done = [
        records.SweepLine({"environment.reward": reward, "agent.gamma": gamma}, [], held_out, held_out, held_out)
        for reward, gamma, held_out in values
    ]
    assert [*best(done)] == done[1:]
    for line in done:
        del line.values["environment.reward"]
    assert [*best(done)] == done[2:]


@pytest.mark.parametrize("section, message", [
    ("[sweep]", "the section [sweep] has no lists"),
    ("[sweep]\nagent = 3", "unknown section [sweep.agent]"),
    ("[sweep.agents]\ngamma = [1]", "unknown section [sweep.agents]; did you mean 'agent'?"),
    ("[sweep.agent]\ngamma = 0.5", "gamma of the sweep is 0.5; expected a list of values"),
    ("[sweep.agent]\ngamma = []", "gamma of the sweep is []; expected a list of values"),
    ("[sweep.agent]\ngama = [1]", "unknown key 'gama' in [agent]; did you mean 'gamma'?"),
    ("[sweep.agent]\ngamma = [0.5, 7]", "gamma is 7; expected a number from 0 to 1"),
    (f"[sweep.agent]\ngamma = {[0.5] * 40}\nepisodes = {[2] * 40}", "1600 trainings; expected 1 to 1000"),
])  # fmt: skip
def test_a_wrong_sweep_is_refused_before_any_training(section, message, tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY + section)
    code, _, error = run("train", "tiny.toml", cwd=tmp_path)
    assert code == 2 and message in error and not list(tmp_path.glob("*.json"))


def test_a_file_without_a_sweep_is_no_sweep(tmp_path):
    (tmp_path / "tiny.toml").write_text(TINY)
    with pytest.raises(InputError, match="no lists"):
        next(sweep(tmp_path / "tiny.toml", tmp_path / "tiny.json"))


def test_curves_are_event_files_of_tensorboard(tmp_path):
    pytest.importorskip("tensorboardX", reason="no tensorboardX: pip install -e '.[tensorboard]'")
    from tensorboardX.proto.event_pb2 import Event

    (tmp_path / "tiny.toml").write_text(TINY)
    code, out, error = run("train", "tiny.toml", "--seeds", 2, "--tensorboard", "logs", "--json", cwd=tmp_path)
    assert code == 0, error
    told = [line for line in lines(out) if "episode" in line and line["seed"] == 1]
    [file] = (tmp_path / "logs" / "seed_1").iterdir()
    found = [
        (event.step, value.tag, value.simple_value) for event in _events(file, Event) for value in event.summary.value
    ]
    for name in ("reward", "utilisation", "rtt_ms", "deviation", "held_out"):
        expected = [(line["intervals"], pytest.approx(line[name], rel=1e-5)) for line in told if name in line]
        assert [(step, value) for step, tag, value in found if tag == name] == expected and expected


def _events(file, kind):
    """The events of a file: each has its length in 8 bytes, a checksum in 4, itself, and a checksum in 4."""
    content = file.read_bytes()
    while content:
        size = int.from_bytes(content[:8], "little")
        yield kind.FromString(content[12 : 12 + size])
        content = content[16 + size :]


def test_a_folder_of_events_that_cannot_be_is_refused(tmp_path):
    pytest.importorskip("tensorboardX", reason="no tensorboardX: pip install -e '.[tensorboard]'")
    (tmp_path / "tiny.toml").write_text(TINY)
    (tmp_path / "logs").write_text("")
    code, _, error = run("train", "tiny.toml", "--tensorboard", "logs", cwd=tmp_path)
    assert code == 2 and "cannot write" in error
    (tmp_path / "tiny.toml").write_text(TINY + SWEEP)
    code, _, error = run("train", "tiny.toml", "--tensorboard", "other", cwd=tmp_path)
    assert code == 2 and "a sweep writes no event files" in error
