"""One flow on one link in C: the numbers of the compiled fluid simulator, without the cost of calls of JAX.

JAX draws the links. The equations are those of models/cbr_delay/fluid.py; tests hold both to the same numbers.
"""

import ctypes
import shutil
import tempfile
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, cached_property, partial
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax import Array
from jax.scipy.special import ndtri
from numpy.typing import NDArray

from ccmatic.base import definitions, write_text
from ccmatic.contracts import MANY, Links
from ccmatic.controllers import signal
from ccmatic.deployment import policies
from ccmatic.language import Binary, Name, Number, Tree, Vector, replaced
from ccmatic.learning.envs.backends import MEASURES, Outcome, finite
from ccmatic.learning.envs.capacity import ExportedLink
from ccmatic.learning.envs.environment import Environment
from ccmatic.worlds.runtime import compile_c, shipped

#: The names that only rewards read and that the C code knows.
OF_REWARDS = frozenset({"capacity", "throughput_sum", "throughput_deviation"})


def is_playable(environment: Environment) -> bool:
    options = environment.options
    if options.all_flows != 1 or environment.limits or options.model != definitions.chosen("models", "EMULATED"):
        return False
    if any(isinstance(kind, ExportedLink) for kind in options.mix) or not shutil.which("cc"):
        return False
    if len(environment.formulas) < 3:  # A function of Python defines a formula.
        return False
    unknown = {formula.kind: policies.unknown_to_senders(formula) for formula in environment.formulas}
    observes_reward = any("reward" in formula.inputs for formula in environment.formulas if formula.kind == "observe")
    allowed: frozenset[str] = frozenset() if observes_reward else OF_REWARDS
    return not unknown["observe"] and not unknown["act"] and unknown["reward"] <= allowed


class _Link(ctypes.Structure):
    """The `struct ccm_link` of fluid.c."""

    _fields_ = (
        *((name, ctypes.c_void_p) for name in ("capacity", "held", "luck", "normal")),
        *((name, ctypes.c_int32) for name in ("buffer", "queue", "packet", "stop", "slots", "kept", "rtt", "jitters")),
        *((name, ctypes.c_float) for name in ("slot", "jitter", "loss", "capacity_mean", "first_rate", "most")),
    )


class Native:
    """The Player of one link in C."""

    faults: list[str] | None = None
    is_kept = True

    def __init__(self, environment: Environment) -> None:
        self.environment = environment
        self._draw = jax.jit(partial(_drawn, environment))
        self._library = _built(_source(environment))
        self._state = ctypes.create_string_buffer(self._library.ccm_fluid_size())
        self._size, count = environment.size, environment.size + 1 + len(MEASURES)
        self._out = np.zeros(count, np.float32)
        self._link, self._tables = _Link(), dict[str, NDArray[Any]]()
        self._step = self._library.ccm_fluid_step
        self._interval = 0

    def reset(self, seeds: Sequence[int]) -> Outcome:
        tables, numbers = jax.tree.map(np.asarray, self._draw(np.array(seeds, np.uint32)))
        self._set({name: np.ascontiguousarray(table) for name, table in tables.items()}, numbers)
        self._library.ccm_fluid_begin(*self._pointers, self._written)
        self._interval = 0
        return self._outcome()

    def step(self, actions: NDArray[np.float32]) -> Outcome:
        self._step(*self._pointers, actions[0, 0], self._written)
        self._interval += 1
        return self._outcome()

    def close(self) -> None:
        """Do nothing, because there are no open resources."""

    @cached_property
    def _pointers(self) -> tuple[Any, Any]:
        return ctypes.byref(self._link), ctypes.byref(self._state)

    @cached_property
    def _written(self) -> Any:
        return self._out.ctypes.data_as(ctypes.c_void_p)

    def _set(self, tables: dict[str, NDArray[Any]], numbers: dict[str, Any]) -> None:
        """Set the link. The tables must exist as long as C reads them."""
        self._tables, self._numbers = tables, numbers
        for name in ("capacity", "held", "luck", "normal"):
            setattr(self._link, name, tables[name].ctypes.data if name in tables else None)
        for name, value in numbers.items():
            setattr(self._link, name, value.item())

    def _outcome(self) -> Outcome:
        out, size = self._out, self._size
        reward = out[size : size + 1].reshape(1, 1)
        measures = out[size + 1 :].reshape(-1, 1, 1).copy()
        return Outcome(
            finite("observation", out[:size].reshape(1, 1, size).copy()),
            finite("reward", reward.copy()),
            dict(zip(MEASURES, measures, strict=True)),
            self._interval,
        )

    def __getstate__(self) -> dict[str, Any]:
        kept = {name: vars(self)[name] for name in ("environment", "_out", "_interval", "_tables")}
        return {**kept, "_numbers": getattr(self, "_numbers", {}), "state": bytes(self._state)}

    def __setstate__(self, kept: dict[str, Any]) -> None:
        self.__init__(kept["environment"])  # type: ignore[misc]
        self._set(kept["_tables"], kept["_numbers"])
        ctypes.memmove(self._state, kept["state"], len(kept["state"]))
        self._out, self._interval = kept["_out"], kept["_interval"]


