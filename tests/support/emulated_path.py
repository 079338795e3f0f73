"""Paths on which the emulator's program decides about packets, in place of the simulator's.

The program decides about each packet when it arrives, in ns and bytes, and each decision is a line of its log. Here a
packet is admitted when its service begins: at its arrival, or once the service of the packet before it ends. So a path
whose buffer holds n packets is an emulated link with a buffer of n + 1 packets, and the box of the link holds packets
for at most D without the service of a packet. If the path changes, packets arrive at whole multiples of a service. So
no service is under way at the change, and a packet is admitted 1 ns after its service begins.
"""

import subprocess
import tempfile
import weakref
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

from ccmatic.contracts import PACKETS, world
from ccmatic.deployment.emulation import replay
from ccmatic.deployment.emulation.link import ENDLESS, PATTERNS, SECOND, Link, LinkChange
from ccmatic.networks.simulation import Path as SimulatedPath
from ccmatic.networks.simulation.packets import NEVER
from ccmatic.worlds.runtime import compile_c
from support import ROOT

SOURCE = Path(__file__).with_suffix(".c")

#: The folders of decisions.h and of the models. Tests plant faults in copies.
DECISIONS, MODELS = Path(replay.__file__).parent, ROOT / "models"

#: The bytes of a packet on the emulated link, and the ns of its service at the first rate.
PACKET, SERVICE = 1500, 10**6


def carried(rates, now):
    """The bytes that a link with (instant in ns, bits per second) has served by an instant if bytes always wait."""
    ends = [time for time, _ in rates[1:]] + [10**18]
    pieces = zip(rates, ends, strict=True)
    return sum((min(now, end) - begin) * Fraction(bits, 8 * 10**9) for (begin, bits), end in pieces if now > begin)


@cache
def _program(decisions, models, name):
    """Return the program, and the folder that has it until the tests end."""
    folder = tempfile.TemporaryDirectory(prefix="ccmatic-")
    built = Path(folder.name) / "emulated_path"
    options = replay.link_options(models / name / PACKETS)
    compile_c(["-O2", f"-I{decisions}", *options, "-o", str(built), str(SOURCE)])
    return built, folder


