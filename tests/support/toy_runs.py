"""A sender of AIMD in Python on the path of a scenario, with faults to choose, for tests of the judge."""

from dataclasses import dataclass
from heapq import heappop, heappush
from types import SimpleNamespace

import numpy as np

from ccmatic import records
from ccmatic.judging.recording import PACKET, SAMPLE

SECOND = 10**9


@dataclass(frozen=True)
class Toy:
    """What `opened.Source` is for code, for the toy: `fault` is a word below, or empty."""

    name: str = "toy"
    fault: str = ""

    def open(self):
        return self, "reno", "1"

    def run(self, scenario):
        return Path(scenario, self.fault).run()


class Path:
    """One run of one flow; bursts are not paced, and losses are known at once after a round trip."""

    def __init__(self, scenario, fault):
        self.s, self.fault = scenario, fault
        self.rate, self.free, self.queue = scenario.rate, 0, []
        self.window, self.threshold, self.flight, self.recovery = 15000.0, float("inf"), 0, -1
        self.packets, self.samples, self.lose = [], [], 0
        self.offset = 0
        self.idles, self.holds = (
            [(event.at, event.at + event.length) for event in scenario.events if isinstance(event, kind)]
            for kind in (records.IdleEvent, records.HoldEvent)
        )

    def run(self):
        end = self.s.duration
        self.events = [(0, 0, None)]
        for event in self.s.events:
            heappush(self.events, (event.at, 1, event))
            if isinstance(event, records.IdleEvent):
                heappush(self.events, (event.at + event.length, 2, None))
        while self.events and self.events[0][0] < end:
            now, kind, what = heappop(self.events)
            if kind == 1:
                self.happens(what)
            elif kind == 3:
                self.answered(now, *what)
            self.send(now)
        packets = np.array(self.packets, PACKET) if self.packets else np.zeros(0, PACKET)
        packets["released"][packets["released"] >= end] = -1
        failure = "panicked: made up" if self.fault == "panics" and self.s.events else None
        return SimpleNamespace(scenario=self.s, packets=packets, samples=np.array(self.samples, SAMPLE),
                               failure=failure)  # fmt: skip

    def happens(self, event):
        if isinstance(event, records.RateEvent):
            self.rate = event.bits
        elif isinstance(event, records.LossEvent):
            self.lose += event.packets
        elif isinstance(event, records.RttEvent):
            self.offset = event.rtt - self.s.rtt

    def idle(self, now):
        return any(begin <= now < end for begin, end in self.idles)

    def held(self, instant):
        return max([instant, *(end for begin, end in self.holds if begin <= instant < end)])

    def send(self, now):
        while self.flight + self.s.packet <= max(self.window, self.s.packet) and not (self.idles and self.idle(now)):
            self.flight += self.s.packet
            waiting = max(0, self.free - now) * self.rate // (8 * SECOND)
            lost = 4 if self.lose else int(waiting + self.s.packet > self.s.buffer + self.s.packet)
            self.lose -= lost == 4
            if lost:
                arrived = now + max(0, self.free - now) + self.s.rtt + self.offset
                self.packets.append((now, now, -1, self.s.packet, 0, lost, 0))
            else:
                self.free = max(now, self.free) + self.s.packet * 8 * SECOND // self.rate
                arrived = (self.held(self.free) if self.holds else self.free) + self.s.rtt + self.offset
                self.packets.append((now, self.free, arrived, self.s.packet, 0, 0, 0))
            heappush(self.events, (arrived, 3, (now, lost)))
        if not self.samples or now - self.samples[-1][0] >= 10**6:
            self.samples.append((now, int(self.window), self.flight, -1, -1, 0, 0, 0))

    def answered(self, now, sent, lost):
        self.flight -= self.s.packet
        if lost:
            if sent > self.recovery:
                self.recovery = now
                self.window = max(2 * self.s.packet, self.window * (0.6 if self.fault == "beta" else 0.5))
                if self.fault == "sticks" and lost == 4:
                    self.window = self.s.packet
                self.threshold = self.window
        elif self.fault == "sticks" and self.window <= self.s.packet:
            pass
        elif self.fault == "stops" and now - sent > 4 * self.s.rtt:
            self.window = self.threshold = 2 * self.s.packet
        elif self.window < self.threshold:
            self.window += self.s.packet
        else:
            self.window += self.s.packet**2 / self.window
