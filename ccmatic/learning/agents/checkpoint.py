"""The state of a training, stored in a file. The file contains numbers only, so reading it runs no code."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from flax import serialization

from ccmatic import records
from ccmatic.base import InputError, opened, write_bytes
from ccmatic.learning.agents.contract import Agent


def write(path: str | Path, agent: Agent, about: Mapping[str, Any], curve: Sequence[records.TrainingLine]) -> None:
    """Write the state of an Agent. Each part is in Flax's format (msgpack).

    Args:
        path: The path of the file.
        agent: The Agent.
        about: A description of the training, as JSON data.
        curve: The TrainingLines of all episodes so far.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("about.json", json.dumps({"about": about, "curve": [records.data(line) for line in curve]}))
        for name, state in agent.state().items():
            archive.writestr(name, serialization.to_bytes(state))
    write_bytes(path, content.getvalue())


def restore(path: str | Path, agent: Agent, about: Mapping[str, Any]) -> list[records.TrainingLine]:
    """Restore an agent from a checkpoint.

    Args:
        path: The path of the file, which need not exist.
        agent: The Agent.
        about: The description of the training.

    Returns:
        The TrainingLines of all episodes so far; an empty list if there is no file.

    Raises:
        InputError: If the file is not a checkpoint of this training.
    """
    if not Path(path).exists():
        return []
    try:
        with opened(path) as stored, zipfile.ZipFile(stored) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise ValueError("its parts are packed")
            contents = json.loads(archive.read("about.json"))
            expected = agent.state()
            networks = {name: serialization.from_bytes(state, archive.read(name)) for name, state in expected.items()}
            _check_shapes(expected, networks)
    except (OSError, KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"no checkpoint of this training ({error}); remove it to begin anew", str(path)) from None
    if contents["about"] != about:
        raise InputError("a checkpoint of another query or seed; remove it, or choose another --out", str(path))
    agent.restore(networks)
    return [records.convert(line, records.TrainingLine, str(path)) for line in contents["curve"]]


def _check_shapes(expected: Mapping[str, Any], stored: Mapping[str, Any]) -> None:
    shapes = [[np.shape(leaf) for leaf in jax.tree.leaves(tree)] for tree in (expected, stored)]
    if shapes[0] != shapes[1]:
        raise ValueError("its networks have other sizes")
