"""The beliefs of senders on many links at once, in floats.

The senders form beliefs as a deployed controller does (`ccmatic.networks.simulation.DeployedController`). The beliefs
are those of the model whose links the environment emulates.
"""

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import RATE, definitions
from ccmatic.contracts import START, TIMEOUT, Belief, Links, Program, RunningMax, StateBelief, is_bound, load_definition
from ccmatic.worlds.window_arrays import MOST, Needs, Window, WindowValues, needs

if TYPE_CHECKING:
    from ccmatic.learning.envs.signals import Knowledge


#: The number of steps in a window, plus one for the step before the window. This is also the default of exported
#: controllers.
HORIZON = 10

#: The rounding error, in steps, that a float may have when it stands for a whole number of steps.
HAIR = 1e-4

#: Arrays by name.
Columns: TypeAlias = dict[str, Array]

_COUNTS = ("sent", "acked", "lost")


@cache
def _beliefs() -> tuple[list[Belief], dict[Program, Needs]]:
    """Return the beliefs in the order of computation, and the values of each program that later steps need."""
    beliefs = load_definition("models", "MODEL", definitions.chosen("models", "EMULATED")).beliefs
    programs = map(_program, beliefs)
    return sorted(beliefs, key=lambda belief: not is_bound(belief)), {program: needs(program) for program in programs}


def _program(belief: Belief) -> Program:
    program = belief.program
    assert program is not None  # This model has a program for each belief.
    return program


class Beliefs(NamedTuple):
    """Beliefs at the end of an interval, which is one step. A belief is an array (f, n), in bytes and steps.

    Each belief is also an attribute.

    Attributes:
        p: The number of the step within its window; -1 before the first interval.
        D: The longest time from service to acknowledgement, in steps: R_m plus jitter.
        packet: The number of bytes in a packet.
        latest: Observations and beliefs at this step, by name. Bytes count from the beginning of the window.
        first: The same values as `latest`, at the beginning of the window.
        columns: The columns of the window so far, by name. Each is an array (T, f, n).
        runs: For each program, in the order of the beliefs, the number of steps for which its conditions have held.
    """

    p: Array
    D: Array
    packet: Array
    latest: Columns
    first: Columns
    columns: Columns
    runs: tuple[dict[int, Array], ...]

    def __getattr__(self, name: str) -> Array:
        if name.startswith("_") or name not in self.latest:
            raise AttributeError(name)
        return self.latest[name]

    @property
    def horizon(self) -> int:
        """The number of steps in a window, plus one for the step before it."""
        return len(next(iter(self.columns.values())))

    def named(self) -> dict[str, Array]:
        return {belief.name: self.latest[belief.name] for belief in _beliefs()[0]}

    def starting(self, **values: Array) -> "Beliefs":
        first = {name: values.get(name, value) for name, value in self.first.items()}
        return self._replace(latest=self.latest | values, first=first)

    def learned(self, knowledge: "Knowledge") -> "Beliefs":
        """Return the Beliefs after the latest interval of a signals.Knowledge."""
        now, before = knowledge.now, knowledge.before
        last = jnp.floor(now.rtt_end / now.seconds + HAIR)
        first = jnp.ceil(before.rtt_end / now.seconds - HAIR)
        return self.after(now.sent, now.acked, now.lost, last, first)

    def after(self, sent: Array, acked: Array, lost: Array, last: Array, first: Array) -> "Beliefs":
        """Return the Beliefs after an interval with these bytes.

        `last` and `first` are the delays of the last and of the first acknowledged byte in whole steps, if there is
        one.
        """
        served = acked > 0
        delays = {
            "delay": jnp.where(served, last, self.latest["delay"]),
            "first_delay": jnp.where(served, first, self.latest["first_delay"]),
        }
        counts = {"sent": sent, "acked": acked, "lost": lost}
        begun = self._begin_first(counts, delays)
        moved, over = self._move(counts, delays)
        p = self.p + 1
        after: Beliefs = jax.tree.map(
            lambda first, last, other: jnp.where(p == 0, first, jnp.where(p == self.horizon - 1, last, other)),
            begun,
            over,
            moved,
        )
        return after

    def _begin_first(self, counts: Columns, delays: Columns) -> "Beliefs":
        flight = self.latest["sent"] + counts["sent"] - counts["acked"] - counts["lost"]
        zero = jnp.zeros_like(flight)
        state = self._replace(latest=self.latest | delays | {"sent": flight, "acked": zero, "lost": zero})
        window = state._window_at(jnp.int32(0), state.latest | {"sending": zero})
        for belief in _beliefs()[0]:
            if not is_bound(belief):
                own = START if belief.name + START in _program(belief).definitions else ""
                window.now[belief.name] = _state(belief, belief.name + own, window)
        return self._replace(latest={name: window.now[name] for name in self.latest})._window()

    def _window(self) -> "Beliefs":
        """Begin a new window, whose byte counts start at 0."""
        latest = self.latest
        zero = jnp.zeros_like(latest["sent"])
        counts = {"sent": latest["sent"] - latest["acked"] - latest["lost"], "acked": zero, "lost": zero}
        latest = latest | counts
        columns = {name: jnp.zeros_like(column).at[0].set(latest[name]) for name, column in self.columns.items()}
        first = {name: latest[name] for name in self.first}
        runs = jax.tree.map(jnp.zeros_like, self.runs)
        return self._replace(p=jnp.int32(0), latest=latest, columns=columns, first=first, runs=runs)

    def _window_at(self, time: Array, now: Columns) -> Window:
        """Return the Window that ends at the step with these observations."""
        constants = {"step": 1.0, "R_m": 1.0, "D": self.D, "MSS": self.packet}
        losses = dict.fromkeys(("timely", "excess"), now["lost"])
        before = self.latest | dict.fromkeys(("timely", "excess"), self.latest["lost"])
        values: dict[str, Any] = (
            now | constants | losses | {"admitted": now["sent"] - now["lost"], "horizon": float(self.horizon)}
        )
        columns = {name: self._column(name, time, values) for name in self.columns}
        return Window(time, values, before, self.first, columns, dict(zip(_beliefs()[1], self.runs, strict=True)))

    def _column(self, name: str, time: Array, now: Mapping[str, Any]) -> Array:
        """Return a column. An observation has the value of this step, but beliefs of this step are computed later."""
        return self.columns[name].at[time].set(now[name]) if name in _COUNTS else self.columns[name]

    def _move(self, counts: Columns, delays: Columns) -> "tuple[Beliefs, Beliefs]":
        """Return the beliefs one step later, and the first beliefs of the next window if this window ends here."""
        time = self.p + 1
        now = {name: self.latest[name] + count for name, count in counts.items()}
        window = self._window_at(time, self.latest | delays | now | {"sending": counts["sent"]})
        programs = {program: _values(program, window) for program in _beliefs()[1]}
        for belief in _beliefs()[0]:
            if is_bound(belief):
                pick = jnp.maximum if isinstance(belief, RunningMax) else jnp.minimum
                sample = programs[_program(belief)].function(belief.name)
                window.now[belief.name] = pick(self.latest[belief.name], sample)
            else:
                window.now[belief.name] = _state(belief, belief.name, window)
        runs = tuple(values.runs() for values in programs.values())
        columns = {
            name: column if name in _COUNTS else column.at[time].set(window.now[name])
            for name, column in window.columns.items()
        }
        latest = {name: window.now[name] for name in self.latest}
        moved = self._replace(p=time, latest=latest, columns=columns, runs=runs)
        after = {belief.name: _timed_out(belief, window, programs[_program(belief)]) for belief in _beliefs()[0]}
        return moved, moved._replace(latest=latest | after)._window()


