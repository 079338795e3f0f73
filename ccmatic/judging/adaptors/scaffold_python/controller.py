"""The controller "toy", for `ccmatic judge`. Times are in ns, sizes in bytes; fill in `Controller`."""

from typing import Any


class Controller:
    """AIMD with slow start. An event has the fields of `struct controller_event` in controller.h."""

    def __init__(self, name: str, seed: int, packet: int) -> None:
        self.packet, self.current = packet, 10 * packet
        self.threshold = 2**62  # slow start ends here
        self.recovery = -1  # losses of packets that left before this instant belong to the same event

    def acked(self, event: Any) -> None:
        """Grow by the acknowledged bytes in slow start, and else by a packet per window."""
        if event.sent <= self.recovery or event.app_limited:
            return
        slow_start = self.current < self.threshold
        self.current += event.bytes if slow_start else self.packet * event.bytes // self.current

    def lost(self, event: Any) -> None:
        """Halve the window once per round trip."""
        if event.sent > self.recovery:
            self.recovery = event.now
            self.current = self.threshold = max(self.current // 2, 2 * self.packet)
        if event.persistent:
            self.current = 2 * self.packet

    def window(self) -> int:
        """Return the window in bytes."""
        return self.current
