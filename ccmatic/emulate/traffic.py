"""A flow over TCP that always has more to send, run in a namespace as a script of its own.

usage: traffic.py receive ADDRESS PORT
       traffic.py send ADDRESS PORT CONGESTION-CONTROL
"""

import socket
import sys

CHUNK = 2**18


def receive(address, port):
    """Take in all that one sender sends. A line says that it may connect."""
    with socket.create_server((address, port)) as server:
        print("ready", flush=True)
        connection, _ = server.accept()
        chunk = bytearray(CHUNK)
        while connection.recv_into(chunk):
            pass


def send(address, port, congestion_control):
    """Send for ever."""
    with socket.socket() as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, congestion_control.encode())
        connection.connect((address, port))
        chunk = bytes(CHUNK)
        while True:
            connection.sendall(chunk)


if __name__ == "__main__":
    role, address, port, *rest = sys.argv[1:]
    try:
        {"receive": receive, "send": send}[role](address, int(port), *rest)
    except OSError as error:
        sys.exit(f"cannot {role}: {error.strerror or error}")