def _drawn(environment: Environment, seeds: Array) -> tuple[dict[str, Array], dict[str, Any]]:
    """Return the tables of the drawn link, and the other fields of the `struct ccm_link`."""
    options = environment.options
    links, rate = options.draw(jax.vmap(jax.random.key)(seeds), 1)
    tables = {"capacity": links.capacity[:, 0]}
    if links.held is not None:
        tables["held"] = links.held[:, 0]
    if links.luck is not None:
        luck = links.luck[:, 0, 0]
        tables |= {"luck": luck, "normal": ndtri(luck.clip(5e-7, 1 - 5e-7))}
    return tables, _numbers(environment, links) | {"first_rate": rate[0, 0]}


def _numbers(environment: Environment, links: Links) -> dict[str, Any]:
    options = environment.options
    return {
        **{name: getattr(links, name)[0] for name in ("buffer", "queue", "slot", "jitter", "loss")},
        **{"packet": links.packet, "stop": links.stop[0, 0], "rtt": links.rtt[0, 0]},
        **{"slots": np.int32(options.slots), "kept": np.int32(options.longest)},
        "jitters": np.int32(options.longest_jitter),
        "capacity_mean": (links.capacity.mean(axis=0) / links.slot)[0],
        "most": np.float32(MANY / (options.slots * 4)),
    }


def _source(environment: Environment) -> str:
    options, memory = environment.options, environment.memory
    constants = {
        "CCM_REGISTERS": sum(map(len, memory)) or 1,
        "CCM_FEATURES": environment.features,
        "CCM_HISTORY": environment.history,
        "CCM_VECTORS": environment.history + environment.delay,
        "CCM_KEPT": options.longest,
        "CCM_JITTERS": options.longest_jitter,
        "CCM_RTT": options.longest_rtt,
        "CCM_EXACT": environment.link.EXACT,
    }
    places = policies.formula_places(memory) | {"capacity": "capacity"}
    known = "const struct ccm_known *k, "
    alone = {"throughput_sum": signal.measure("throughput").term, "throughput_deviation": Number(Fraction(0))}
    rewarded = environment.formula("reward")
    assert rewarded is not None  # is_playable requires a formula.
    reward = replaced(rewarded.term, alone)
    return "\n".join([
        *(f"#include <{name}.h>" for name in ("stdbool", "stdint", "string")),
        *(f"#define {name} {value}" for name, value in constants.items()),
        shipped("floats.h"),
        shipped("measured.h"),
        *policies.formula_parts(memory, environment.formulas),
        *policies.formula_function("ccm_reward", reward, places, f"{known}float capacity, float *reward", "reward"),
        *policies.formula_function("ccm_measures", _measures(), places, f"{known}float *x", "x"),
        shipped("fluid.c"),
    ])  # fmt: skip


def _measures() -> Tree:
    terms = []
    for name, factor in MEASURES.values():
        term = Name(name) if name in signal.INTERVAL else signal.measure(name).term
        terms.append(Binary("*", term, Number(Fraction(factor))))
    return Vector(tuple(terms))


@cache
def _built(source: str) -> Any:
    with tempfile.TemporaryDirectory(prefix="ccmatic-") as folder:
        file, built = (Path(folder) / f"fluid{suffix}" for suffix in (".c", ".so"))
        write_text(file, source)
        compile_c(["-std=c99", "-O2", "-shared", "-fPIC", "-o", str(built), str(file), "-lm"])
        library = ctypes.CDLL(str(built))
    pointer = ctypes.c_void_p
    library.ccm_fluid_size.restype = ctypes.c_ulong
    library.ccm_fluid_begin.argtypes = [pointer] * 3
    library.ccm_fluid_step.argtypes = [pointer, pointer, ctypes.c_float, pointer]
    for function in (library.ccm_fluid_begin, library.ccm_fluid_step):
        function.restype = None
    return library
