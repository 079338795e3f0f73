"""Support for Ctrl-C while compiled code runs that ignores interrupts."""

import os
import signal
import socket
from contextlib import contextmanager
from threading import Event, Thread
from time import sleep

from ccmatic.cli import options


@contextmanager
def left_in_time():
    """Make Ctrl-C end the process soon while the context lasts.

    A compiler ignores interrupts, and compiled code may clean up slowly. The process therefore exits without waiting
    for either. This exit is safe, because ccmatic writes each file completely or not at all.
    """
    # Python at once writes the number of each signal to this socket, even while compiled code runs.
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    before, heeded = signal.set_wakeup_fd(theirs.fileno()), Event()
    Thread(target=_watch, args=(ours, heeded, theirs), daemon=True).start()
    try:
        yield
    except KeyboardInterrupt:
        heeded.set()
        raise
    finally:
        signal.set_wakeup_fd(before)
        if not heeded.is_set():
            theirs.close()  # ends the thread, because it then receives no data


def _watch(wakeups, heeded, kept_open):
    """Exit shortly after an interrupt, unless the main thread finishes handling it."""
    while heard := wakeups.recv(1):
        if heard[0] == signal.SIGINT:
            break
    else:
        return
    wakeups.settimeout(0.2)
    try:
        while wakeups.recv(1):
            pass
        return  # the context ended in time
    except TimeoutError:
        pass
    if heeded.is_set():
        sleep(0.2)  # gives the main thread time to print its message
    else:
        os.write(2, b"ccmatic: interrupted\n")
    os._exit(options.INTERRUPTED)
