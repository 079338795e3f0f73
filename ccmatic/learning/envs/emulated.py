"""The back end with real packets in real time: one flow over a link that this machine emulates.

The exported UDP sender receives its rate from the environment, and reports its measurements. The back end has the
interface of `backends.Fluid`.
"""

import os
import time
import weakref
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from select import select
from typing import Any, cast

import jax
import numpy as np
from jax import Array
from jax.typing import ArrayLike
from numpy.typing import NDArray

from ccmatic.base import InputError
from ccmatic.contracts import Links
from ccmatic.deployment import emulation, exporting, policies
from ccmatic.deployment.emulation import MTU, SECOND, Commands, FlowRequest, Link, started
from ccmatic.learning.envs.environment import Environment
from ccmatic.learning.envs.links import LinkOptions
from ccmatic.learning.envs.signals import EnvironmentState, Interval
from ccmatic.worlds.runtime import build_udp

#: Two times in seconds: the longest wait for a silent sender, and the time for which the link remains after an episode.
PATIENCE, AFTER = 15, 0.2


class EmulatorBackEnd:
    """The back end for one emulated link with one flow. This back end has the interface of `Fluid`.

    Intervals follow the clock. While an agent computes, the sender keeps its last rate. If the agent takes longer than
    an interval, its next observation covers all the time that has passed. An episode ends after its duration,
    regardless of the number of steps.
    """

    def __init__(self, environment: Environment) -> None:
        emulation.require()
        _check(environment.options)
        self.environment = environment
        self.faults: list[str] | None = None
        self._reset = jax.jit(partial(environment.reset, n=1))
        self._act, self._learn = jax.jit(environment.acted), jax.jit(environment.learn)
        self._observe = jax.jit(environment.observation)
        self._stack = ExitStack()
        self._run: Any = None
        weakref.finalize(self, self._stack.close)

    def __reduce__(self) -> tuple[Any, ...]:
        return EmulatorBackEnd, (self.environment,)

    def reset(self, seed: int) -> tuple[Links, EnvironmentState, Array]:
        """Begin an episode. No packet is sent before the first step."""
        self.close()
        links, state = self._reset(jax.random.key(np.array(seed, np.uint32))[None])
        state = state._replace(queues=None)
        self.faults, self._seed = None, seed
        self._learn(state, state.knowledge.now)  # Compile the signals before the clock runs.
        return links, state, self._observe(state)

    def step(self, links: Links, state: EnvironmentState, action: ArrayLike) -> tuple[EnvironmentState, Array, Array]:
        state = self._act(links, state, np.asarray(action, np.float32))
        if self._run is None:
            self._begin(links)
        self._flow.say(int(np.asarray(state.rate)[0, 0]))
        passed, now = self._flow.heard(self._run, state.knowledge.now)
        interval = cast("Array", np.int32(state.interval) + np.int32(passed))
        state, reward = self._learn(state, now)
        state = state._replace(interval=interval)
        if state.interval >= self.environment.options.steps:
            self.faults = self._run.finished().faults
            self.close()
        return state, self._observe(state), reward

    def close(self) -> None:
        self._stack.close()
        self._run = None

    def _begin(self, links: Links) -> None:
        options = self.environment.options
        step = round(float(links.slot[0]) * options.slots * SECOND)
        self._flow = CommandedFlow(step)
        seconds = options.steps * step / SECOND + AFTER
        flows = [FlowRequest("learner", self._flow)]
        self._run = self._stack.enter_context(started(_link(options, links, self._seed), flows, seconds))


def _check(options: LinkOptions) -> None:
    options.require_drop_tail("emulated", marks=True)
    kinds = [type(kind).__name__.lower() for kind in options.mix]
    wrong = [kind for kind in kinds if kind not in ("constant", "changing")]
    for problem, expected in (
        (options.all_flows != 1 and f"{options.all_flows} flows", "one"),
        (wrong and f"{wrong[0]} links", "constant or changing ones"),
        (options.loss.ends[1] and "random losses", "none"),
        (options.jitter.ends[1] and options.pattern != "uniform" and f"the pattern '{options.pattern}'", "uniform"),
        (options.packet != MTU and f"packets of {options.packet} bytes", str(MTU)),
    ):
        if problem:
            raise InputError(f"{problem} over the emulator; expected {expected}")


