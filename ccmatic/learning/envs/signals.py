"""What a learner is told, what it is rewarded for, and what its actions mean, each by a name; the same on all back
ends.

All arrays are (f, n): of each flow of each link.
"""

from typing import NamedTuple

import jax.numpy as jnp
from jax import Array

from ccmatic.learning.envs.capacity import MBIT
from ccmatic.learning.envs.cubic import Cubic
from ccmatic.learning.estimation.beliefs import Bounds
from ccmatic.learning.estimation.particles import Particles

#: The weight of the latest interval in the smoothed RTT (RFC 6298).
SMOOTHING = 1 / 8


class Interval(NamedTuple):
    """What a sender measured in a monitor interval.

    seconds: how long it was. sent, acked, lost: bytes sent, acknowledged, and known to be lost in it. rtt: the mean
    over what was acknowledged, seconds; rtt_end: that of the last byte. Where nothing was acknowledged both are as
    before; at first they are R_m, which a handshake measured. out: bytes sent that are neither acknowledged nor known
    to be lost.
    """

    seconds: Array
    sent: Array
    acked: Array
    lost: Array
    rtt: Array
    rtt_end: Array
    out: Array

    @property
    def rate(self):
        """At which it sent, bytes per second."""
        return self.sent / self.seconds

    @property
    def throughput(self):
        """Bytes acknowledged per second."""
        return self.acked / self.seconds

    @property
    def loss(self):
        """The share that is lost of what is heard of."""
        return self.lost / jnp.maximum(self.acked + self.lost, 1)


class Known(NamedTuple):
    """What a sender has measured so far: the latest Interval and the one before it, the least RTT, the highest
    throughput in an interval, the smoothed RTT; what is believed, as beliefs.Bounds, Particles, and the Cubic whose
    window is acted on, or None where nobody asks. capacity: the mean rate of the link in bytes per second, which no
    sender knows: rewards do."""

    now: Interval
    before: Interval
    least_rtt: Array
    most: Array
    smoothed: Array
    bounds: Bounds | None
    particles: Particles | None
    capacity: Array | None
    cubic: Cubic | None = None

    def after(self, now):
        """What it knows after another interval."""
        known = self._replace(
            now=now,
            before=self.now,
            least_rtt=jnp.minimum(self.least_rtt, jnp.minimum(now.rtt, now.rtt_end)),
            most=jnp.maximum(self.most, now.throughput),
            smoothed=self.smoothed + SMOOTHING * (now.rtt - self.smoothed),
        )
        learners = {"bounds": self.bounds, "particles": self.particles, "cubic": self.cubic}
        learned = {name: each.learned(known) for name, each in learners.items() if each is not None}
        return known._replace(**learned)


def first(seconds, rtt, bounds=None, particles=None, capacity=None, cubic=None):
    """What is Known before the first interval: R_m. seconds, rtt: (f, n); the others as in Known."""
    none = jnp.zeros_like(rtt)
    nothing = Interval(seconds, none, none, none, rtt, rtt, none)
    return Known(nothing, nothing, rtt, none, rtt, bounds, particles, capacity, cubic)


# Observations: of a Known and the reward of its interval, a list of (f, n) arrays.


def custard_signals(known, reward):
    """Statistics (i) to (vi) of Custard (Jay et al., 2018, section 2.2): sending rate, received rate (100 Mbit/s), loss
    rate, mean latency (100 ms), latency gradient (s/s), reward (100). The units are ours; the paper names none."""
    now = known.now
    rates = [now.rate / MBIT / 100, now.throughput / MBIT / 100]
    return [*rates, now.loss, now.rtt * 10, _gradient(known), reward / 100]


def aurora_signals(known, reward):
    """Latency gradient, latency ratio and sending ratio of Aurora (Jay et al., ICML 2019, section 4.1): d(RTT)/dt, mean
    RTT over the least, bytes sent over bytes acknowledged. The ratios are less 1, and at most 10, by us."""
    now = known.now
    ratio = now.sent / jnp.maximum(now.acked, 1)
    return [_gradient(known), jnp.minimum(now.rtt / known.least_rtt - 1, 10), jnp.minimum(ratio - 1, 10)]


def orca_signals(known, reward):
    """Orca's as Learn-to-Probe has them (its Table 1): throughput, sending rate and loss over the highest throughput so
    far, inflight over that times the least RTT, least RTT over the smoothed."""
    now, most = known.now, jnp.maximum(known.most, 1)
    rates = [now.throughput / most, now.rate / most, now.lost / now.seconds / most]
    clipped = [jnp.minimum(rate, 10) for rate in rates]
    return [*clipped, jnp.minimum(now.out / (most * known.least_rtt), 10), known.least_rtt / known.smoothed]


