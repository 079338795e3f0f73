"""The links of an environment: kinds in given ratios, rates, delays, buffers, losses and jitter."""

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, fields
from fractions import Fraction
from functools import cached_property
from math import ceil, inf
from typing import Any, TypeAlias

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.base import InputError, definitions, exact, shown, suggest
from ccmatic.contracts import FLUID, MANY, Links, Model, folders, load_definition
from ccmatic.learning.envs import capacity
from ccmatic.learning.envs.capacity import MBIT, ExportedLink, Kind
from ccmatic.learning.envs.spread import Packets, Range, Spread, first, is_range, spread

#: The largest number of slots of delay that the simulator distinguishes.
LONGEST = 128

#: Limits on the number of flows, monitor intervals in an episode, bytes in a packet, slots in a mean, and packets in a
#: burst. Without them, a small file could request too much work.
MOST = {"flows": 1000, "steps": 10**6, "packet": 65535, "window": 10**6, "burst": 1000}

#: The largest number of slots in R_m, and in D.
MOST_SLOTS = 4096

#: The quantities that `LinkOptions.within` may change, and the type of such changes.
RANGED = ("rate", "rtt", "buffer", "buffer_bdp", "loss", "jitter", "starts", "lasts", "first")
Ranges: TypeAlias = Mapping[str, Sequence[Any]]

#: The patterns of jitter: it delays served bytes for a random share of D, or for all of D.
PATTERNS = ("uniform", "latest")


