"""What senders on many links believe of them, as a deployed controller forms its beliefs
(`ccmatic.simulation.Deployed`), on all links at once and in floats. The beliefs are those of the model whose links are
emulated."""

from collections.abc import Mapping
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import RATE, definitions
from ccmatic.compilers.window_arrays import MOST, Needs, Window, WindowValues, needs
from ccmatic.contracts import START, TIMEOUT, Belief, Links, Program, RunningMax, StateBelief, is_bound, load_definition
from ccmatic.learning.estimation.knowledge import SenderKnowledge

#: Steps of a window and the one before it, as exported controllers have by default.
HORIZON = 10

#: Of a step: by so much floats may be beside a whole number of them.
HAIR = 1e-4

#: Arrays by name.
Columns: TypeAlias = dict[str, Array]

_COUNTS = ("sent", "acked", "lost")


@cache
def _beliefs() -> tuple[list[Belief], dict[Program, Needs]]:
    """The beliefs, in the order in which a step works them out, and what the next steps read, by program."""
    beliefs = load_definition("models", "MODEL", definitions.chosen("models", "EMULATED")).beliefs
    programs = map(_program, beliefs)
    return sorted(beliefs, key=lambda belief: not is_bound(belief)), {program: needs(program) for program in programs}


def _program(belief: Belief) -> Program:
    program = belief.program
    assert program is not None  # beliefs of a model whose links are emulated have one
    return program


class Beliefs(NamedTuple):
    """Beliefs at the end of an interval, which is a step; (f, n), in bytes and steps. A belief is an attribute too.

    p: the place of that step in its window, -1 before the first interval. D: in steps, all that acknowledgements may be
    later than service: R_m and jitter. packet: bytes. latest: observations and beliefs at that step, by name; bytes
    count from the begin of the window. first: the same at the begin. columns: (T, f, n) of the window so far. runs: for
    how many steps conditions have held, by program in the order of the beliefs.
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
        """Steps of a window and the one before it."""
        return len(next(iter(self.columns.values())))

    def named(self) -> dict[str, Array]:
        """The beliefs by name."""
        return {belief.name: self.latest[belief.name] for belief in _beliefs()[0]}

    def starting(self, **values: Array) -> "Beliefs":
        """The same where beliefs have these values, by name."""
        first = {name: values.get(name, value) for name, value in self.first.items()}
        return self._replace(latest=self.latest | values, first=first)

    def learned(self, knowledge: SenderKnowledge) -> "Beliefs":
        """Return the Beliefs after the latest interval of a signals.Knowledge."""
        now, before = knowledge.now, knowledge.before
        last = jnp.floor(now.rtt_end / now.seconds + HAIR)
        first = jnp.ceil(before.rtt_end / now.seconds - HAIR)
        return self.after(now.sent, now.acked, now.lost, last, first)

    def after(self, sent: Array, acked: Array, lost: Array, last: Array, first: Array) -> "Beliefs":
        """Those after an interval in which so many bytes were sent, acknowledged and known to be lost. last, first:
        whole steps of delay of the last and the first byte acknowledged, where any was."""
        served = acked > 0
        delays = {
            "delay": jnp.where(served, last, self.latest["delay"]),
            "first_delay": jnp.where(served, first, self.latest["first_delay"]),
        }
        counts = {"sent": sent, "acked": acked, "lost": lost}
        begun = self._begun(counts, delays)
        moved, over = self._moved(counts, delays)
        p = self.p + 1
        after: Beliefs = jax.tree.map(
            lambda first, last, other: jnp.where(p == 0, first, jnp.where(p == self.horizon - 1, last, other)),
            begun,
            over,
            moved,
        )
        return after

    def _begun(self, counts: Columns, delays: Columns) -> "Beliefs":
        """The first window begins, with the beliefs that are given."""
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
        """A window begins with what is known, counted from here."""
        latest = self.latest
        zero = jnp.zeros_like(latest["sent"])
        counts = {"sent": latest["sent"] - latest["acked"] - latest["lost"], "acked": zero, "lost": zero}
        latest = latest | counts
        columns = {name: jnp.zeros_like(column).at[0].set(latest[name]) for name, column in self.columns.items()}
        first = {name: latest[name] for name in self.first}
        runs = jax.tree.map(jnp.zeros_like, self.runs)
        return self._replace(p=jnp.int32(0), latest=latest, columns=columns, first=first, runs=runs)

    def _window_at(self, time: Array, now: Columns) -> Window:
        """The Window at a step, of the observations there."""
        constants = {"step": 1.0, "R_m": 1.0, "D": self.D, "MSS": self.packet}
        losses = dict.fromkeys(("timely", "excess"), now["lost"])
        before = self.latest | dict.fromkeys(("timely", "excess"), self.latest["lost"])
        values: dict[str, Any] = (
            now | constants | losses | {"admitted": now["sent"] - now["lost"], "horizon": float(self.horizon)}
        )
        columns = {name: self._column(name, time, values) for name in self.columns}
        return Window(time, values, before, self.first, columns, dict(zip(_beliefs()[1], self.runs, strict=True)))

    def _column(self, name: str, time: Array, now: Mapping[str, Any]) -> Array:
        """A column with this step's value, if that is known yet: beliefs come later."""
        return self.columns[name].at[time].set(now[name]) if name in _COUNTS else self.columns[name]

    def _moved(self, counts: Columns, delays: Columns) -> "tuple[Beliefs, Beliefs]":
        """The beliefs a step later; and the next window's first, if the window ends here."""
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
    """A belief that is no bound, by a function of its program."""
    if isinstance(belief, StateBelief) and not belief.upper:  # delays of more than a window are not told apart
        delay = jnp.minimum(window.now["delay"], window.now["horizon"])
        window = window._replace(now=window.now | {"delay": delay})
    result: Array = _values(_program(belief), window).function(function)
    return result


def _timed_out(belief: Belief, window: Window, values: WindowValues) -> Array:
    """A belief after the timeouts of a window's end (docs/encoding.md, section 6). values: of its program."""
    before: Array = window.now[belief.name]
    if belief.name + TIMEOUT not in _program(belief).definitions:
        return before
    after: Array = values.function(belief.name + TIMEOUT)
    return jnp.minimum(MOST, after) if belief.unit == RATE else after


def begin(D: Array, packet: Array | int, horizon: int = HORIZON) -> Beliefs:
    """The Beliefs of senders that know nothing of their links, but that a packet goes through in a step. D: (f, n)
    steps. packet: bytes. horizon: steps of a window and the one before it."""
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
        {place: none.astype(bool) if each.pick == "any" else none for place, each in enumerate(need.runs)}
        for need in programs.values()
    )
    return Beliefs(jnp.int32(-1), D, none + packet, latest, first, columns, runs)


def of_links(links: Links, slots: int, horizon: int = HORIZON) -> Beliefs:
    """The Beliefs at first on Links whose intervals have so many slots; horizon: as `begin`."""
    return begin(jnp.ceil((links.rtt + links.jitter) / slots - HAIR), links.packet.astype(jnp.float32), horizon)
