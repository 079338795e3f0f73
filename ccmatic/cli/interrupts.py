"""Support for Ctrl-C while compiled code runs that ignores interrupts."""

import os
import signal
import socket
import sys
from contextlib import contextmanager
from threading import Thread

from ccmatic.cli import options


@contextmanager
def left_in_time():
    """Make Ctrl-C end the process soon while the context lasts.

    A compiler ignores interrupts. Compiled code may clean up slowly, and crashes if Python ends while the code runs.
    Therefore the process exits at once and waits for neither. This exit is safe, because ccmatic writes each file
    completely or not at all.
    """
    # Python at once writes the number of each signal to this socket, even while compiled code runs.
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before = signal.set_wakeup_fd(theirs.fileno())
    Thread(target=_watch, args=(ours,), daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        _leave()
    finally:
        signal.set_wakeup_fd(before)
        theirs.close()  # ends the thread, because it then receives no data


def _watch(wakeups):
    """Exit shortly after an interrupt, unless the main thread ends the context first."""
    while heard := wakeups.recv(1):
        if heard[0] == signal.SIGINT:
            break
    else:
        return
    wakeups.settimeout(0.2)
    try:
        while wakeups.recv(1):
            pass
    except TimeoutError:
        _leave()


def _leave():
    sys.stdout.flush()
    os.write(2, b"ccmatic: interrupted\n")
    os._exit(options.INTERRUPTED)