@dataclass(frozen=True)
class LinkOptions:
    """The options from which an environment draws links.

    If a quantity may differ from link to link, its option is a number, a list, or a dict {"low", "high", "log"}.

    Attributes:
        model: The network model, such as `policer`. Its folder has a fluid.py.
        links: A kind, or a dict from kinds to ratios. The kinds are `constant`, `changing` (which changes to another
            rate every `period` seconds), `smooth` (with CCLab's `budget` in Mbit/s for the mean change over `window`
            slots), `mahimahi:FILE` and `schedule:FILE`.
        rate: The link's rate C in Mbit/s.
        rtt: The propagation delay R_m of each flow in ms.
        buffer: The buffer β in bytes; on a policer, the bucket.
        buffer_bdp: The buffer β in C·R_m at the mean rate. This is an alternative to `buffer`.
        loss: The share of packets that the link loses at random.
        burst: The packets that the link may lose at random in any interval, in addition to the share `loss`. Only for
            models that bound these losses.
        threshold: The waiting bytes above which the link marks the bytes that arrive, as a share of the buffer. None
            stands for 1/2. Only for models that mark bytes.
        jitter: The largest jitter D in ms.
        pattern: The pattern of jitter, one of PATTERNS.
        flows: The number of flows that share a link.
        starts: The times in seconds at which the flows start, except the first flow. Background flows count as flows.
        lasts: The durations in seconds of the flows in `starts`; None if these flows stay to the end.
        interval: The length of a monitor interval, in units of the smallest R_m of a link: 1, "1/2", 2 and so on.
            R_m of other links is rounded to a whole number of slots.
        steps: The number of monitor intervals in an episode.
        packet: The number of bytes in a packet.
        first: The first rate of senders: `10 packets` per R_m, as a deployed sender, or a share of the link's rate.
        period: The seconds between changes of the rate, for the kind `changing`.
        budget: The smoothness budget in Mbit/s, for the kind `smooth`.
        window: The number of slots for the mean change, for the kind `smooth`.
        beside: The names of the senders of background flows, as in `senders.sender_of_rates`. These flows share each
            link with the `flows`, which learn.

    Raises:
        InputError: If a value is wrong.
    """

    model: str = definitions.chosen("models", "EMULATED")
    links: str | dict[str, float] = "constant"
    # The type Any stands for the given value, which becomes a Spread, or a Fraction for an interval.
    rate: Any = field(default_factory=lambda: [16, 64])
    rtt: Any = field(default_factory=lambda: [16, 64])
    buffer: Any = None
    buffer_bdp: Any = None
    loss: Any = 0
    burst: int = 1
    threshold: Any = None
    jitter: Any = 0
    pattern: str = "uniform"
    flows: int = 1
    starts: Any = 0
    lasts: Any = None
    interval: Any = 1
    steps: int = 400
    packet: int = 1500
    first: Any = "10 packets"
    period: float = 5.0
    budget: float = 2.0
    window: int = 10
    beside: Any = ()

    def __post_init__(self) -> None:
        bounds: dict[str, Any] = {
            "rate": {"above": True},
            "rtt": {"above": True},
            "loss": {"most": 1.0, "above": self.network.loses_by_chance},
        }
        self._set("first", first(self.first))
        for name in ("rate", "rtt", "loss", "jitter", "starts"):
            self._set(name, spread(getattr(self, name), name, **bounds.get(name, {})))
        if (self.buffer is None) == (self.buffer_bdp is None):
            if self.buffer is not None:
                raise InputError("both buffer and buffer_bdp are given; expected one of them")
            self._set("buffer", 500_000)
        if self.threshold is None and self.marks:
            self._set("threshold", 0.5)
        for name, most in (("buffer", inf), ("buffer_bdp", inf), ("lasts", inf), ("threshold", 1.0)):
            if getattr(self, name) is not None:
                self._set(name, spread(getattr(self, name), name, most=most, above=True))
        for name, most in MOST.items():
            value = getattr(self, name)
            if type(value) is not int or not 1 <= value <= most:
                raise InputError(f"{name} is {shown(value)}; expected a whole number, at least 1 and at most {most}")
        for name in ("period", "budget"):
            self._set(name, spread(getattr(self, name), name, above=True).ends[0])
        self._set("beside", _names(self.beside))
        if self.pattern not in PATTERNS:
            raise InputError(f"unknown pattern '{self.pattern}'; {suggest(self.pattern, PATTERNS)}")
        self._set("interval", _interval(self.interval))
        self._check_model()
        for name, slots in (("rtt", self.longest_rtt), ("jitter", self.longest_jitter)):
            if slots > MOST_SLOTS:
                raise InputError(f"{name} is up to {slots:.4g} slots; expected at most {MOST_SLOTS}: a smaller range")
        if self.largest_slot * self.longest + self.largest_buffer > MANY:
            raise InputError(
                f"up to {(self.largest_slot * self.longest + self.largest_buffer) / 1e9:g} GB may wait or be served in "
                f"{self.longest} slots; expected at most {MANY / 1e9:g}: shorter intervals, or less rate, rtt or buffer"
            )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_model(self) -> None:
        if self.burst > 1 and not self.network.loses_by_chance:
            raise InputError(f"burst on links of {self.model}; expected a model that bounds random losses")
        if self.threshold is not None and not self.marks:
            raise InputError(f"threshold on links of {self.model}; expected a model that marks bytes")
        if self.marks and self._delays > LONGEST:
            raise InputError(f"bytes may wait for {self._delays} slots; expected at most {LONGEST} on links with marks")
        if any(isinstance(kind, ExportedLink) for kind in self.mix):
            self.require_drop_tail("with schedules")

    def require_drop_tail(self, what: str, marks: bool = False) -> None:
        """Raise InputError if the links have another model. `marks` also allows links that mark bytes."""
        expected = definitions.chosen("models", "EMULATED")
        if self.model != expected and not (marks and self.marks):
            raise InputError(f"links of {shown(self.model)} {what}; expected links of {expected}")

    @cached_property
    def network(self) -> Model:
        model: Model = load_definition("models", "MODEL", self.model)
        if ":" in self.model or not _has_fluid(model):
            fluids = [each.name for each in definitions.every("models", "MODEL") if _has_fluid(each)]
            raise InputError(f"no links of {shown(self.model)} for learning; {suggest(model.name, fluids)}")
        return model

    @property
    def marks(self) -> bool:
        return self.network.threshold is not None

    @cached_property
    def mix(self) -> dict[Kind, float]:
        """The kinds of links, with their ratios."""
        return _mix(self)

    @cached_property
    def is_lossy(self) -> bool:
        return bool(self.loss.ends[1])

    @cached_property
    def is_shaky(self) -> bool:
        return bool(self.jitter.ends[1])

    @property
    def all_flows(self) -> int:
        """The number of flows on a link: those that learn, and those in the background."""
        return self.flows + len(self.beside)

    @property
    def per_rtt(self) -> int:
        """The number of slots in the smallest R_m of a link."""
        return int(self.interval.denominator)

    @property
    def slots(self) -> int:
        return int(self.interval.numerator)

    @cached_property
    def longest_rtt(self) -> int:
        """The largest number of slots in R_m."""
        low, high = self.rtt.ends
        return self.per_rtt if self.all_flows == 1 else ceil(self.per_rtt * high / low)

    @cached_property
    def longest_jitter(self) -> int:
        """The largest number of whole slots in D, at least 1."""
        return max(1, int(self.jitter.ends[1] * self.per_rtt / self.rtt.ends[0]))

    @property
    def longest_delay(self) -> float:
        """The longest R_m plus jitter, in intervals."""
        return float((self.longest_rtt + self.jitter.ends[1] / self.rtt.ends[0] * self.per_rtt) / self.slots)

    @cached_property
    def largest_slot(self) -> float:
        """The largest number of bytes that a link serves in a slot."""
        ours: float = self.rate.ends[1] * MBIT * self.rtt.ends[1] / 1000 / self.per_rtt
        files = [kind for kind in self.mix if isinstance(kind, ExportedLink)]
        tables = (int(kind.tables(self.steps * self.slots, self.per_rtt)[0].max()) for kind in files)
        return max(ours, 0, *tables)

    @cached_property
    def largest_buffer(self) -> float:
        """The largest number of bytes that may wait in a buffer."""
        if self.buffer is not None:
            return float(self.buffer.ends[1])
        return float(self.buffer_bdp.ends[1] * self.largest_slot * self.per_rtt)

    @property
    def longest(self) -> int:
        """The number H: the longest queueing delay, in slots, that the simulator distinguishes."""
        return min(LONGEST, self._delays)

    @cached_property
    def _delays(self) -> int:
        """The number of slots from which the delay of each byte on each link is known."""
        if any(not isinstance(kind, capacity.Constant) for kind in self.mix) or self.buffer is not None:
            least = self.rate.ends[0] * MBIT * self.rtt.ends[0] / 1000 / self.per_rtt
            drains: float = self.largest_buffer / least
        else:
            drains = self.buffer_bdp.ends[1] * self.per_rtt
        return ceil(drains) + self.longest_jitter + 2

    def __reduce__(self) -> tuple[Any, ...]:
        return LinkOptions, tuple(getattr(self, part.name) for part in fields(self))

    def within(self, ranges: Ranges) -> "LinkOptions":
        """Return these options with other ranges, (low, high), for some quantities of RANGED.

        A range has to be within the option's range, because array sizes depend on that. Traced ends are clipped to it.
        """
        changed = copy(self)
        for name in ("is_lossy", "is_shaky"):
            changed._set(name, getattr(self, name))
        for name, ends in ranges.items():
            own = getattr(self, name) if name in RANGED else None
            if not isinstance(own, Spread):
                ranged = [each for each in RANGED if isinstance(getattr(self, each), Spread)]
                raise InputError(f"no range of '{shown(name)}' here; {suggest(name, ranged)}")
            if not is_range(ends):
                raise InputError(f"the range of {name} is {shown(ends)}; expected a pair of numbers (low, high)")
            least, most = own.ends
            if not all(isinstance(end, jax.core.Tracer) or least <= float(end) <= most for end in ends):
                raise InputError(f"the range of {name} is {shown(ends)}; expected numbers from {least:g} to {most:g}")
            low, high = (jnp.clip(end, least, most) for end in ends)
            changed._set(name, Range(low, high, isinstance(own, Range) and own.log))
        return changed

    def draw(self, key: Array, links: int, ranges: Ranges | None = None) -> tuple[Links, Array]:
        """Draw n links with one key, or with an array (n) of keys.

        Return the Links, and the first rates of their senders in bytes per second, (f, n).
        """
        if type(links) is not int or links < 1:
            raise InputError(f"{links!r} links; expected a whole number, at least 1")
        if ranges:
            return self.within(ranges).draw(key, links)
        if key.ndim == 0:
            return self._draw(key, links)
        alone = jax.eval_shape(lambda key: self._draw(key, 1), key[0])
        each = jax.vmap(lambda key: self._draw(key, 1), out_axes=-1)(key)
        drawn: tuple[Links, Array] = jax.tree.map(
            lambda one, all_: all_[..., 0, :] if one.ndim else all_[0], alone, each
        )
        return drawn

    def _draw(self, key: Array, links: int) -> tuple[Links, Array]:
        total, shape = self.steps * self.slots, (self.all_flows, links)
        once, often = jax.random.split(key)
        luck = dict(zip(_DRAWN, jax.random.uniform(once, (len(_DRAWN), *shape)), strict=True))
        which = jnp.searchsorted(jnp.cumsum(jnp.array([*self.mix.values()][:-1])), luck["links"][0], side="right")
        rate = self.rate.at(luck["rate"][0]) * MBIT
        rtt = self.rtt.at(luck["rtt"]) / 1000
        slot = jnp.min(rtt, axis=0) / self.per_rtt
        for number, kind in enumerate(self.mix):
            if isinstance(kind, ExportedLink):
                slot = jnp.where(which == number, kind.schedule.step / 1e9 / self.per_rtt, slot)
                rtt = jnp.where(which == number, slot * self.per_rtt, rtt)
        lossy, shaky = self.is_lossy, self.is_shaky
        tables = jax.random.uniform(often, (total, len(self.mix) + shaky + lossy * self.all_flows, links))
        kinds = [kind.rates(self, rate, slot, tables[:, number]) for number, kind in enumerate(self.mix)]
        rates = kinds[0] if len(kinds) == 1 else jnp.select([which == i for i in range(len(kinds))], kinds)
        mean = jnp.mean(rates, axis=0)
        buffer = (self.buffer or self.buffer_bdp).at(luck["buffer"][0])
        if self.buffer is None:
            buffer *= mean * slot * self.per_rtt
        held = tables[:, len(self.mix)] if self.pattern == "uniform" else jnp.ones((total, links))
        drawn = Links(
            slot=slot,
            capacity=jnp.floor(rates * slot).astype(jnp.int32),
            buffer=jnp.floor(buffer).astype(jnp.int32),
            queue=jnp.zeros(links, jnp.int32),
            rtt=jnp.round(rtt / slot).astype(jnp.int32),
            **self._stays(luck, slot, total),
            jitter=self.jitter.at(luck["jitter"][0]) / 1000 / slot,
            held=held if shaky else None,
            loss=self.loss.at(luck["loss"][0]),
            luck=tables[:, -self.all_flows :] if lossy else None,
            burst=jnp.int32(self.burst * self.packet),
            threshold=self._threshold(jax.random.fold_in(once, links), jnp.floor(buffer)),
            keeps=None,
            released=None,
            packet=jnp.int32(self.packet),
        )
        if isinstance(self.first, Packets):
            return self._with_schedules(drawn, which), self.first.count * self.packet / rtt
        return self._with_schedules(drawn, which), self.first.at(luck["first"]) * mean / self.all_flows

    def _threshold(self, key: Array, buffer: Array) -> Array | None:
        if self.threshold is None:
            return None
        return jnp.floor(self.threshold.at(jax.random.uniform(key, buffer.shape)) * buffer).astype(jnp.int32)

    def _stays(self, luck: dict[str, Array], slot: Array, total: int) -> dict[str, Array]:
        """Return when flows start and stop, in slots."""
        others = jnp.arange(self.all_flows)[:, None] > 0
        start = jnp.where(others, self.starts.at(luck["starts"]) / slot, 0)
        stop = start + self.lasts.at(luck["lasts"]) / slot if self.lasts else jnp.full_like(start, total)
        return {"start": start.astype(jnp.int32), "stop": jnp.where(others, stop, total).astype(jnp.int32)}

    def _with_schedules(self, links: Links, which: Array) -> Links:
        for number, kind in enumerate(self.mix):
            if not isinstance(kind, ExportedLink):
                continue
            here, total = which == number, links.capacity.shape[0]
            if links.keeps is None:
                none = jnp.zeros_like(links.buffer)
                links = links._replace(keeps=none, released=jnp.full_like(links.capacity, MANY))
            admitted, released = (jnp.array(table)[:, None] for table in kind.tables(total, self.per_rtt))
            buffer = MANY if kind.schedule.buffer is None else kind.schedule.buffer
            links = links._replace(
                capacity=jnp.where(here, admitted, links.capacity),
                buffer=jnp.where(here, buffer, links.buffer),
                queue=jnp.where(here, kind.schedule.queue, links.queue),
                jitter=jnp.where(here, 0, links.jitter),
                keeps=jnp.where(here, MANY, links.keeps),
                released=jnp.where(here, released, links.released),
            )
        return links


