"""What senders on many links believe of them: C_L, C_U, C_Llambda, qdel_L, qdel_U and q_U of the shipped models, as a
deployed controller forms them (`ccmatic.simulation.Deployed`), all links at once and in floats."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import Array

#: Steps of a window and the one before it, as exported controllers have by default; an upper bound of nobody.
HORIZON, MOST = 10, 1e12

#: Of a step: by so much floats may be beside a whole number of them.
HAIR = 1e-4


class Bounds(NamedTuple):
    """Beliefs at the end of an interval, which is a step; (f, n), in bytes and steps.

    p: the place of that step in its window, -1 before the first interval. D: in steps, all that acknowledgements may be
    later than service: R_m and jitter. packet: bytes. A, S, L, F, q: (T, f, n) of the window so far: bytes sent,
    acknowledged and known to be lost, delay of the first byte, q_U. Q: delay of the last byte. busy, quiet: for how
    many steps, to this one, the link was seen to be utilised, no congestion was seen. refuted: C_Llambda and q_U are.
    old: (C_L, C_U) at the window's begin.
    """

    p: Array
    D: Array
    packet: Array
    A: Array
    S: Array
    L: Array
    F: Array
    q: Array
    Q: Array
    busy: Array
    quiet: Array
    refuted: Array
    old: tuple
    C_L: Array
    C_U: Array
    C_Llambda: Array
    qdel_L: Array

    @property
    def q_U(self):
        """Bytes that wait, at most."""
        return self.q[jnp.maximum(self.p, 0)]

    @property
    def qdel_U(self):
        """Steps of queueing delay, at most."""
        return self.Q + 1

    @property
    def horizon(self):
        """Steps of a window and the one before it."""
        return len(self.A)

    def named(self):
        """The beliefs by name."""
        return {name: getattr(self, name) for name in ("C_L", "C_U", "C_Llambda", "qdel_L", "qdel_U", "q_U")}

    def learned(self, known):
        """Those after the latest interval of a signals.Known."""
        now, before = known.now, known.before
        last = jnp.floor(now.rtt_end / now.seconds + HAIR)
        first = jnp.ceil(before.rtt_end / now.seconds - HAIR)
        return self.after(now.sent, now.acked, now.lost, last, first)

    def after(self, sent, acked, lost, last, first):
        """Those after an interval in which so many bytes were sent, acknowledged and known to be lost. last, first:
        whole steps of delay of the last and the first byte acknowledged, where any was."""
        served = acked > 0
        Q, F = jnp.where(served, last, self.Q), jnp.where(served, first, self.F[jnp.maximum(self.p, 0)])
        begun = self._begun(sent, acked, lost, Q, F)
        moved, over = self._moved(sent, acked, lost, Q, F)
        p = self.p + 1
        return jax.tree.map(
            lambda first, last, other: jnp.where(p == 0, first, jnp.where(p == self.horizon - 1, last, other)),
            begun,
            over,
            moved,
        )

    def _begun(self, sent, acked, lost, Q, F):
        """The first window begins, with the beliefs that are given."""
        out = self.A[0] + sent - acked - lost
        state = self._replace(A=self.A.at[0].set(out), q=self.q.at[0].set(out), qdel_L=self._least_delay(Q))
        return state._window(Q, F)

    def _window(self, Q, F):
        """A window begins with what is known, counted from here."""
        at = jnp.maximum(self.p, 0)
        out = self.A[at] - self.S[at] - self.L[at]
        none, zero = jnp.zeros_like(self.A), jnp.zeros_like(self.Q)
        return self._replace(
            p=jnp.int32(0),
            A=none.at[0].set(out),
            S=none,
            L=none,
            F=none.at[0].set(F),
            q=none.at[0].set(self.q_U),
            Q=Q,
            busy=zero,
            quiet=zero,
            refuted=jnp.zeros_like(self.refuted),
            old=(self.C_L, self.C_U),
        )

    def _moved(self, sent, acked, lost, Q, F):
        """The beliefs a step later; and the next window's first, if the window ends here."""
        t, D = self.p + 1, self.D
        A, S, L, first = (
            column.at[t].set(value)
            for column, value in (
                (self.A, self.A[self.p] + sent),
                (self.S, self.S[self.p] + acked),
                (self.L, self.L[self.p] + lost),
                (self.F, F),
            )
        )
        busy = jnp.where((Q >= D + 1) | (lost > 0), self.busy + 1, 0)
        quiet = jnp.where(((F >= D + 2) & (acked > 0)) | (lost > 0), 0, self.quiet + 1)
        place = jnp.arange(self.horizon).reshape(-1, 1, 1)
        over = t - place  # steps from each place to now
        gained = S[t] - S
        most = jnp.where(over > 0, gained / jnp.maximum(over + D, 1), 0)
        least = jnp.where((over > D) & (over <= busy), gained / jnp.maximum(over - D, 1), MOST)
        C_L, C_U = jnp.maximum(self.C_L, most.max(0)), jnp.minimum(self.C_U, least.min(0))
        each = jnp.diff(A, axis=0, prepend=A[:1])
        calm = (place >= 1) & (over >= 0) & (over < quiet) & (A - L[t] <= S[t])
        C_Llambda = jnp.maximum(self.C_Llambda, jnp.where(calm, each / (D + 2), 0).max(0))
        unacknowledged = A[t] - L[t] - S[t]
        queued = jnp.minimum(unacknowledged, jnp.maximum(0, self.q[self.p] + sent - C_Llambda))
        long = (acked > 0) & (F >= over) & (over >= D + 2) & (over <= t) & (self.q <= (over - 1 - D) * C_Llambda)
        before = jnp.maximum(t - 2, 0)
        excess = (lost > 0) & (t >= 2) & (lost > self.q[before] + each[self.p] - (D + 2) * C_Llambda)
        moved = self._replace(
            p=t,
            A=A,
            S=S,
            L=L,
            F=first,
            q=self.q.at[t].set(queued),
            Q=Q,
            busy=busy,
            quiet=quiet,
            refuted=self.refuted | long.any(0) | excess,
            C_L=C_L,
            C_U=C_U,
            C_Llambda=C_Llambda,
            qdel_L=self._least_delay(Q),
        )
        return moved, moved._timed_out(most.max(0), self.C_U, unacknowledged)._window(Q, F)

    def _timed_out(self, recent, before, unacknowledged):
        """The beliefs after the timeouts of a window's end (docs/encoding.md, section 6). recent: the most that was
        served, bytes per step. before: C_U a step before."""
        low, high, (low_first, high_first) = self.C_L, self.C_U, self.old
        near, crossed = high <= 2 * low, high < low
        raised, lowered = low > low_first, high < high_first
        much_raised, much_lowered = 10 * low > 11 * low_first, 11 * high < 10 * high_first
        low_is_stale = ~raised & near & ((lowered & crossed) | ~much_lowered)
        high_is_stale = ~lowered & near & ((raised & crossed) | ~much_raised)
        after = jnp.where(low_is_stale, jnp.maximum(self.packet, recent), low)
        halved = jnp.maximum(self.packet, self.C_Llambda / 2)
        queued = self.q[self.p]
        return self._replace(
            C_L=after,
            C_U=jnp.where(high_is_stale, jnp.minimum(MOST, jnp.maximum(after, 1.5 * before)), high),
            C_Llambda=jnp.where(self.refuted, halved, self.C_Llambda),
            q=self.q.at[self.p].set(jnp.where(self.refuted, unacknowledged, queued)),
        )

    def _least_delay(self, Q):
        return jnp.maximum(0, jnp.minimum(Q, self.horizon) - self.D)


def begin(D, packet, horizon=HORIZON):
    """The Bounds of senders that know nothing of their links, but that a packet goes through in a step. D: (f, n)
    steps. packet: bytes. horizon: steps of a window and the one before it."""
    none, column = jnp.zeros(D.shape, jnp.float32), jnp.zeros((horizon, *D.shape), jnp.float32)
    least, most, no = none + packet, none + MOST, jnp.zeros(D.shape, bool)
    return Bounds(
        jnp.int32(-1), D, least, column, column, column, column, column, none, none, none, no, (least, most),
        C_L=least, C_U=most, C_Llambda=least, qdel_L=none,
    )  # fmt: skip


def of_links(links, slots, horizon=HORIZON):
    """The Bounds at first on Links whose intervals have so many slots; horizon: as `begin`."""
    return begin(jnp.ceil((links.rtt + links.jitter) / slots - HAIR), links.packet.astype(jnp.float32), horizon)
