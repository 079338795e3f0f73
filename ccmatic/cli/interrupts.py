"""Ctrl-C while a compiler runs that heeds no interrupts."""

import os
import signal
import socket
from contextlib import contextmanager
from threading import Event, Thread
from time import sleep

from ccmatic.cli import options


@contextmanager
def left_in_time():
    """Within it, Ctrl-C ends the process soon though it is in a compiler, which heeds no interrupts, or
    what was compiled takes long to tidy up. All that is written is written whole or not at all."""
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
            theirs.close()


def _watch(wakeups, heeded, kept_open):
    while heard := wakeups.recv(1):
        if heard[0] == signal.SIGINT:
            break
    else:
        return
    wakeups.settimeout(0.2)
    try:
        while wakeups.recv(1):
            pass
        return
    except TimeoutError:
        pass
    if heeded.is_set():
        sleep(0.2)  # for the message of those who heeded it
    else:
        os.write(2, b"ccmatic: interrupted\n")
    os._exit(options.INTERRUPTED)
