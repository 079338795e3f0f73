"""An observation in one file outside the package: learners train on it, exported C and controllers' texts read it."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ccmatic.base import InputError, definitions
from ccmatic.controllers import load, signal
from support.cli import lines, run
from support.machine import needs_compiler
from support.policies import Interval, deciding, pointer, policy

FOLDER = Path(__file__).parent / "observations"

TRAINING = """[environment]
observe = "waiting.py"
history = 2
rate = 32
rtt = 32
steps = 11
[agent]
layers = [4]
parallel = 8
episodes = 1
rollout = 5
batches = 1
"""

#: A monitor interval in seconds, and R_m.
SECONDS = 0.02


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with the observation, and with a controller that reads it."""
    for file in ("waiting.py", "yielding.py"):
        shutil.copy(FOLDER / file, tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_query_trains_on_it(folder):
    pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")
    from ccmatic.learning import agents

    (folder / "made.toml").write_text(TRAINING)
    environment = agents.load("made.toml").environment
    assert environment.observe == str(folder / "waiting.py") and environment.size == 2 * 2


@pytest.mark.slow
def test_an_agent_trains_on_it(folder):
    pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")
    (folder / "made.toml").write_text(TRAINING)
    code, _, error = run("train", "made.toml")
    assert code == 0, error
    made = json.loads((folder / "made.json").read_text())
    assert made["observe"] == str(folder / "waiting.py") and len(made["layers"][0]["weights"]) == 2 * 2
    code, _, error = run("export", "made.json", "--target", "c", "--out", "out")
    assert code == 0, error


@needs_compiler
def test_exported_c_observes_it(folder):
    from ccmatic.deployment import policies
    from ccmatic.worlds.runtime.library import Library, LibraryFlow

    made = policy(folder / "made.json", observe="waiting.py", reward="aurora", act="aurora", history=1)
    library = Library(policies.exported(made))
    sender, decide, least, before = LibraryFlow(library, 1500, int(SECONDS * 1e9)), deciding(library), SECONDS, SECONDS
    for rtt in (0.03, 0.05, 0.015, 0.015, 0.06):
        features = np.zeros(2, np.float32)
        decide(sender._pointer, Interval(SECONDS, 1500, 1500, 0, rtt, rtt, 0), SECONDS, pointer(features))
        least = min(least, rtt)
        np.testing.assert_allclose(features, [(rtt - least) / least, (rtt - before) / least], rtol=1e-5, atol=1e-6)
        before = rtt


def test_a_controller_s_text_reads_it_and_is_verified(folder):
    asked = ("--model", "ccac2021", "--buffer", "infinite", "--horizon", "5", "--json")
    code, said, error = run("verify", "yielding.py", *asked)
    [verdict] = lines(said)
    assert code == 1 and verdict["verdict"] == "violated", error
    code, said, error = run("replay", verdict["trace"])
    assert code == 0, error


def test_the_documentation_shows_the_exercise():
    page = (FOLDER.parent.parent.parent / "docs" / "signals.md").read_text("utf-8")
    for file in ("waiting.py", "yielding.py"):
        assert f'```python title="{file}"\n{(FOLDER / file).read_text("utf-8")}```' in page


def windowed():
    """The observations of a model whose senders send by a window."""
    return next(m for m in definitions.every("models", "MODEL") if m.windows and m.flows == 1).observations


def test_the_text_of_a_controller_shows_it(folder):
    text = load("yielding.py", observations=windowed()).pretty()
    assert "if delay/R_m ≥ 1 and delay/R_m - delay[step]/R_m ≥ 0:" in text


@needs_compiler
def test_a_controller_with_it_is_exported(folder):
    code, _, error = run("export", "yielding.py", "--target", "c", "--out", "out")
    assert code == 0, error


def test_a_controller_with_it_sends_on_learners_links(folder):
    jax = pytest.importorskip("jax", reason="no jax: pip install -e '.[rl]'")
    pytest.importorskip("gymnasium", reason="no gymnasium: pip install -e '.[rl]'")
    from ccmatic.learning import Environment, LinkOptions, rollout, sender

    environment = Environment(LinkOptions(rate=24, rtt=20, buffer_bdp=4, steps=60), act="rate")
    known = rollout(environment, sender("yielding.py", environment), jax.random.key(1), 1).knowledge
    assert known.now.rtt[30:].max() < 0.06 and known.measure("throughput")[30:].mean() > 0.8 * 24 * 125_000


@pytest.mark.parametrize("source, message", [
    ("def observe(rtt, R_m):\n    return [rtt / R_m]\n", "reads `rtt`, which no controller observes"),
    ("def observe(least_rtt, R_m):\n    return [least_rtt / R_m]\n", "remembers `least_rtt`"),
    ("def observe(acked, sent):\n    return [acked / sent]\n", "expected a divisor made of numbers, R_m and D only"),
])  # fmt: skip
def test_what_no_controller_observes_is_refused_with_its_file(source, message, folder):
    (folder / "waiting.py").write_text(source)
    assert signal.load("observe", "waiting.py").size == 1
    with pytest.raises(InputError) as refused:
        load("yielding.py", observations=windowed())
    assert message in refused.value.message and refused.value.file