def ltp_signals(known, reward):
    """Learn-to-Probe's five (its section 4, observation step): change of the RTT (100 ms), of throughput and of the
    share that is acknowledged, as ratios, at most 10; throughput over the highest so far; RTT less the least (100
    ms)."""
    now, before = known.now, known.before
    return [
        (now.rtt - before.rtt) * 10,
        jnp.minimum(now.throughput / jnp.maximum(before.throughput, 1), 10),
        jnp.minimum((1 - now.loss) / jnp.maximum(1 - before.loss, 0.1), 10),
        now.throughput / jnp.maximum(known.most, 1),
        (now.rtt - known.least_rtt) * 10,
    ]


def belief_signals(known, reward):
    """The beliefs of ccmatic's models (docs/encoding.md, section 6), without a scale: the sending rate and C_U over
    C_L, as logarithms, at most 10; qdel_L in intervals; q_U in intervals at C_L, at most 10."""
    now, bounds = known.now, known.bounds
    rate = jnp.log(jnp.maximum(now.sent, 1) / bounds.C_L)
    return [
        jnp.clip(rate, -10, 10),
        jnp.clip(jnp.log(bounds.C_U / bounds.C_L), -10, 10),
        bounds.qdel_L,
        jnp.minimum(bounds.q_U / bounds.C_L, 10),
    ]


def _gradient(known):
    return jnp.clip((known.now.rtt_end - known.before.rtt_end) / known.now.seconds, -10, 10)


# Rewards: of a Known, (f, n).


def custard_linear(known):
    """Custard's linear reward (section 3.3): throughput (Mbit/s) - RTT (ms) - 100 · loss rate, where, as the paper
    says, a Mbit/s is worth a millisecond or a 1 % loss. (Its formula is printed with 10^8.)"""
    now = known.now
    return now.throughput / MBIT - now.rtt * 1000 - 100 * now.loss


def power(known):
    """Custard's R_power (section 4.2): throughput over latency, here Mbit/s per ms."""
    return known.now.throughput / MBIT / (known.now.rtt * 1000)


def vivace_loss(known):
    """Custard's R_V-loss (section 4.2), PCC-Vivace's: throughput^0.9 - 11.35 · throughput · loss rate, in Mbit/s."""
    throughput = known.now.throughput / MBIT
    return throughput**0.9 - 11.35 * throughput * known.now.loss


def aurora_linear(known):
    """Aurora's (ICML 2019, section 4.2): 10 · throughput (packets/s) - 1000 · latency (s) - 2000 · loss rate, in
    thousands as in its simulator, with packets of 1500 bytes."""
    now = known.now
    return (10 * now.throughput / 1500 - 1000 * now.rtt - 2000 * now.loss) / 1000


def relative_linear(known):
    """Custard's linear reward without a scale, as Ghermezian et al. normalise theirs (Eq. 2, section 2.5): throughput
    over that of the interval before, at most 10, less RTT over the least RTT, less 3 · loss rate: about what Custard's
    weighs them by on its links of 32 Mbit/s and 32 ms."""
    now, before = known.now, known.before
    growth = jnp.minimum(now.throughput / jnp.maximum(before.throughput, 1), 10)
    return growth - now.rtt / known.least_rtt - 3 * now.loss


#: Orca's loss penalty ζ and delay margin: CCLab states no numbers, so these are ours.
LOSS_PENALTY, MARGIN = 5, 1.25


def orca_reward(known):
    """Orca's as CCLab has it (its Eqs. 1 and 2): (throughput - ζ · loss) over the highest throughput, times 1 while the
    smoothed RTT is within a margin of the least, else margin · least RTT / smoothed RTT. Loss is in bytes per
    second."""
    now = known.now
    share = (now.throughput - LOSS_PENALTY * now.lost / now.seconds) / jnp.maximum(known.most, 1)
    return share * jnp.minimum(1, MARGIN * known.least_rtt / known.smoothed)


#: Learn-to-Probe's Table 4: latency tolerance; weight of the probe reward, and in it, of the width of the queueing
#: delay (1/s), of the own rate and of that of others.
TOLERANCE, PROBE, DELAY_WIDTH, OWN_WIDTH, OTHERS_WIDTH = 1.15, 0.2, 10, 0.2, 0.2


