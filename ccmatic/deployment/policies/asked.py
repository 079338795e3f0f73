"""Answers of a policy to a program in any language, which asks line by line in JSON."""

import ctypes
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ccmatic import records
from ccmatic.base import InputError, counted, parse_json, shown
from ccmatic.deployment.policies.export import PolicyExport, exported
from ccmatic.deployment.policies.policy import Policy, load
from ccmatic.worlds.runtime import Library, LibraryFlow

#: The bytes of a packet, if a question does not say.
PACKET = 1500

#: The largest number in a question.
MOST = 1e15

#: The keys of each form of a question, by the key that determines the form. An asterisk marks keys that are necessary.
FORMS = {
    "observation": ("observation*",),
    "begin": ("begin*", "packet"),
    "seconds": ("seconds*", "sent*", "acked*", "lost*", "rtt", "rtt_end", "marked"),
}


class Interval(ctypes.Structure):
    """The `struct ccm_interval` of measured.h."""

    _fields_ = tuple(
        (name, ctypes.c_float) for name in ("seconds", "sent", "acked", "lost", "rtt", "rtt_end", "out", "marked")
    )


def actions(policy: str | Path, lines: Iterable[str]) -> Iterator[records.ActLine]:
    """Yield a policy's answer to each line, which asks for an action or a rate. This needs a C compiler.

    `cm.actions("policy.json", ['{"observation": [0.1, 0.2]}'])` yields one record with an `action`.

    Args:
        policy: The policy's file.
        lines: The questions, one JSON object in a line (docs/reference/learning.md).

    Raises:
        InputError: If the file is no policy, or C code cannot express it. A wrong line raises no error: its answer has
            an `error`.
    """
    asked = Asked(load(policy))
    for line in lines:
        try:
            yield asked.answer(line)
        except InputError as error:
            yield records.ActLine(error=error.message)


class _Flow(LibraryFlow):
    """A flow of a policy that learns of whole intervals."""

    def decide(self, measured: Interval, seconds: float, size: int) -> tuple[float, list[float]]:
        """End an interval. Return the rate of the next one, and the observation by which the network chose it."""
        observation: NDArray[np.float32] = np.zeros(size, np.float32)
        ends = (ctypes.POINTER(Interval), measured), (ctypes.c_float, seconds)
        rate = self._call("decide", ctypes.c_float, *ends, (ctypes.c_void_p, observation.ctypes.data))
        return float(rate), observation.tolist()


class Asked:
    """A policy that answers lines, with the state of its flow. The C code of its export computes the answers."""

    def __init__(self, policy: Policy) -> None:
        self._policy, made = policy, exported(policy)
        self._is_alone = isinstance(made, PolicyExport)
        self._library = Library(made)
        self._size = policy.file.history * policy.formulas[0].size
        self._flow: _Flow | None = None
        self._latest = Interval()
        self._memory: NDArray[np.float32] = np.zeros(policy.cell.units if policy.cell else 0, np.float32)

    def answer(self, line: str) -> records.ActLine:
        question = records.convert(parse_json(line), records.ActInputLine)
        form, given = _form(question)
        if form == "observation":
            return self._action(given["observation"])
        if not self._is_alone:
            problem = f"{self._policy.name} acts in an envelope, whose beliefs need the times of packets"
            raise InputError(f"{problem}; expected an observation, or the C code of `export`")
        if form == "begin":
            return self._begin(given["begin"], given.get("packet", PACKET))
        return self._measured(given)

    def _action(self, given: list[float], rate: float | records.Absent = records.ABSENT) -> records.ActLine:
        if len(given) != self._size:
            raise InputError(f"the observation has {counted(len(given), 'number')}; expected {self._size}")
        seen = self._recalled(np.array(given, np.float32))
        network = self._library["network"]
        network.restype, network.argtypes = ctypes.c_float, [ctypes.c_void_p]
        action = float(network(seen.ctypes.data))
        low, high = self._policy.bounds
        return records.ActLine(action=min(max(action, low), high), rate=rate)

    def _recalled(self, observation: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return what the network reads: the observation, or the memory after it."""
        if not len(self._memory):
            return observation
        recall = self._library["recall"]
        recall.restype, recall.argtypes = None, [ctypes.c_void_p, ctypes.c_void_p]
        recall(observation.ctypes.data, self._memory.ctypes.data)
        return self._memory

    def _begin(self, rtt: float, packet: int) -> records.ActLine:
        if not 0 < packet <= 65535:
            raise InputError(f"packet is {packet}; expected 1 to 65535 bytes")
        self._flow = _Flow(self._library, packet, round(rtt * 1e9))
        self._latest = Interval(rtt=rtt, rtt_end=rtt)
        self._memory[:] = 0
        self._recalled(np.zeros(self._size, np.float32))  # in training, the first action follows an empty observation
        return records.ActLine(rate=float(self._flow.rate(0)))

    def _measured(self, given: dict[str, Any]) -> records.ActLine:
        if self._flow is None:
            raise InputError('no flow has begun; expected {"begin": R_m} first, with R_m in seconds')
        if given["seconds"] <= 0 or ("rtt" not in given) == (given["acked"] > 0) or given.get("rtt", 1) <= 0:
            raise InputError("expected seconds above 0, and an rtt above 0 if and only if bytes were acknowledged")
        latest, rtt = self._latest, given.get("rtt", self._latest.rtt)
        end = given.get("rtt_end", given.get("rtt", latest.rtt_end))
        out = max(0.0, latest.out + given["sent"] - given["acked"] - given["lost"])
        counts = [given[name] for name in ("seconds", "sent", "acked", "lost")]
        self._latest = Interval(*counts, rtt, end, out, given.get("marked", 0))
        rate, observation = self._flow.decide(self._latest, given["seconds"], self._size)
        return self._action(observation, rate=rate)


def _form(question: records.ActInputLine) -> tuple[str, dict[str, Any]]:
    values = {name: getattr(question, name) for name in question.__struct_fields__}
    given = {name: value for name, value in values.items() if value is not records.ABSENT}
    forms = [form for form in FORMS if form in given]
    if len(forms) != 1:
        found = ", ".join(given) or "nothing"
        raise InputError(f"found {found}; expected one of {', '.join(FORMS)}")
    keys = [key.rstrip("*") for key in FORMS[forms[0]]]
    missing = [key.rstrip("*") for key in FORMS[forms[0]] if key.endswith("*") and key.rstrip("*") not in given]
    if missing or not given.keys() <= set(keys):
        wrong = f"no {missing[0]}" if missing else f"{next(key for key in given if key not in keys)}"
        raise InputError(f"found {wrong} with {forms[0]}; expected {', '.join(FORMS[forms[0]])}; * is necessary")
    for name, value in given.items():
        for number in value if isinstance(value, list) else [value]:
            least = -MOST if name == "observation" else 0
            if not least <= number <= MOST:
                raise InputError(f"{name} is {shown(number)}; expected numbers from {least:g} to {MOST:g}")
    return forms[0], given
