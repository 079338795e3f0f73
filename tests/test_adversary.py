"""Adversaries: what they choose keeps the budget, is what senders then have, and harms whom it should."""

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
pytest.importorskip("skrl", reason="no skrl: pip install -e '.[rl]'")

import jax.numpy as jnp
from click.testing import CliRunner

from ccmatic import adversary, policies, records, training
from ccmatic.base import InputError
from ccmatic.cli.commands import cli
from support.cli import lines
from support.compiling import compiled_soon  # noqa: F401
from support.json_schemas import validate

QUERY = """\
[environment]
steps = 60
budget = 3
window = 4

[adversary]
target = "constant:40"

[agent]
layers = [4]
parallel = 8
episodes = 2
rollout = 20
epochs = 1
batches = 1
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with harm.toml, and an adversary as of it, harm.json, that has learned nothing yet."""
    folder, rng = tmp_path_factory.mktemp("adversary"), np.random.default_rng(0)
    (folder / "harm.toml").write_text(QUERY)
    layers = [
        records.LayerRecord(rng.normal(size=(inputs, outputs)).tolist(), [0.0] * outputs)
        for inputs, outputs in ((35, 4), (4, 1))
    ]
    made = records.AdversaryFile(query=tomllib.loads(QUERY), seed=3, threshold=1e-4, layers=layers, curve=[])
    policies.save(made, folder / "harm.json")
    return folder


def swings(state, seen, key):
    """The most at one time, the least at the next."""
    return jnp.where(state.interval % 2 == 0, 1.0, -1.0) * jnp.ones((len(state.rate), 1))


@pytest.mark.parametrize("budget, window", [(0.5, 1), (3, 4)])
def test_a_trace_keeps_the_budget(budget, window):
    """Eq. 8, at every step, of what wants to change most."""
    attack = adversary.attack(
        {"target": "constant:40"}, {"steps": 40, "budget": budget, "window": window}, threshold=0.0
    )
    rates = np.float64(adversary.play(attack, swings, 3).rates)
    assert ((rates >= 1 - 1e-3) & (rates <= 96 + 1e-3)).all()
    changes = np.abs(np.diff(rates, axis=0))
    slopes = np.lib.stride_tricks.sliding_window_view(changes, window, axis=0).mean(-1)
    assert slopes.max() <= budget * (1 + 1e-4)
    assert slopes.max() > min(budget, 90) * 0.9


def test_a_trace_that_is_followed_is_the_same_again():
    attack = adversary.attack({"target": "constant:40"}, {"steps": 40}, threshold=0.0)
    chosen = adversary.play(attack, swings, 2)
    again = adversary.play(attack, adversary.following(attack, chosen.rates), 2)
    assert np.allclose(again.rates, chosen.rates, rtol=1e-5)
    for name in ("used", "delay", "lost"):
        assert np.allclose(getattr(again, name), getattr(chosen, name), rtol=1e-2, atol=1e-4)


def test_what_is_learned_is_that_little_is_used_and_much_is_delayed():
    """The reward is higher where less is used, and lower where delays are below the threshold."""

    def reward(used, delay, threshold):
        attack = adversary.attack({"target": "constant:40"}, {"steps": 10}, threshold=threshold)
        return float(attack.rewarded(jnp.array([used]), jnp.full((10, 1), delay), None)[0])

    assert reward(0.2, 0.01, 0.01) > reward(0.9, 0.01, 0.01)
    assert reward(0.9, 0.01, 0.01) > reward(0.9, 0.005, 0.01) > reward(0.9, 0.0, 0.01)
    assert reward(0.9, 0.03, 0.01) == pytest.approx(reward(0.9, 0.01, 0.01))


def test_the_worst_trace_is_of_those_with_enough_delay():
    none = np.zeros((1, 3))
    found = adversary.Played(none, np.array([0.1, 0.5, 0.4]), np.array([0.0, 2.0, 1.0]), none[0], none[0])
    assert adversary.worst(found, 1.0) == (2, True)
    assert adversary.worst(found, 3.0) == (1, False)


def test_an_adversary_is_tried_on_senders(folder):
    found = CliRunner().invoke(cli, ["attack", str(folder / "harm.json"), "--on", "constant:9", "--json"])
    told = lines(found.output)
    for line in told:
        validate(line, "AttackLine")
    assert [(line["sender"], line["against"]) for line in told] == [
        ("constant:40", None),
        ("constant:9", None),
        ("constant:40", "constant:40"),
        ("constant:9", "constant:40"),
    ]
    assert told[0]["utilisation"] > told[1]["utilisation"] and told[2]["utilisation"] > told[3]["utilisation"]


def test_the_worst_trace_is_a_link_trace(folder):
    loaded = adversary.load(folder / "harm.json")
    *_, line = adversary.transfer([loaded], [], folder / "traces")
    moments = [int(line) for line in Path(line.file).read_text().splitlines()]
    assert moments == sorted(moments) and 60 * 20 * 0.9 < moments[-1] <= 60 * 20
    number, _ = adversary.worst(loaded.traces(adversary.BASELINE), loaded.attack.threshold)
    rates = loaded.traces(adversary.BASELINE).rates[:, number]
    assert len(moments) == int(rates.sum() * 0.02 * 125_000 / 1500)


@pytest.mark.parametrize(
    "before, after, message",
    [
        ("budget = 3", "budget = -1", "budget is -1; expected"),
        ('target = "constant:40"', 'target = "oracle"', "the oracle knows what rate will be chosen"),
        ('target = "constant:40"', 'target = "cubik"', "cubik"),
        ('target = "constant:40"', 'reward = "naive"', r"\[adversary\] has no target"),
        ("steps = 60", "observe = 'custard'", "unknown option 'observe' of an attack's links"),
        ("steps = 60", "steps = 61", "steps is 61; expected a multiple of rollout, 20"),
        ('target = "constant:40"', 'target = "reno"\nreward = "power"', "unknown reward 'power' of an adversary"),
    ],
)
def test_what_cannot_be_learned_is_said(tmp_path, before, after, message):
    assert before in QUERY
    (tmp_path / "harm.toml").write_text(QUERY.replace(before, after))
    with pytest.raises(InputError, match=message) as error:
        training.load(tmp_path / "harm.toml")
    assert error.value.file == str(tmp_path / "harm.toml")


def test_a_file_of_other_actions_is_refused(folder, tmp_path):
    """An adversary is no sender's policy, and one for other observations is none of this attack."""
    with pytest.raises(InputError, match="ccmatic policy 1"):
        policies.load(folder / "harm.json")
    text = json.loads((folder / "harm.json").read_text())
    text["query"]["adversary"]["history"] = 7
    (tmp_path / "other.json").write_text(json.dumps(text))
    with pytest.raises(InputError, match="layer 1 takes 35 numbers, and its observations have 49 numbers"):
        adversary.load(tmp_path / "other.json")


@pytest.mark.slow
def test_an_adversary_learns(tmp_path):
    """In some episodes, how to make Vegas use less of a link than it does of random ones, at no less delay."""
    (tmp_path / "harm.toml").write_text(
        '[environment]\nsteps = 300\n[adversary]\ntarget = "vegas"\n[agent]\nparallel = 32\nepisodes = 6\n'
    )
    training.train(training.load(tmp_path / "harm.toml"), 0, tmp_path / "harm.json")
    at_random, harmed = adversary.transfer([adversary.load(tmp_path / "harm.json")], [])
    assert harmed.constrained and harmed.delay_ms >= at_random.delay_ms
    assert harmed.utilisation < at_random.utilisation - 0.15
