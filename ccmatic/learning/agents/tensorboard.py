"""The curves of a training as event files of TensorBoard, which the library tensorboardX writes."""

from pathlib import Path
from typing import Any

from ccmatic import records
from ccmatic.base import InputError

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
