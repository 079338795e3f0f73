"""CUBIC, RFC 9438's, alone or with a window that a policy multiplies."""

from functools import partial
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

from ccmatic.learning.envs import fluid

#: CUBIC's C in packets/s³ and β_cubic (RFC 9438, section 4.6), and the increase in an RTT that has Reno's share by this
#: β (4.3). Packets that are sent at first (RFC 6928), and the least window.
C, BETA = 0.4, 0.7
ALPHA = 3 * (1 - BETA) / (1 + BETA)
FIRST_PACKETS, LEAST_PACKETS = 10, 2


class Cubic(NamedTuple):
    """What CUBIC remembers, (f, n).

    packet: its size in bytes. window, before, highest, reno: cwnd, cwnd_prior, W_max and W_est, in packets. since, K:
    seconds from the beginning of its curve. slow: whether it is in slow start. recover: bytes out at the last decrease,
    of which nothing is heard.
    """

    packet: Array
    window: Array
    before: Array
    highest: Array
    reno: Array
    since: Array
    K: Array
    slow: Array
    recover: Array

    def rate(self, now):
        """At which it sends its window in the RTT that an Interval measured last, bytes per second."""
        return self.window * self.packet / now.rtt_end

    def times(self, factor):
        """With a window as many times as large, from which it goes on: at least two packets, at most as much as is
        counted."""
        return self._replace(window=jnp.clip(factor * self.window, LEAST_PACKETS, fluid.MANY / self.packet))

    def learned(self, known):
        """After the latest interval of a signals.Known: RFC 9438, sections 4.2 to 4.7 and 4.10, without timeouts, at
        most one decrease for what was out. Slow start ends by a loss, or as the kernel's does by the delay, HyStart's
        (Ha and Rhee, 2011)."""
        now = known.now
        acked = now.acked / self.packet
        full = jnp.minimum(now.rtt, now.rtt_end) > known.least_rtt + jnp.clip(known.least_rtt / 8, 0.004, 0.016)
        lost = (now.lost > 0) & (self.recover <= now.acked)

        reno = self.reno + jnp.where(self.reno < self.before, ALPHA, 1) * acked / self.window
        target = jnp.clip(self._curve(self.since + now.rtt), self.window, 1.5 * self.window)
        since = self.since + now.seconds
        window = self.window + jnp.where(self.slow, acked, (target - self.window) * acked / self.window)
        window = jnp.where(~self.slow & (self._curve(since) < reno), reno, window)
        recover = jnp.maximum(0, self.recover - now.acked - now.lost)
        grown = self._replace(window=window, reno=reno, since=since, recover=recover)

        highest = self.window * jnp.where(self.window < self.highest, (1 + BETA) / 2, 1)
        less = self._avoids(jnp.maximum(LEAST_PACKETS, BETA * self.window), highest)._replace(recover=now.out)
        flat = self._avoids(self.window, self.window)
        after = jax.tree.map(partial(jnp.where, self.slow & full), flat, grown)
        return jax.tree.map(partial(jnp.where, lost), less, after)

    def _curve(self, since):
        """W_cubic."""
        return C * (since - self.K) ** 3 + self.highest

    def _avoids(self, window, highest):
        """As congestion avoidance begins with such a window and W_max."""
        none = jnp.zeros_like(window)
        K = jnp.cbrt(jnp.maximum(0, highest - window) / C)
        return self._replace(
            window=window, before=self.window, highest=highest, reno=window, since=none, K=K, slow=none > 0
        )


def begin(links):
    """CUBIC of each flow on Links, which has sent nothing."""
    none = jnp.zeros(links.rtt.shape, jnp.float32)
    return Cubic(none + links.packet, none + FIRST_PACKETS, none, none, none, none, none, none == 0, none)