@dataclass(frozen=True)
class EmulatedPath(SimulatedPath):
    """A Path with an emulated link."""

    ticks: int = SERVICE
    emulated: "EmulatedLink" = field(default=None, compare=False)

    @property
    def bound(self):
        """No bound: the box of the emulated link has its own."""
        return NEVER // 2

    def bottleneck(self, rng, hiding, change=None):
        """Return the EmulatedLink. Its seed and the pattern of its box are random."""
        later = change.segments(self) if change else ()
        rates = [(0, self._bits(self.packet)), *((each.time, self._bits(each.bytes)) for each in later)]
        slowest = min(bits for _, bits in rates if bits)
        link = Link(
            rates=tuple(rates),
            rtt=self.step,
            buffer=self._size(self.room, change),
            jitter=max(0, self.jitter * self.step - (PACKET * 8 * SECOND // slowest)),
            pattern=rng.choice(PATTERNS),
            seed=rng.randrange(2**32),
            model=self._with_larger_bucket(),
            change=change and self._changed(change, later[-1]),
            threshold=None if self.threshold is None else self._size(self.threshold // self.packet),
        )
        object.__setattr__(self, "emulated", EmulatedLink(link, self))
        return self.emulated

    def delays(self, rng, jitter):
        """Return the function that gives the releases of packets in order."""
        releases = self.emulated.releases
        return lambda now: releases.pop(0)

    def _changed(self, change, last):
        return LinkChange(
            last.time, change.delay(self), self._size(last.buffer // self.packet, change), bool(last.flush)
        )

    def _with_larger_bucket(self):
        """Return the model; if a policer is in front of its bottleneck, its bucket holds a packet more."""
        return (
            replace(self.model, bucket=self.model.bucket + Fraction(1, self.bdp)) if self.model.policer else self.model
        )

    def _bits(self, size):
        return size * PACKET * 8 * SECOND // (self.packet * SERVICE)

    def _size(self, packets, change=None):
        """Return the bytes of an emulated buffer or threshold, with a packet in service if there may be one."""
        return ENDLESS if packets is None else (packets + (not change)) * PACKET


class EmulatedLink:
    """An emulated link with the interface of `simulation.packets.Bottleneck`.

    Attributes:
        link: The Link.
        releases: When the box releases packets, less R_m.
    """

    def __init__(self, link, path):
        self.link, self.releases, self._path = link, [], path
        self._planned = self._served = 0
        # The bytes that the link has served, as `carried` counts, once it has served all packets; and without those
        # that the change drops.
        self._work = self._kept = Fraction(0)
        self._bucket = Bucket(path) if "bucket" in self._names() else None
        self._own = 0
        program, _ = _program(DECISIONS, MODELS, world(link.model, PACKETS).parent.name)
        self._program = subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        weakref.finalize(self, _end, self._program)
        self._program.stdin.write(link.configuration(0, 0))

    def offer(self, arrivals, end, flows=None):
        """Return whether the link accepts each packet, and the outcomes of accepted packets."""
        if self.link.change:
            arrivals = [max(0, now - 1) // SERVICE * SERVICE for now in arrivals]
        outcomes = [
            self._outcome(now, *decided) for now, decided in zip(arrivals, self._decided(arrivals), strict=True)
        ]
        return [outcome is not None for outcome in outcomes], [outcome for outcome in outcomes if outcome]

    def _decided(self, arrivals):
        """Yield the numbers that the program prints for each packet. A pipe has room for a few hundred packets."""
        for start in range(0, len(arrivals), 500):
            some = arrivals[start : start + 500]
            self._program.stdin.write("".join(f"{now} {PACKET}\n" for now in some))
            self._program.stdin.flush()
            yield from (map(int, self._program.stdout.readline().split()) for _ in some)

    def _outcome(self, now, lost, admitted, planned, marked, own):
        """Return the outcome of a packet, by the line of the log; None if it is lost at its arrival."""
        if self._bucket:
            self._bucket.take(now, lost)
        self._own, change = own // PACKET, self.link.change
        if change and change.loses and self._waits(now, lost, change):
            return change.at + 1, 0, 0, marked
        if lost:
            return None
        began = now if self._path.model.store == "bucket" else max(now, self._served)
        self._served = admitted
        assert planned >= self._planned
        self._planned = planned
        if change:
            began = max(began, self._end_of_outage(began)) + 1
            planned -= change.extra * (admitted > change.at)
        self.releases.append(planned - self.link.rtt)
        return NEVER, began, began, marked

    def _waits(self, now, lost, change):
        """Return whether a lost packet was accepted and then waited until the change, by exact arithmetic."""
        after, offered = now > change.at, carried(self.link.rates, now)
        if after:
            self._work = min(self._work, self._kept)
        begin = max(self._work, offered)
        if lost and (after or begin + PACKET - offered > self.link.buffer):
            return False
        self._work = begin + PACKET
        if not lost:
            self._kept = self._work
        return lost

    def _end_of_outage(self, began):
        """Return the end of the outage if it interrupts a service that begins then; otherwise 0."""
        for (since, bits), (until, _) in zip(self.link.rates, self.link.rates[1:], strict=False):
            if not bits and since <= began <= until:
                return until
        return 0

    def columns(self, now):
        """Return the model's own columns at an instant, by the log alone."""
        tokens, policed = self._bucket.at(now) if self._bucket else (0, 0)
        values = {"bucket": tokens, "Lp": policed, "chance": self._own}
        return {name: self._path.packet * value for name, value in values.items() if name in self._names()}

    def _names(self):
        return [column.name for column in self._path.model.own_columns]


def _end(program):
    program.kill()
    program.communicate()


class Bucket:
    """The bucket of a policer, by exact arithmetic on the log. It counts whole packets, as a queue of them does."""

    def __init__(self, path):
        size, share = path.model.policer or (Fraction(path.room or 0, path.bdp), Fraction(1))
        self._size, self._rate = size * path.bdp, share / SERVICE
        self._tokens, self._at, self._lost = self._size + 1, 0, 0

    def _refill(self, now):
        self._tokens, self._at = min(self._size + 1, self._tokens + self._rate * (now - self._at)), now

    def take(self, now, lost):
        """Take the tokens of a packet, unless it is lost and there are too few."""
        self._refill(now)
        if lost and self._tokens < 1:
            self._lost += 1
        else:
            self._tokens -= 1

    def at(self, now):
        """Return the packets of tokens, and the packets that the policer has lost."""
        self._refill(now)
        return int(min(self._size, self._tokens // 1)), self._lost
