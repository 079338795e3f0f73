"""The recording of a run: its packets, replies and samples."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ccmatic.base import InputError
from ccmatic.judging.scenario import Scenario

if TYPE_CHECKING:
    from ccmatic.networks.traces import Trace

#: The records of the path in C (path.c), little endian. Times are in ns; -1 means never.
PACKET = np.dtype(
    [
        *((name, "<i8") for name in ("arrival", "admitted", "released")),
        *(("size", "<i4"), ("flow", "<i2"), ("lost", "i1"), ("marked", "i1")),
    ]
)
REPLY = np.dtype([("sent", "<i8"), ("arrived", "<i8"), ("size", "<i4"), ("flow", "<i2"), ("pad", "<i2")])
SAMPLE = np.dtype(
    [
        *((name, "<i8") for name in ("time", "window", "in_flight", "rtt", "rate")),
        *(("flow", "<i2"), ("flags", "<i2"), ("pad", "<i4")),
    ]
)

#: The files of a run, by the attribute of Recording.
FILES = {"packets": PACKET, "replies": REPLY, "samples": SAMPLE}


@dataclass(frozen=True, eq=False)
class Recording:
    """A run of a subject over the path of a scenario."""

    scenario: Scenario
    packets: Any  #: An array of PACKET, one for each data packet, in the order of arrival at the link.
    replies: Any  #: An array of REPLY, one for each packet of a receiver, in the order of sending.
    samples: Any  #: An array of SAMPLE, the states of the senders; -1 stands for an unknown number.
    failure: str | None  #: The reason why the run broke off, such as a panic; None if the run is complete.
    subject: str  #: The name of the subject.
    version: str  #: The version of the subject.

    #: Whether the run took place in real time, so that another run differs.
    real_time: ClassVar[bool] = False

    def faults(self) -> Iterator[str]:
        """Yield a sentence for each law of the path that the recording breaks. A lawful recording has none.

        The check is independent of the path in C: it computes in Python, in exact integers, from the log alone.
        """
        from ccmatic.judging import laws  # imported here, as few runs are checked

        return laws.faults(self)

    def trace(self) -> "Trace":
        """Return a part of the run as a Trace of the path's model, which `ccmatic replay` accepts."""
        from ccmatic.judging import traces  # imported here: slow to import, and few runs become traces

        return traces.trace(self)

    def save(self, path: str | Path) -> None:
        np.savez_compressed(path, packets=self.packets, replies=self.replies, samples=self.samples)


def load(folder: Path, scenario: Scenario, subject: str, version: str, failure: str | None = None) -> Recording:
    """Return the Recording of a run that the path wrote to a folder.

    A run with a failure may have left no records, because its program crashed or was stopped.
    """
    if failure is not None and not (folder / "packets.bin").exists():
        arrays = {name: np.zeros(0, kind) for name, kind in FILES.items()}
        return Recording(scenario, **arrays, failure=failure, subject=subject, version=version)
    try:
        arrays = {name: np.fromfile(folder / f"{name}.bin", kind) for name, kind in FILES.items()}
        if failure is None and (folder / "failure.txt").exists():
            failure = (folder / "failure.txt").read_text(errors="replace")
    except OSError as error:
        raise InputError(f"the run has no record: {error.strerror}", str(error.filename)) from None
    return Recording(scenario, **arrays, failure=failure, subject=subject, version=version)