#: The quantities to draw: some once per flow and link, others once per link.
_DRAWN = ("links", "rate", "rtt", "buffer", "jitter", "loss", "starts", "lasts", "first")


def _has_fluid(model: Model) -> bool:
    """Return whether a model's own folder has a fluid.py. A base class's fluid.py lacks what the model adds."""
    return (folders(model)[0] / FLUID).is_file()


def _names(given: object) -> tuple[str, ...]:
    if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
        raise InputError(f"beside is {shown(given)}; expected a list of senders, such as ['cubic', 'bbr']")
    if len(given) > MOST["flows"]:
        raise InputError(f"{len(given)} senders beside; expected at most {MOST['flows']}")
    return tuple(given)


def _interval(given: object) -> Fraction:
    try:
        interval = exact(str(given))
    except InputError:
        interval = Fraction(0)
    if interval <= 0 or max(interval.as_integer_ratio()) > 64:
        raise InputError(f"interval is {shown(given)}; expected such as 1, 2 or 1/2, of whole numbers up to 64")
    return interval


def _text(given: object) -> str:
    if not isinstance(given, str):
        raise InputError(f"links is {shown(given)}; expected a kind such as constant, or kinds with their ratios")
    return given


def _mix(options: LinkOptions) -> dict[Kind, float]:
    given = options.links if isinstance(options.links, dict) else {_text(options.links): 1}
    if not given:
        raise InputError("links is empty; expected a kind of link at least")
    mix = {}
    for name, ratio in given.items():
        if isinstance(ratio, bool) or not isinstance(ratio, int | float) or not 0 <= ratio <= 1:
            raise InputError(f"the ratio of {name} links is {ratio!r}; expected a number from 0 to 1")
        mix[capacity.kind(_text(name), options.period, options.budget, options.window)] = ratio
    if abs(sum(mix.values()) - 1) > 1e-6:
        raise InputError(f"the ratios of links sum up to {sum(mix.values()):g}; expected 1")
    return {kind: ratio for kind, ratio in mix.items() if ratio}
