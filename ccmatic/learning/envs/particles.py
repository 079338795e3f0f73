"""The particle filter of Learn-to-Probe for all flows of many links at once, for use in training.

The steps of this filter are those of `ParticleFilter`, with two differences. If too many particles remain, this filter
keeps particles at evenly spaced indices instead of random indices. Its percentiles are the values at indices, without
interpolation.
"""

from typing import TYPE_CHECKING, NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.answers.estimation import particle_filter as one

if TYPE_CHECKING:
    from ccmatic.learning.envs.signals import Knowledge

#: The default number of particles. With the paper's 1000 particles, the filter takes longer than the rest of a
#: training.
COUNT = 100

#: The lowest rate, in C, that the filter distinguishes from 0. The filter raises lower rates to this rate before it
#: takes logarithms.
LEAST = 0.01


class Measurement(NamedTuple):
    """The measurements of the bytes acknowledged in an interval, as arrays (f, n, 1).

    Attributes:
        rtt: The RTT of the last byte in seconds.
        throughput: The throughput in bytes per second.
        loss: The lost bytes as a share of the bytes that were acknowledged or lost.
        sent: The sending rate of the previous interval, in which these bytes were sent.
    """

    rtt: Array
    throughput: Array
    loss: Array
    sent: Array


class Particles(NamedTuple):
    """The particles of all flows.

    Attributes:
        state: A FilterState whose arrays have the shape (f, n, particles).
        last: The Measurement of the previous interval.
        most_rtt: The largest RTT so far, in seconds.
        key: The key of jax.random for all random choices.
    """

    state: one.FilterState[Array]
    last: Measurement
    most_rtt: Array
    key: Array

    def learned(self, knowledge: "Knowledge") -> "Particles":
        """Return the Particles after the latest interval of a signals.Knowledge."""
        now = knowledge.now
        measures = (knowledge.measure(name) for name in ("throughput", "loss_rate", "sending_rate_before"))
        measurement = Measurement(*(column[..., None] for column in (now.rtt_end, *measures)))
        most_rtt = jnp.maximum(self.most_rtt, measurement.rtt)
        key, drawn = jax.random.split(self.key)
        heard = (now.acked > 0)[..., None] & (self.last.throughput > 0) & (self.last.sent > 0)
        after = self._filter(drawn, knowledge, measurement, most_rtt)
        state = jax.tree.map(lambda new, old: jnp.where(heard, new, old), after, self.state)
        return Particles(state, measurement, most_rtt, key)

    def _filter(
        self, key: Array, knowledge: "Knowledge", measurement: Measurement, most_rtt: Array
    ) -> one.FilterState[Array]:
        count = self.state.own.shape[-1]
        luck = jax.random.uniform(key, (10, *self.state.own.shape))
        factor = measurement.sent / jnp.maximum(self.last.sent, 1)
        gradient, seconds = one.GRADIENT * (2 * luck[0] - 1), knowledge.now.seconds[..., None]
        now = one.moved(self.state, factor, gradient, seconds)
        least_rtt = knowledge.measure("least_rtt")[..., None]
        longest = now.delay >= most_rtt - least_rtt
        before = _twice(self.state, self.state.full, self.state.full)
        now = _twice(now, longest, jnp.zeros_like(longest))
        last = self.last._replace(throughput=jnp.maximum(self.last.throughput, 1))
        jitter = [one.LOSS_JITTER * jnp.concatenate([luck[i], luck[i + 1]], axis=-1) for i in (1, 3)]
        extremes = least_rtt, jnp.maximum(knowledge.measure("highest_throughput")[..., None], 1)
        discarded = one.gap_of_all(one.gaps(before, now, last, measurement, extremes, jitter))
        stays = jnp.concatenate([luck[5], luck[6]], axis=-1) >= discarded
        stays &= jnp.concatenate([jnp.ones_like(longest), longest], axis=-1)
        left = stays.sum(-1, keepdims=True)
        kept = _resample(now, stays, left, luck[7:], count)
        fresh = first(luck[:4])
        after: one.FilterState[Array] = jax.tree.map(lambda some, none: jnp.where(left > 0, some, none), kept, fresh)
        return after

    def widths(self) -> tuple[Array, ...]:
        """Return the widths of the ranges from the 10th to the 90th percentile (Eqs. 9 and 10), each an array (f, n).

        They are those of the queueing delay in seconds, and of the logarithms of the flow's own and the others' rate.
        """
        own, others = (jnp.log(jnp.maximum(rate, LEAST)) for rate in (self.state.own, self.state.others))
        return tuple(_width(values) for values in (self.state.delay, own, others))


def first(luck: Array) -> one.FilterState[Array]:
    """Return the first FilterState for uniform random numbers from 0 to 1, an array (4, …)."""
    own, others, delay = luck[0] * one.FIRST_RATE, luck[1] * one.FIRST_RATE, luck[2] * one.FIRST_DELAY
    return one.FilterState(own, jnp.where(luck[3] < 0.5, 0, others), delay, jnp.zeros(own.shape, bool))


def begin(key: Array, rtt: Array, count: int = COUNT) -> Particles:
    """Return the Particles of flows that know nothing but their R_m in seconds, an array (f, n)."""
    drawn, key = jax.random.split(key)
    state, none = first(jax.random.uniform(drawn, (4, *rtt.shape, count))), jnp.zeros((*rtt.shape, 1))
    return Particles(state, Measurement(none, none, none, none), rtt[..., None], key)


def _twice(state: one.FilterState[Array], full: Array, again: Array) -> one.FilterState[Array]:
    """Return two copies of all particles, the first with the mask `full`, the second with `again`."""
    own, others, delay = (jnp.concatenate([column, column], axis=-1) for column in state[:3])
    return one.FilterState(own, others, delay, jnp.concatenate([full, again], axis=-1))


def _resample(
    now: one.FilterState[Array], stays: Array, left: Array, luck: Array, count: int
) -> one.FilterState[Array]:
    """Return `count` particles: the remaining ones, or a selection of them, and then mutations of some."""
    place = jnp.arange(count)
    drawn = jnp.floor(luck[0] * left)
    wanted = jnp.where(left > count, jnp.floor((place + luck[0]) * left / count), jnp.where(place < left, place, drawn))
    chosen = jax.vmap(jax.vmap(jnp.searchsorted))(jnp.cumsum(stays, axis=-1), wanted.astype(jnp.int32) + 1)
    own, others, delay, full = (jnp.take_along_axis(column, chosen, axis=-1) for column in now)
    new = place >= left
    return one.FilterState(
        jnp.where(new, own * (1 + one.RATE_JITTER * (2 * luck[0] - 1)), own),
        jnp.where(new, others * (1 + one.RATE_JITTER * (2 * luck[1] - 1)), others),
        jnp.where(new, jnp.maximum(0, delay + one.DELAY_JITTER * (2 * luck[2] - 1)), delay),
        full,
    )


def _width(values: Array) -> Array:
    tail = values.shape[-1] // 10
    return jax.lax.top_k(values, tail + 1)[0][..., -1] + jax.lax.top_k(-values, tail + 1)[0][..., -1]
