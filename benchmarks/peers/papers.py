"""Senders as papers describe them, and a packet simulation of a link for these senders and exported controllers.

Times are in ns, sizes in bytes, windows in packets. A sender begins with a window of one BDP, because exported
controllers except CUBIC and Reno have no slow start.
"""

from collections import deque

from ccmatic.deployment.exporting import header
from ccmatic.worlds.runtime.library import Library, StatefulSender

SECOND = 10**9
PACKET = 1500

#: A packet counts as lost as soon as this many later packets are acknowledged. The timer is for packets without later
#: packets.
REORDERING, TIMER = 3, SECOND


class Paper:
    """A window sender that learns of each acknowledged or lost packet."""

    def __init__(self, rtt, window):
        self.window, self.base = float(window), rtt
        self.reduced = self.round = -1

    def pace(self, now):
        """Return the rate in packets per second; None if only the window limits the sender."""
        return

    def new_round(self, now, sent):
        """Return whether the acknowledged packet was sent after the last round began; if so, begin a new round."""
        if sent <= self.round:
            return False
        self.round = now
        return True

    def new_loss(self, now, sent):
        """Return whether the lost packet was sent after the last decrease; if so, record a new decrease."""
        if sent <= self.reduced:
            return False
        self.reduced = now
        return True


class Vegas(Paper):
    """TCP Vegas: keep two to four packets waiting, and shrink the window by a quarter after a loss.

    L. Brakmo, L. Peterson, "TCP Vegas", IEEE JSAC 13(8), 1995, section 3.2.
    """

    least = None

    def acked(self, now, sent):
        """Adjust the window once per round by the number of waiting packets."""
        rtt = now - sent
        self.base, self.least = min(self.base, rtt), min(self.least or rtt, rtt)
        if self.new_round(now, sent):
            waiting = self.window * (1 - self.base / self.least)
            self.window += (waiting < 2) - (waiting > 4)
            self.window, self.least = max(2, self.window), None

    def lost(self, now, sent):
        """Shrink the window by a quarter, at most once per round trip."""
        if self.new_loss(now, sent):
            self.window = max(2, self.window * 3 / 4)


class Illinois(Paper):
    """TCP-Illinois: its increase and its decrease depend on the queueing delay.

    The increase is between 10 and 0.3 packets per RTT, and the decrease between 1/8 and 1/2. Both depend on the mean
    queueing delay of an RTT as a share of the longest queueing delay so far. S. Liu, T. Başar, R. Srikant,
    "TCP-Illinois", Performance Evaluation 65, 2008, section 3.
    """

    alpha, beta, most, total, count = 1.0, 0.5, 1, 0, 0

    def acked(self, now, sent):
        """Grow the window, and update the increase and the decrease once per round."""
        rtt = now - sent
        self.base, self.most = min(self.base, rtt), max(self.most, rtt - self.base)
        self.total, self.count = self.total + rtt, self.count + 1
        if self.new_round(now, sent):
            share = (self.total / self.count - self.base) / self.most
            self.total = self.count = 0
            self.alpha = 10 if share <= 0.01 else 10 / (1 + (share - 0.01) / 0.99 * (10 / 0.3 - 1))
            self.beta = min(1 / 2, max(1 / 8, 1 / 8 + 3 / 8 * (share - 0.1) / 0.7))
            if self.window < 10:
                self.alpha, self.beta = 1, 1 / 2
        self.window += self.alpha / self.window

    def lost(self, now, sent):
        """Shrink the window, at most once per round trip."""
        if self.new_loss(now, sent):
            self.window = max(2, self.window * (1 - self.beta))


class Copa(Paper):
    """Copa in its default mode. The rate moves with a velocity towards 1/(delta · queueing delay), where delta is 1/2.

    V. Arun, H. Balakrishnan, "Copa", NSDI 2018, section 2.
    """

    velocity, direction, rounds, before = 1, 0, 0, None
    srtt = None

    def __init__(self, rtt, window):
        super().__init__(rtt, window)
        self.seen, self.before = deque(), self.window

    def acked(self, now, sent):
        """Move the window towards the target rate."""
        rtt = now - sent
        self.base = min(self.base, rtt)
        self.srtt = rtt if self.srtt is None else self.srtt * 7 / 8 + rtt / 8
        while self.seen and (self.seen[-1][1] >= rtt or self.seen[0][0] < now - self.srtt / 2):
            self.seen.pop() if self.seen[-1][1] >= rtt else self.seen.popleft()
        self.seen.append((now, rtt))
        self.standing = self.seen[0][1]
        waits = self.standing - self.base
        up = not waits or self.window / self.standing <= 2 / waits
        if self.new_round(now, sent):
            direction = 1 if self.window > self.before else -1
            self.rounds = self.rounds + 1 if direction == self.direction else 0
            self.velocity = self.velocity * 2 if self.rounds >= 3 else self.velocity if self.rounds else 1
            self.direction, self.before = direction, self.window
        change = self.velocity * 2 / self.window
        self.window = max(2, self.window + (change if up else -change))

    def lost(self, now, sent):
        """Ignore a loss, as Copa's default mode does."""

    def pace(self, now):
        """Return twice the rate of the window."""
        return 2 * self.window * SECOND / (self.standing if self.seen else self.base)


