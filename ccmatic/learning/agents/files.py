"""The files of a running training: its checkpoint, and event files of TensorBoard.

A checkpoint contains numbers only, so reading it runs no code. The library tensorboardX writes event files.
"""

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


def write_checkpoint(
    path: str | Path, state: Any, about: Mapping[str, Any], curve: Sequence[records.TrainingLine]
) -> None:
    """Write the state of a training, a tree of arrays. Each array is an entry in NumPy's format."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr(ABOUT, json.dumps({"about": about, "curve": [records.data(line) for line in curve]}))
        for number, leaf in enumerate(jax.tree.leaves(state)):
            array = io.BytesIO()
            np.save(array, np.asarray(leaf), allow_pickle=False)
            archive.writestr(STATE.format(number), array.getvalue())
    write_bytes(path, content.getvalue())


def restore_checkpoint(
    path: str | Path, state: Any, about: Mapping[str, Any]
) -> tuple[Any, list[records.TrainingLine]]:
    """Return the stored state and the TrainingLines so far; the given state and no lines if there is no file."""
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
    array = np.load(io.BytesIO(archive.read(STATE.format(number))), allow_pickle=False)
    if array.shape != like.shape or array.dtype != like.dtype:
        raise ValueError("its networks have other sizes")
    return jax.device_put(array)


#: The curves: fields of a TrainingLine.
CURVES = ("reward", "utilisation", "rtt_ms", "deviation", "held_out", "held_out_low", "held_out_high")


class Board:
    """A listener of a training that writes a folder of event files for each seed. The steps are intervals."""

    def __init__(self, folder: str | Path) -> None:
        try:
            import tensorboardX
        except ImportError:
            raise InputError("tensorboardX is not installed; pip install 'ccmatic[tensorboard]'") from None
        self._folder, self._make = Path(folder), tensorboardX.SummaryWriter
        self._writers: dict[int, Any] = {}
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"cannot write: {error.strerror}", str(folder)) from None

    def __call__(self, line: records.TrainingLine) -> None:
        seed = line.seed if isinstance(line.seed, int) else 0
        if seed not in self._writers:
            # A resumed training writes a further file. TensorBoard then drops later steps of the interrupted training.
            self._writers[seed] = self._make(str(self._folder / f"seed_{seed}"), purge_step=line.intervals)
        for name in CURVES:
            value = getattr(line, name)
            if isinstance(value, int | float):
                self._writers[seed].add_scalar(name, value, line.intervals)

    def close(self) -> None:
        for writer in self._writers.values():
            writer.close()