def ltp_performance(known):
    """Learn-to-Probe's R_perf (its Eqs. 12 and 13) of one flow, so without its fairness term: power over that of a full
    link without a queue, with an RTT within a tolerance of the least taken for the least. Its thr_max is here what the
    link serves: over the most that a sender has seen, one that never sends more would gain as much."""
    now, least = known.now, known.least_rtt
    rtt = jnp.where(now.rtt <= TOLERANCE * least, least, now.rtt)
    return (now.throughput - LOSS_PENALTY * now.lost / now.seconds) / known.capacity * least / rtt


def ltp_fair(known):
    """R_perf with its fairness term (Eqs. 12 and 14, of weight 1): less the deviation of what the flows of the link got
    in the interval, over what they got together. (The paper adds it, which would reward unequal shares; its throughput
    is an average, of how long it does not say. A flow that is not there counts as one that got nothing.)"""
    got = known.now.throughput
    return ltp_performance(known) - jnp.std(got, axis=0) / jnp.maximum(jnp.sum(got, axis=0), 1)


def ltp_particles(known):
    """Learn-to-Probe's whole reward of one flow (its Eqs. 9 to 11 and 15): R_perf, and less, the wider its particles
    are. β_r is 0 here: no advantage changes with a constant."""
    delay, own, others = known.particles.widths()
    return ltp_performance(known) - PROBE * (DELAY_WIDTH * delay + OWN_WIDTH * own + OTHERS_WIDTH * others)


def ltp_beliefs(known):
    """The same with the width of beliefs in place of that of particles: of the queueing delay, and of C, which is that
    of the own share, as the own rate is known; of others they say nothing."""
    bounds = known.bounds
    delay = (bounds.qdel_U - bounds.qdel_L) * known.now.seconds
    own = jnp.clip(jnp.log(bounds.C_U / bounds.C_L), 0, 10)
    return ltp_performance(known) - PROBE * (DELAY_WIDTH * delay + OWN_WIDTH * own)


# Actions: of an action and the Known, the rate of the next interval in bytes per second, given the last one.


def custard_change(action, rate, known):
    """Custard's (section 3.1): the rate times 1 + α·a, α = 0.01. (Printed, the sign for a < 0 would raise the rate.)"""
    return rate * (1 + 0.01 * action)


def aurora_change(action, rate, known):
    """Aurora's (ICML 2019, section 4.1): the rate times 1 + α·a, or divided by 1 - α·a where a < 0; α = 0.025."""
    return _scaled(rate, 0.025 * action)


def orca_change(action, rate, known):
    """Orca's (Abbasloo et al., SIGCOMM 2020): times 2^a. Orca scales CUBIC's window; here the last rate is scaled."""
    return rate * 2.0**action


def cubic_change(action, rate, known):
    """Orca's as it is: CUBIC's window, which Environment.acted has multiplied by 2^a, and from which CUBIC goes on."""
    return known.cubic.rate(known.now)


def ltp_change(action, rate, known):
    """Learn-to-Probe's (its Eq. 8): the window rate·RTT changes as Aurora's rate does, by α = 0.25 here; it is sent
    over the RTT of the last interval."""
    return _scaled(rate * known.before.rtt, 0.25 * action) / known.now.rtt


def _scaled(value, change):
    return jnp.where(change >= 0, value * (1 + change), value / (1 - jnp.minimum(change, 0)))


def per_rtt_change(action, rate, known):
    """Ghermezian et al.'s (Eq. 1): times e^(α·a), here with Custard's α = 0.01 in an RTT as it was measured last: the
    longer news takes, the less an interval changes. (Their α and their intervals, 100 to 200 ms, do not depend on the
    RTT.)"""
    return rate * jnp.exp(0.01 * action * known.now.seconds / known.now.rtt)


def rate_itself(action, rate, known):
    """The action is the rate, in bytes per second: what senders that are not learned say."""
    return action


OBSERVATIONS = {
    "custard": custard_signals,
    "aurora": aurora_signals,
    "orca": orca_signals,
    "ltp": ltp_signals,
    "beliefs": belief_signals,
}
REWARDS = {
    "custard": custard_linear,
    "power": power,
    "vivace_loss": vivace_loss,
    "aurora": aurora_linear,
    "relative": relative_linear,
    "orca": orca_reward,
    "ltp": ltp_performance,
    "ltp_fair": ltp_fair,
    "ltp_particles": ltp_particles,
    "ltp_beliefs": ltp_beliefs,
}

#: Each with the largest action that it takes; the smallest is less that, or 0 for rates.
ACTIONS = {
    "custard": (custard_change, 10.0),
    "aurora": (aurora_change, 10.0),
    "orca": (orca_change, 2.0),
    "cubic": (cubic_change, 2.0),
    "ltp": (ltp_change, 1.0),
    "per_rtt": (per_rtt_change, 10.0),
    "rate": (rate_itself, 1e10),
}
