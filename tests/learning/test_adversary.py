"""Adversaries: their choices keep the budget, senders observe these choices, and the right senders are harmed."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import json
import tomllib
from pathlib import Path

import numpy as np
import pytest

from support.sampling import each_nth

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

import jax
import jax.numpy as jnp
from click.testing import CliRunner

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.cli.commands import cli
from ccmatic.deployment import policies
from ccmatic.learning import Environment, LinkOptions, adversaries, agents, sender
from ccmatic.learning.envs import rollout
from ccmatic.worlds.arrays import rates
from support.cli import lines
from support.json_schemas import validate
from support.policies import policy

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
    return jnp.where(state.interval % 2 == 0, 1.0, -1.0) * jnp.ones((len(seen), 1))


@pytest.mark.parametrize("budget, window", each_nth(2, [(0.5, 1), (3, 4)]))
def test_a_trace_keeps_the_budget(budget, window):
    """Eq. 8 holds at every step for an adversary that wants the largest changes."""
    attack = adversaries.make_attack(
        {"target": "constant:40"}, {"steps": 40, "budget": budget, "window": window}, threshold=0.0
    )
    rates = np.float64(adversaries.play(attack, swings, 3).rates)
    assert ((rates >= 1 - 1e-3) & (rates <= 96 + 1e-3)).all()
    changes = np.abs(np.diff(rates, axis=0))
    slopes = np.lib.stride_tricks.sliding_window_view(changes, window, axis=0).mean(-1)
    assert slopes.max() <= budget * (1 + 1e-4)
    assert slopes.max() > min(budget, 90) * 0.9


@pytest.mark.slow
def test_a_trace_that_is_followed_is_the_same_again():
    attack = adversaries.make_attack({"target": "constant:40"}, {"steps": 40}, threshold=0.0)
    chosen = adversaries.play(attack, swings, 2)
    again = adversaries.play(attack, adversaries.following(attack, chosen.rates), 2)
    assert np.allclose(again.rates, chosen.rates, rtol=1e-5)
    for name in ("used", "delay", "lost"):
        assert np.allclose(getattr(again, name), getattr(chosen, name), rtol=1e-2, atol=1e-4)


def up_and_down(state, seen, key):
    """Wanted rates go down and up."""
    return jnp.full((len(seen), 1), jnp.cos(state.interval / 8))


@pytest.mark.slow
def test_a_policy_in_an_envelope_stays_in_it_under_attack(tmp_path):
    """It sends a rate of the envelope or a packet, in whole bytes."""
    policy(tmp_path / "made.json", act="envelope:cc_qdel_wide")
    attack = adversaries.make_attack(
        {"target": f"policy:{tmp_path}/made.json"}, {"steps": 60, "budget": 4, "window": 2}
    )

    @jax.jit
    def play():
        def interval(state, _):
            allowed = rates(attack.target.environment.envelope, state.target.knowledge.bounds)
            state, *_ = attack.watched(state, up_and_down(state, jnp.zeros((2, 1)), None))
            return state, (*allowed, state.target.knowledge.now.sent)

        return jax.lax.scan(interval, attack.reset(jax.random.key(0), 2)[1], None, attack.options.steps)[1]

    least, most, sent = map(np.asarray, play())
    assert (sent >= np.floor(least)).all() and (sent <= np.maximum(most, attack.options.packet)).all()
    assert (least < most).mean() > 0.9


@pytest.mark.slow
def test_copa_under_attack_is_copa_stalls():
    """When acknowledgements stall, the window stays. No execution of `copa` covers this."""

    def found(name):
        attack = adversaries.make_attack({"target": name}, {"steps": 60, "budget": 4, "window": 2})
        return adversaries.play(attack, up_and_down, 2)

    assert all(map(np.array_equal, found("copa"), found("copa_stalls")))


def test_what_is_learned_is_that_little_is_used_and_much_is_delayed():
    """The reward is higher where less is used, and lower where delays are below the threshold."""

    def reward(used, delay, threshold, **options):
        attack = adversaries.make_attack({"target": "constant:40", **options}, {"steps": 10}, threshold=threshold)
        return float(attack.rewarded(jnp.array([used]), jnp.full((10, 1), delay), None)[0])

    assert reward(0.2, 0.01, 0.01) > reward(0.9, 0.01, 0.01)
    assert reward(0.9, 0.01, 0.01) > reward(0.9, 0.005, 0.01) > reward(0.9, 0.0, 0.01)
    assert reward(0.9, 0.03, 0.01) == pytest.approx(reward(0.9, 0.01, 0.01))
    assert reward(0.9, 0.0, 0.01, penalty=10) == pytest.approx(-0.9 - 10)


@pytest.mark.parametrize("name", each_nth(2, ["vegas", "bbr_v1"]))
def test_a_least_rtt_that_is_wrong_is_what_a_sender_measures(name):
    """The correct RTT has no effect. Too small an RTT makes Vegas see a queue that does not exist, and lets BBR believe
    in too small a BDP.
    """
    links = {"steps": 80, "interval": "1/4", "links": "constant", "rate": 24, "first": 1, "buffer_bdp": 2}
    attack = adversaries.make_attack({"target": name, "level": "feature", "within": 0.5}, links)
    found = adversaries.play(attack, lambda state, seen, key: jnp.array([[0.0], [-1.0]]), 2)
    environment = attack.target.environment
    alone = rollout(environment, sender(name, environment), jax.random.key(0), 1)
    right, short = found.used
    assert right == pytest.approx(alone.seen.served.sum() / alone.links.capacity.sum())
    assert short < right - 0.1


def test_what_a_policy_observes_is_of_the_wrong_least_rtt():
    """Orca's vectors contain the smallest RTT. Each keeps its value from the time of its measurement; initially there
    is none.
    """
    link = LinkOptions(rate=24, rtt=20, steps=5)
    environment = Environment(link, observe="orca", act="orca", reward="orca", history=3)

    @jax.jit
    def play(wrong):
        links, state = environment.reset(jax.random.key(0), 2)
        found = []
        for each in wrong:
            shown = environment.misled(state, jnp.full(2, each))
            found.append((state.history[0, 0, :, 4], shown.history[0, 0, :, 4]))
            state, *_ = environment.step(links, state._replace(history=shown.history), jnp.zeros((2, 1)))
        return found

    first, second, third = play(jnp.array([0.5, 1.5, 0.5]))
    assert (first[1] == 0).all()
    assert np.allclose(second[1], second[0] * jnp.array([1, 1, 1.5]))
    assert np.allclose(third[1], third[0] * jnp.array([1, 1, 0.5]))
    assert third[0][1] == second[1][2] > 0


@pytest.mark.slow
def test_an_adversary_of_what_is_measured_is_beside_its_target_unharmed(folder, tmp_path):
    """And no other sender is tried on what it chooses."""
    file = feature(folder, tmp_path)
    unharmed, harmed = adversaries.attack([file])
    assert (unharmed.sender, unharmed.against, harmed.against, harmed.seed) == ("constant:9", None, "constant:9", 3)
    assert unharmed.utilisation == harmed.utilisation and harmed.constrained == (harmed.delay_ms >= 0.1)
    for others, out in ((["reno"], None), ([], tmp_path / "traces")):
        with pytest.raises(InputError, match="choose no traces; expected neither --against nor --out"):
            list(adversaries.attack([file], others, out))
    with pytest.raises(InputError, match="are of other links or another level"):
        list(adversaries.attack([file, folder / "harm.json"]))


def feature(folder, tmp_path):
    """Write the file of an untrained adversary at the level of measurements."""
    text = json.loads((folder / "harm.json").read_text())
    text["query"]["adversary"] = {"target": "constant:9", "level": "feature", "within": 0.5, "runs": 2}
    text["query"]["environment"] = {"steps": 60}
    text["layers"][0]["weights"] = text["layers"][0]["weights"][:30]
    (tmp_path / "wrong.json").write_text(json.dumps(text))
    return tmp_path / "wrong.json"


def test_the_worst_trace_is_of_those_with_enough_delay():
    none = np.zeros((1, 3))
    found = adversaries.EpisodeResults(none, np.array([0.1, 0.5, 0.4]), np.array([0.0, 2.0, 1.0]), none[0], none[0])
    assert adversaries.worst(found, 1.0) == (2, True)
    assert adversaries.worst(found, 3.0) == (1, False)


@pytest.mark.slow
def test_an_adversary_is_tried_on_senders(folder):
    found = CliRunner().invoke(cli, ["attack", str(folder / "harm.json"), "--against", "constant:9", "--json"])
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
    loaded = adversaries.load(folder / "harm.json")
    *_, line = adversaries.attack([folder / "harm.json"], [], folder / "traces")
    moments = [int(line) for line in Path(line.file).read_text().splitlines()]
    assert moments == sorted(moments) and 60 * 20 * 0.9 < moments[-1] <= 60 * 20
    rates, _ = loaded.trace()
    assert len(moments) == int(rates.sum() * 0.02 * 125_000 / 1500)


def test_an_unknown_sender_is_refused_before_anybody_plays(folder, tmp_path):
    with pytest.raises(InputError, match="nobody"):
        next(adversaries.attack([folder / "harm.json"], ["nobody"], tmp_path / "traces"))
    assert not (tmp_path / "traces").exists()


def test_two_traces_of_one_name_are_refused(folder, tmp_path):
    """As of two policies of one file's name, or of one target, trained otherwise from the same seed."""
    with pytest.raises(InputError, match="would go to .*/constant:40-3.mahimahi; expected"):
        next(adversaries.attack([folder / "harm.json"] * 2, [], tmp_path / "traces"))
    assert not (tmp_path / "traces").exists()


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
        ("[agent]", "penalty = -1\n[agent]", "penalty is -1; expected a number, at least 0"),
        ("[agent]", "runs = 0\n[agent]", "runs is 0; expected a whole number, at least 1"),
        ("[agent]", 'level = "features"\n[agent]', "unknown level 'features'; did you mean 'feature'"),
        ("[agent]", 'level = "feature"\n[agent]', r"\[adversary\] has no within; expected"),
        ("[agent]", "within = 0.5\n[agent]", "within belongs to the level 'feature'"),
        ("[agent]", 'level = "feature"\nwithin = 1.5\n[agent]', "within is 1.5; expected a number between 0 and 1"),
    ],
)
def test_what_cannot_be_learned_is_said(tmp_path, before, after, message):
    assert before in QUERY
    (tmp_path / "harm.toml").write_text(QUERY.replace(before, after))
    with pytest.raises(InputError, match=message) as error:
        agents.load(tmp_path / "harm.toml")
    assert error.value.file == str(tmp_path / "harm.toml")


def test_a_file_of_other_actions_is_refused(folder, tmp_path):
    """An adversary is no sender's policy. An adversary for other observations does not fit this attack."""
    with pytest.raises(InputError, match="ccmatic policy 1"):
        policies.load(folder / "harm.json")
    text = json.loads((folder / "harm.json").read_text())
    text["query"]["adversary"]["history"] = 7
    (tmp_path / "other.json").write_text(json.dumps(text))
    with pytest.raises(InputError, match="layer 1 takes 35 numbers, and its observations have 49 numbers"):
        adversaries.load(tmp_path / "other.json")


@pytest.mark.slow
def test_an_adversary_learns(tmp_path):
    """In some episodes, how to make Vegas use less of a link than it does of random ones, at no less delay."""
    (tmp_path / "harm.toml").write_text(
        '[environment]\nsteps = 300\n[adversary]\ntarget = "vegas"\n[agent]\nparallel = 32\nepisodes = 6\n'
    )
    agents.train(tmp_path / "harm.toml", tmp_path / "harm.json")
    at_random, harmed = adversaries.attack([tmp_path / "harm.json"])
    assert harmed.constrained and harmed.delay_ms >= at_random.delay_ms
    assert harmed.utilisation < at_random.utilisation - 0.15