def _values(program: Program, window: Window) -> WindowValues:
    need = _beliefs()[1][program]
    return WindowValues(program, need, window._replace(runs=window.runs[program]))


def _state(belief: Belief, function: str, window: Window) -> Array:
    """Return the value of a belief that is not a bound. A function of the belief's program computes the value."""
    if isinstance(belief, StateBelief) and not belief.upper:  # The window does not distinguish delays that exceed it.
        delay = jnp.minimum(window.now["delay"], window.now["horizon"])
        window = window._replace(now=window.now | {"delay": delay})
    result: Array = _values(_program(belief), window).function(function)
    return result


def _timed_out(belief: Belief, window: Window, values: WindowValues) -> Array:
    """Return a belief after the timeouts at a window's end (docs/reference/encoding.md, section 6)."""
    before: Array = window.now[belief.name]
    if belief.name + TIMEOUT not in _program(belief).definitions:
        return before
    after: Array = values.function(belief.name + TIMEOUT)
    return jnp.minimum(MOST, after) if belief.unit == RATE else after


def begin(D: Array, packet: Array | int, horizon: int = HORIZON) -> Beliefs:
    """Return the first Beliefs of senders that know only that the link serves at least one packet per step.

    `D`, as in Beliefs, is an array (f, n), and `horizon` the steps of a window, plus one for the step before it.
    """
    none, column = jnp.zeros(D.shape, jnp.float32), jnp.zeros((horizon, *D.shape), jnp.float32)
    beliefs, programs = _beliefs()
    latest = dict.fromkeys((*_COUNTS, "sending", "delay", "first_delay"), none)
    for belief in beliefs:
        latest[belief.name] = none
        if is_bound(belief) and belief.unit == RATE:
            latest[belief.name] = none + (packet if isinstance(belief, RunningMax) else MOST)
    columns = dict.fromkeys(sorted(set().union(*(need.columns for need in programs.values()))), column)
    first = {name: latest[name] for name in sorted(set().union(*(need.first for need in programs.values())))}
    runs = tuple(
        {place: none.astype(bool) if run.pick == "any" else none for place, run in enumerate(need.runs)}
        for need in programs.values()
    )
    return Beliefs(jnp.int32(-1), D, none + packet, latest, first, columns, runs)


def of_links(links: Links, slots: int, horizon: int = HORIZON) -> Beliefs:
    """Return the first Beliefs on Links, whose intervals have this number of slots."""
    return begin(jnp.ceil((links.rtt + links.jitter) / slots - HAIR), links.packet.astype(jnp.float32), horizon)