def _link(options: LinkOptions, links: Links, seed: int) -> Link:
    slot = float(links.slot[0])
    bits = np.round(np.asarray(links.capacity)[:, 0] * 8 / slot).astype(int)
    changes = np.flatnonzero(np.diff(bits, prepend=-1))
    jitter = round(float(links.jitter[0]) * slot * SECOND)
    return Link(
        rates=tuple((round(t * slot * SECOND), int(bits[t])) for t in changes),
        rtt=round(float(links.rtt[0, 0]) * slot * SECOND),
        buffer=max(MTU, int(links.buffer[0])),
        jitter=jitter,
        pattern="uniform" if jitter else "none",
        seed=seed,
        threshold=None if links.threshold is None else int(links.threshold[0]),
    )


class CommandedFlow:
    """A flow whose sender follows commanded rates, and reports its measurements of each interval of `step` ns."""

    def __init__(self, step: int) -> None:
        self._step, self._rest = step, b""
        self._names: list[str] = []
        self._rows: list[dict[str, int]] = []

    @contextmanager
    def prepare(self, context: Any) -> Iterator[Commands]:
        folder = context.folder / "learner"
        exporting.write(policies.commanded(), "udp", folder)
        sender, receiver = build_udp(folder)
        rates, measures = folder / "rates", folder / "measures"
        for pipe in (rates, measures):
            os.mkfifo(pipe)
        self._out, self._in = os.open(rates, os.O_RDWR), os.open(measures, os.O_RDWR)
        options = ["--packet", context.link.mtu, "--duration", context.seconds + 60, "--step", self._step]
        options += ["--policy", f"cat {rates} & exec cat > {measures}"]
        try:
            yield Commands([receiver, context.port], [sender, *options, context.address, context.port])
        finally:
            os.close(self._out)
            os.close(self._in)

    def say(self, rate: int) -> None:
        """Command a sending rate, in bytes per second."""
        os.write(self._out, b"%d\n" % rate)

    def heard(self, run: Any, before: Interval) -> tuple[int, Interval]:
        """Wait for the sender's next report.

        Return the number of intervals that have ended since the last one (at least one), and an Interval that combines
        them.
        """
        count, end = max(1, len(self._rows)), time.monotonic() + PATIENCE
        while len(self._rows) <= count:
            run.follow()
            self._read()
            if time.monotonic() > end:
                raise InputError(f"the sender has reported nothing for {PATIENCE} s")
        rows = {name: np.array([row[name] for row in self._rows[count - 1 :]]) for name in self._rows[0]}
        passed = round((rows["time_ns"][-1] - rows["time_ns"][0]) / self._step)
        acknowledged = np.diff(rows["acked"])
        names = ("sent", "acked", "lost", "marked")
        sent, acked, lost, marked = (int(rows[name][-1] - rows[name][0]) for name in names)
        rtt = _one(np.average(rows["rtt_ns"][1:], weights=acknowledged) / SECOND) if acked else before.rtt
        rtt_end = _one(rows["rtt_end_ns"][-1] / SECOND) if acked else before.rtt_end
        seconds = _one(passed * self._step / SECOND)
        out = _one(np.asarray(before.out) + sent - acked - lost)
        return passed, Interval(seconds, _one(sent), _one(acked), _one(lost), rtt, rtt_end, out, _one(marked))

    def _read(self) -> None:
        """Read the sender's available reports, one line per interval, without a long wait."""
        if not select([self._in], [], [], 0.02)[0]:
            return
        *lines, self._rest = (self._rest + os.read(self._in, 2**16)).split(b"\n")
        for line in lines:
            words = line.decode().split(",")
            if not self._names:
                self._names = words
            else:
                self._rows.append(dict(zip(self._names, map(int, words), strict=True)))


def _one(value: float | NDArray[np.float32]) -> Array:
    # This uses NumPy, not JAX, because compilation would take time while the clock runs.
    return cast("Array", np.full((1, 1), value, np.float32))