class ExportedSender:
    """An exported controller with state. The argument `built` is its Library."""

    def __init__(self, built, rtt, window):
        self.sender = StatefulSender(built, PACKET, rtt)
        self.sender.start(window=window * PACKET)
        self.paced, self.now = built.export.is_paced, 0

    @property
    def window(self):
        """The window in packets."""
        return self.sender.window(self.now) / PACKET

    def sent(self, now):
        """Report that a packet was sent."""
        self.sender.sent(now, PACKET)

    def acked(self, now, sent):
        """Report that a packet was acknowledged."""
        self.sender.rtt(now - sent)
        self.sender.acked(now, sent, PACKET)

    def lost(self, now, sent):
        """Report that a packet was lost."""
        self.sender.lost(now, sent, PACKET)

    def pace(self, now):
        """Return the rate in packets per second; None if only the window limits the sender."""
        return self.sender.rate(now) / PACKET if self.paced else None


PAPERS = {"copa": Copa, "vegas": Vegas, "illinois": Illinois}


def made(name, rtt, window):
    """Return the sender with a name: the name of a paper's sender, or `exported ` and a controller's name."""
    kind, _, controller = name.rpartition(" ")
    if not kind:
        return PAPERS[name](rtt, window)
    return ExportedSender(Library(header.make(controller)), rtt, window)


def simulated(name, rate, rtt, buffer, seconds, since):
    """Run a sender alone over a drop-tail link.

    Args:
        name: The name of the sender; see `made`.
        rate: The rate of the link in bits per second.
        rtt: The RTT without a queue, in ns.
        buffer: The buffer in bytes.
        seconds: The length of the run in seconds.
        since: The second at which the measurement starts.

    Returns:
        The measures, by the names that against_the_kernel.py uses.
    """
    service, end, begin = PACKET * 8 * SECOND // rate, int(seconds * SECOND), int(since * SECOND)
    sender = made(name, rtt, max(2, rate * rtt // SECOND // 8 // PACKET))
    report = getattr(sender, "sent", lambda now: None)
    flying, missing = deque(), deque()  # (acknowledged at, number, sent at); of dropped packets (number, sent at)
    now = free = due = count = out = served = dropped = waits = arrivals = 0
    heard = 0
    while now < end:
        while out + 1 <= _window(sender, now) and due <= now:
            report(now)
            waiting = max(0, free - now)
            if waiting * PACKET > buffer * service:
                missing.append((count, now))
                dropped += now >= begin
            else:
                free = max(free, now) + service
                flying.append((free + rtt, count, now))
                if now >= begin:
                    waits, arrivals = waits + waiting, arrivals + 1
            count, out = count + 1, out + 1
            pace = sender.pace(now)
            due = now if pace is None else max(due, now - rtt // 8) + int(SECOND / pace)
        times = [flying[0][0]] if flying else [heard + TIMER]
        if out + 1 <= _window(sender, now):
            times.append(due)
        now = max(now, min(times))
        if flying and flying[0][0] <= now:
            heard, number, sent = flying.popleft()
            out -= 1
            served += heard - rtt > begin
            sender.acked(now, sent)
            while missing and missing[0][0] + REORDERING <= number:
                out -= 1
                sender.lost(now, missing.popleft()[1])
        elif not flying and now >= heard + TIMER:
            heard = now
            while missing:
                out -= 1
                sender.lost(now, missing.popleft()[1])
    span = end - begin
    return {
        "utilisation": served * service / span,
        "queue_ms": waits / max(1, arrivals) / 1e6,
        "lost": dropped,
        "packets": arrivals + dropped,
    }


def _window(sender, now):
    sender.now = now
    return sender.window
