"""A learning algorithm from outside, one folder (tests/exercises/reinforce), is trained, resumes, and is sent by."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

import numpy as np
import pytest

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

from ccmatic import records
from ccmatic.base import InputError
from ccmatic.deployment import policies
from ccmatic.learning import agents
from support import ROOT
from support.cli import lines, run
from support.training import cut_off, resumed

FOLDER = ROOT / "tests" / "exercises" / "reinforce"
TINY = f"""\
[environment]
history = 2
rate = 32
rtt = 32
steps = 11
first = 0.5

[agent]
algorithm = "{FOLDER}"
layers = [4]
parallel = 8
episodes = 4
learning_rate = 0.05
deviation = 1
shrink = 0.5
"""


@pytest.fixture
def tiny(tmp_path, monkeypatch):
    """A folder with tiny.toml, which becomes the current one."""
    (tmp_path / "tiny.toml").write_text(TINY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_an_algorithm_of_a_folder_is_trained_as_shipped_ones_are(tiny):
    code, out, error = run("train", "tiny.toml", "--seed", 7, "--json", cwd=tiny)
    assert code == 0, error
    *episodes, last = lines(out)
    assert last == {"policy": "tiny.json"} and [line["deviation"] for line in episodes] == [0.5, 0.25, 0.125, 0.0625]
    policy = policies.load(tiny / "tiny.json")
    assert [weights.shape for weights, _ in policy.layers] == [(12, 4), (4, 1)]
    assert policy.file.query["agent"]["algorithm"] == str(FOLDER)
    assert policies.exported(policy).header()


def test_a_policys_file_does_not_run_the_algorithm_that_it_names(tiny):
    (tiny / "here").mkdir()
    (tiny / "here" / "train.py").write_text("open('ran', 'w')\n")
    file = records.PolicyFile(
        query={"agent": {"algorithm": "./here"}}, seed=0, history=1, delay=0, interval="1", curve=[],
        layers=[records.LayerRecord([[0.0]] * 6, [0.0])], **dict.fromkeys(("observe", "act", "reward"), "custard"),
    )  # fmt: skip
    policies.save(file, tiny / "named.json")
    assert policies.load(tiny / "named.json").layers and not (tiny / "ran").exists()


@pytest.mark.slow
def test_it_resumes_as_if_it_had_not_been_cut_off(tiny, monkeypatch):
    training = agents.load("tiny.toml")
    agents.train(training, tiny / "whole.json", seed=7)
    cut_off(monkeypatch, training, 7, tiny / "again.json", episode=3)
    assert [line.episode for line in resumed(training, 7, tiny / "again.json")] == [3, 4]
    whole, again = (policies.load(tiny / f"{name}.json") for name in ("whole", "again"))
    assert whole.file.layers == again.file.layers
    import jax

    begun = training.algorithm(training).begin(jax.random.fold_in(jax.random.key(7), 0))
    assert not np.array_equal(whole.layers[0][0], begun[0][0][0])  # it learned something


@pytest.mark.parametrize("old, new, message", [
    (str(FOLDER), "./none", "none/train.py: cannot read: no such file"),
    (str(FOLDER), "here", "unknown algorithm 'here'; did you mean './here'?"),
    (str(FOLDER), "./here", "here/train.py: the definition sets no AGENT"),
    ("shrink = 0.5", "shrink = 2.0", "tiny.toml:15: shrink is 2.0; expected a number above 0, at most 1"),
    ("shrink = 0.5", "shrnk = 0.5", "tiny.toml:15: unknown key 'shrnk' in [agent]; did you mean 'shrink'?"),
    ("shrink = 0.5", "rollout = 5", "tiny.toml:15: rollout is 5; expected none: it is of ppo, not"),
    ("layers = [4]", "layers = [4, 4]", "tiny.toml:10: layers is [4, 4]; expected one hidden layer"),
], ids=["none", "unknown", "empty", "range", "key", "of another", "layers"])  # fmt: skip
def test_what_such_a_folder_lacks_is_said(old, new, message, tiny):
    (tiny / "here").mkdir()
    (tiny / "here" / "train.py").write_text("")
    (tiny / "tiny.toml").write_text(TINY.replace(old, new))
    with pytest.raises(InputError) as error:
        agents.load("tiny.toml")
    assert message in str(error.value)


def test_a_fault_of_the_folder_is_said_with_its_line(tiny):
    (tiny / "here").mkdir()
    (tiny / "here" / "train.py").write_text("import ccmatic\n\nAGENT = 1 / 0\n")
    (tiny / "tiny.toml").write_text(TINY.replace(str(FOLDER), "./here"))
    with pytest.raises(InputError, match=r"here/train.py:3: ZeroDivisionError") as error:
        agents.load("tiny.toml")
    assert error.value.line == 3


def test_an_installed_package_adds_one_by_name(tiny, monkeypatch):
    about = tiny / "site" / "outside-1.0.dist-info"
    about.mkdir(parents=True)
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text("[ccmatic.agents]\nreinforce = reinforce.train:AGENT\n")
    monkeypatch.syspath_prepend(FOLDER.parent)
    monkeypatch.syspath_prepend(about.parent)
    (tiny / "tiny.toml").write_text(TINY.replace(str(FOLDER), "reinforce"))
    assert agents.load("tiny.toml").algorithm.__module__ == "reinforce.train"
