"""The state of a training, stored in a file. The file contains numbers only, so reading it runs no code."""

import io
import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np

from ccmatic import records
from ccmatic.base import InputError, opened, write_bytes

#: The names of the entries of the file.
ABOUT, STATE = "about.json", "state/{}.npy"


def write(path: str | Path, state: Any, about: Mapping[str, Any], curve: Sequence[records.TrainingLine]) -> None:
    """Write the state of a training. Each array is an entry in NumPy's format.

    Args:
        path: The path of the file.
        state: The state, a tree of arrays.
        about: A description of the training, as JSON data.
        curve: The TrainingLines of all episodes so far.
    """
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(ABOUT, json.dumps({"about": about, "curve": [records.data(line) for line in curve]}))
        for number, leaf in enumerate(jax.tree.leaves(state)):
            array = io.BytesIO()
            np.save(array, np.asarray(leaf), allow_pickle=False)
            archive.writestr(STATE.format(number), array.getvalue())
    write_bytes(path, content.getvalue())


def restore(path: str | Path, state: Any, about: Mapping[str, Any]) -> tuple[Any, list[records.TrainingLine]]:
    """Restore a training from a checkpoint.

    Args:
        path: The path of the file, which need not exist.
        state: The state at the beginning of the training.
        about: The description of the training.

    Returns:
        The state and the TrainingLines of all episodes so far. If there is no file, the given state and an empty list.

    Raises:
        InputError: If the file is not a checkpoint of this training.
    """
    if not Path(path).exists():
        return state, []
    try:
        with opened(path) as stored, zipfile.ZipFile(stored) as archive:
            if any(part.compress_type != zipfile.ZIP_STORED for part in archive.infolist()):
                raise ValueError("its parts are packed")
            contents = json.loads(archive.read(ABOUT))
            leaves, tree = jax.tree.flatten(state)
            arrays = [_array(archive, number, leaf) for number, leaf in enumerate(leaves)]
    except (OSError, KeyError, ValueError, TypeError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(f"no checkpoint of this training ({error}); remove it to begin anew", str(path)) from None
    if contents["about"] != about:
        raise InputError("a checkpoint of another query or seed; remove it, or choose another --out", str(path))
    curve = [records.convert(line, records.TrainingLine, str(path)) for line in contents["curve"]]
    return jax.tree.unflatten(tree, arrays), curve


def _array(archive: zipfile.ZipFile, number: int, like: Any) -> Any:
    """Return an array of the file. Its shape and type have to be those of the array `like`."""
    array = np.load(io.BytesIO(archive.read(STATE.format(number))), allow_pickle=False)
    if array.shape != like.shape or array.dtype != like.dtype:
        raise ValueError("its networks have other sizes")
    return jax.device_put(array)
