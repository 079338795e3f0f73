"""Wrong values for each key of a training: one message each, before anything is trained."""

from support import learners  # noqa: F401, I001 (first: it may skip the rest)

from dataclasses import fields

import pytest

pytest.importorskip("optax", reason="no optax: pip install -e '.[rl]'")

from ccmatic.base import InputError
from ccmatic.learning import LinkOptions, agents
from ccmatic.learning.agents.query import COMMON
from ccmatic.learning.envs import LEARNED

#: The sections of a training that is right.
RIGHT = {
    "environment": {"history": "2", "rate": "32", "rtt": "32", "steps": "11"},
    "agent": {"layers": "[4]", "parallel": "8", "episodes": "1", "rollout": "5"},
}

WRONG = (
    "nan", "-inf", "1e300", "-1", '"x"', "[[1]]", "[nan]", "[1, inf]", "true", "{}", "10000000000000000000000",
    "{low = 1, high = nan}", "{low = 5, high = 1}", '{"mahimahi:/nonexistent" = 1}',
)  # fmt: skip

#: The values of WRONG that are right for a key. `train` looks for the device later.
EXCEPT = {"normalise": {"true"}, "device": {'"x"'}}

KEYS = [
    *(("environment", name) for name in (*LEARNED, *(each.name for each in fields(LinkOptions) if each.init))),
    *(("agent", name) for name in (*COMMON, "rollout", "epochs", "batches", "initial", "memory", "normalise")),
]


def text_of(name, values):
    return "\n".join([f"[{name}]", *(f"{key} = {value}" for key, value in values.items())])


@pytest.mark.parametrize("section, key", KEYS)
def test_no_wrong_value_is_accepted_or_crashes(tmp_path, section, key):
    for value in WRONG:
        if value in EXCEPT.get(key, ()):
            continue
        sections = {name: {**values} for name, values in RIGHT.items()}
        sections[section][key] = value
        lines = [
            f"[{name}]\n" + "".join(f"{k} = {v}\n" for k, v in values.items()) for name, values in sections.items()
        ]
        (tmp_path / "wrong.toml").write_text("".join(lines))
        with pytest.raises(InputError) as refused:
            agents.load(tmp_path / "wrong.toml")
        assert refused.value.message.count("\n") == 0 and len(refused.value.message) < 700, value


def test_no_device_of_this_name_is_told_before_the_training(tmp_path):
    (tmp_path / "wrong.toml").write_text('[environment]\nsteps = 26\n[agent]\ndevice = "x"\n')
    with pytest.raises(InputError, match="no device 'x' here; JAX has cpu"):
        agents.train(tmp_path / "wrong.toml", tmp_path / "x.json")
