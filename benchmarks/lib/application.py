"""A TCP flow whose application offers bytes at given rates, for runs of the emulator.

    python benchmarks/lib/application.py receive PORT
    python benchmarks/lib/application.py send ADDRESS PORT CONGESTION_CONTROL [SECONDS=BYTES_PER_SECOND …]

The sender offers bytes without a limit until the first of the given times. From then on, it offers bytes at the rate of
the latest time.
"""

import socket
import sys
import time
from contextlib import contextmanager

#: Four constants: the time in seconds between two offers, the bytes of an offer, the bytes that may wait in the socket,
#: and the real-time priority of these programs in a run. Without this priority, a busy machine would hold up the
#: programs.
TICK, CHUNK, UNSENT, PRIORITY = 0.002, 16384, 16384, 1


@contextmanager
def _accepted(port):
    with socket.create_server(("", port), family=socket.AF_INET) as server:
        print("ready", flush=True)
        with server.accept()[0] as connection:
            yield connection


def receive(port):
    """Accept one connection, and discard its bytes."""
    with _accepted(port) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, CHUNK)
        while connection.recv(1 << 18, socket.MSG_TRUNC):
            pass
    time.sleep(3600)  # A flow ends when the emulator ends its processes.


def send(address, port, congestion_control, offers):
    """Send bytes as the application offers them.

    Args:
        address: The receiver's address.
        port: The receiver's port.
        congestion_control: The name of the kernel's congestion control.
        offers: Pairs of a time in seconds and the rate from then on, in bytes per second; None means unlimited.
    """
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, UNSENT)
        connection.connect((address, port))
        start = last = time.monotonic()
        waiting, bytes_to_send = 0.0, bytes(CHUNK)
        while True:
            now = time.monotonic()
            rate = None
            for begin, offered in offers:
                rate = offered if now - start >= begin else rate
            if rate is None:
                waiting = 0.0
                connection.sendall(bytes_to_send)
            else:
                waiting = min(waiting + rate * (now - last), max(rate, 1))
                whole = int(waiting)
                if whole >= 1448:
                    connection.sendall(bytes(min(whole, CHUNK)))
                    waiting -= min(whole, CHUNK)
                time.sleep(TICK)
            last = now


def _offer(text):
    begin, _, offered = text.partition("=")
    return float(begin), None if offered == "unlimited" else float(offered)


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(int(sys.argv[2]))
    else:
        send(sys.argv[2], int(sys.argv[3]), sys.argv[4], [_offer(text) for text in sys.argv[5:]])
