"""A sender over UDP in plain Python. One process sends packets, paces them, and runs the policy's network in JAX.

    python -m benchmarks.timings.python_sender POLICY.json ADDRESS PORT [--seconds S] [--interval S]

The policy observes and acts like Aurora's policy. The sender sends packets of 1500 bytes, one at a time, to the
udp_receiver of `ccmatic export --target udp`. The udp_sender of that export works in the same way. But this Python
sender counts no losses, and reads from an acknowledgement only the number of the acknowledged packet. After a delay, it
makes up for late packets at up to twice the rate. The sender prints the numbers of packets sent and acknowledged.
"""

import argparse
import json
import socket
import struct
from time import perf_counter

import jax
import jax.numpy as jnp
import numpy as np

from ccmatic.deployment import policies
from ccmatic.learning.envs import signals

PACKET, HEADERS, ACK = 1500, 28, 24

#: The number of packets whose sending times are stored, and the number of packets sent in the first interval (RFC
#: 6928).
WINDOW, FIRST = 1 << 17, 10

NUMBER = struct.Struct(">Q")


class Decisions:
    """The rate in bytes per second, decided once per interval. `interval` is the interval's length in seconds.

    The length of the interval serves as R_m until an RTT is measured.

    Attributes:
        history: The observations of the latest intervals, the latest observation last.
    """

    def __init__(self, policy, interval):
        observed, acted = policy.formulas[0], policy.formulas[-1]
        self.interval, self.rate = interval, FIRST * PACKET / interval
        self.history = np.zeros((policy.file.history, observed.size), np.float32)
        seconds = np.float32(interval)
        self._known = signals.first(seconds, seconds, np.float32(PACKET), policy.memory)

        @jax.jit
        def decide(knowledge, history, rate, now):
            knowledge = knowledge.after(now, policy.memory)
            history = jnp.concatenate([history[1:], knowledge.value(observed.term)[None]])
            [action] = policies.outputs(policy.layers, history.ravel())
            knowledge = knowledge._replace(action=jnp.clip(action, *policy.bounds))
            return knowledge, history, knowledge.value(acted.term, rate=rate)

        self._decide = decide

    def over(self, sent, acked, waited, end):
        """End an interval.

        Args:
            sent: The number of packets sent in the interval.
            acked: The number of packets acknowledged in the interval.
            waited: The sum of the RTTs of these packets in seconds.
            end: The last RTT in seconds.
        """
        last = self._known.now
        rtts = (waited / acked, end) if acked else (last.rtt, last.rtt_end)
        now = signals.Interval(self.interval, PACKET * sent, PACKET * acked, 0, *rtts, 0)
        now = signals.Interval(*map(np.float32, now))
        self._known, self.history, rate = self._decide(self._known, self.history, np.float32(self.rate), now)
        self.rate = float(rate)


def send(decisions, link, seconds):
    """Send over a connected socket for this many seconds; return the numbers of packets sent and acknowledged."""
    payload, sent_at = bytearray(PACKET - HEADERS), [0.0] * WINDOW
    sent = acked = sent_before = acked_before = 0
    waited = rtt = 0.0
    now = due = perf_counter()
    end, interval_end = now + seconds, now + decisions.interval
    while now < end:
        try:
            while True:
                [number] = NUMBER.unpack_from(link.recv(ACK))
                rtt = now - sent_at[number % WINDOW]
                waited += rtt
                acked += 1
        except BlockingIOError:
            pass
        if now >= interval_end:
            decisions.over(sent - sent_before, acked - acked_before, waited, rtt)
            sent_before, acked_before, waited = sent, acked, 0.0
            interval_end += decisions.interval
        if now >= due:
            sent += 1
            NUMBER.pack_into(payload, 0, sent)
            sent_at[sent % WINDOW] = now
            link.send(payload)
            gap = PACKET / decisions.rate
            due = max(due + gap, now + gap / 2)
        now = perf_counter()
    return sent, acked


def main():
    """Run the sender, and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("policy")
    parser.add_argument("address")
    parser.add_argument("port", type=int)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--interval", type=float, default=0.02)
    given = parser.parse_args()
    decisions = Decisions(policies.load(given.policy), given.interval)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as link:
        link.connect((given.address, given.port))
        link.setblocking(False)
        sent, acked = send(decisions, link, given.seconds)
    print(json.dumps({"sent": sent, "acked": acked}))


if __name__ == "__main__":
    main()
