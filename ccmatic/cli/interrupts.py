"""Ctrl-C while compiled code runs that ignores interrupts."""

import os
import signal
import socket
from contextlib import contextmanager
from threading import Event, Thread
from time import sleep

from ccmatic.cli import options


@contextmanager
def left_in_time():
    """Within this block, Ctrl-C ends the process soon.

    A compiler ignores interrupts, and compiled code may clean up slowly. The process therefore exits without waiting.
    This is safe, because files are written completely or not at all.
    """
    # Python writes each signal's number to this socket at once, also while compiled code runs.
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
            theirs.close()  # ends the thread: it then receives nothing


def _watch(wakeups, heeded, kept_open):
    """Exit shortly after an interrupt that the main thread has not finished handling."""
    while heard := wakeups.recv(1):
        if heard[0] == signal.SIGINT:
            break
    else:
        return
    wakeups.settimeout(0.2)
    try:
        while wakeups.recv(1):
            pass
        return  # the block ended in time
    except TimeoutError:
        pass
    if heeded.is_set():
        sleep(0.2)  # lets the main thread print its message
    else:
        os.write(2, b"ccmatic: interrupted\n")
    os._exit(options.INTERRUPTED)
